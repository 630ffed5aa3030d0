import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ModuleCache } from "../../../native/emulator/cache.ts";
import { buildWithArchive, type PipelineKey, pipelineDigest } from "../../../native/metal/archive.ts";
import type { MetalPipelineReply } from "../../../native/metal/binding.ts";

const KEY: PipelineKey = {
  source: "kernel void k() {}",
  macros: [
    ["A", "1"],
    ["B", "2"],
  ],
  language: 0x3_0001,
  mathMode: "safe",
  logging: false,
  function: "k",
  constants: [{ index: 0, type: 29, bytes: Uint8Array.of(1, 0, 0, 0) }],
  maxTotalThreadsPerThreadgroup: null,
  requiredThreadsPerThreadgroup: null,
  osBuild: "25B78",
  osVersion: "26.1.0",
  architecture: "applegpu_g17g",
  deviceName: "Apple M5",
};

describe("pipelineDigest", () => {
  it("is the same for the same, whatever the order of the macros", () => {
    const other: PipelineKey = {
      ...KEY,
      macros: [
        ["B", "2"],
        ["A", "1"],
      ],
      constants: [{ index: 0, type: 29, bytes: Buffer.from([1, 0, 0, 0]) }],
    };
    expect(pipelineDigest(other)).toBe(pipelineDigest(KEY));
  });

  it("differs with everything that decides what Metal makes", () => {
    const changes: readonly Partial<PipelineKey>[] = [
      { source: "kernel void k() { }" },
      { macros: [["A", "1"]] },
      { language: 0x3_0002 },
      { mathMode: "fast" },
      { logging: true },
      { function: "l" },
      { constants: [{ index: 0, type: 33, bytes: Uint8Array.of(1, 0, 0, 0) }] },
      { constants: [{ index: 0, type: 29, bytes: Uint8Array.of(2, 0, 0, 0) }] },
      { constants: [{ index: 1, type: 29, bytes: Uint8Array.of(1, 0, 0, 0) }] },
      { maxTotalThreadsPerThreadgroup: 256 },
      { requiredThreadsPerThreadgroup: [128, 1, 1] },
      { osBuild: "25C56" },
      { osVersion: "26.2.0" },
      { architecture: "applegpu_g17s" },
      { deviceName: "Apple M5 Pro" },
    ];
    const digests = changes.map((change) => pipelineDigest({ ...KEY, ...change }));
    expect(new Set([pipelineDigest(KEY), ...digests]).size).toBe(changes.length + 1);
  });
});

describe("buildWithArchive", () => {
  let folder: string;
  let cache: ModuleCache;
  const digest = pipelineDigest(KEY);
  const entry = (): string => join(folder, "v1", "archive", digest);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "lockstep-archive-"));
    cache = new ModuleCache(folder);
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  type Made = Extract<MetalPipelineReply, { ok: true }>;

  function reply(archive: Made["archive"]): Made {
    return {
      ok: true,
      pipeline: { kind: "pipeline" },
      simdWidth: 32,
      maxTotalThreadsPerThreadgroup: 1024,
      staticThreadgroupMemoryBytes: 0,
      arguments: [],
      archive,
      ms: 1,
    };
  }

  const refused: MetalPipelineReply = { ok: false, error: { words: "no", domain: "AGXMetalG15X", code: 3 } };

  /** What a compiler would do with the file: take it where it is, else write it. */
  async function compile(archive: string | null): Promise<MetalPipelineReply> {
    if (archive === null) return reply("none");
    if (existsSync(archive)) return reply("hit");
    writeFileSync(archive, "binary");
    return reply("added");
  }

  it("keeps what was added and finds it again", async () => {
    expect(await buildWithArchive(cache, digest, compile)).toMatchObject({ archive: "added" });
    expect(readFileSync(join(entry(), "pipeline.archive"), "utf8")).toBe("binary");
    expect(await buildWithArchive(new ModuleCache(folder), digest, compile)).toMatchObject({ archive: "hit" });
  });

  it("does not take a file that is not what was kept", async () => {
    await buildWithArchive(cache, digest, compile);
    writeFileSync(join(entry(), "pipeline.archive"), "broken");
    expect(await buildWithArchive(cache, digest, compile)).toMatchObject({ archive: "added" });
  });

  it("keeps nothing of a pipeline that is refused, nor of an archive with a problem", async () => {
    expect(await buildWithArchive(cache, digest, async () => refused)).toBe(refused);
    const problem = reply({ problem: "could not be written" });
    expect(await buildWithArchive(cache, digest, async () => problem)).toBe(problem);
    expect(existsSync(entry())).toBe(false);
    expect(readdirSync(join(folder, "v1", "draft"))).toEqual([]);
  });

  it("drops an archive that Metal does not take", async () => {
    await buildWithArchive(cache, digest, compile);
    const problem = reply({ problem: "could not be read" });
    expect(await buildWithArchive(cache, digest, async () => problem)).toBe(problem);
    expect(existsSync(entry())).toBe(false);
  });

  it("builds without an archive where the folder cannot be written", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(dirname(file)).toBe(folder);
    const built = await buildWithArchive(new ModuleCache(join(file, "below")), digest, compile);
    expect(built).toMatchObject({ ok: true, archive: "none" });
  });

  it("passes a defect of the caller on", async () => {
    const defect = async (): Promise<MetalPipelineReply> => {
      throw new TypeError("wrong argument");
    };
    await expect(buildWithArchive(cache, digest, defect)).rejects.toThrow("wrong argument");
  });
});
