import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { cacheFolder, ModuleCache } from "../../../native/emulator/cache.ts";
import { deviceError } from "../msl/workbench.ts";

const facts = z.strictObject({ n: z.int() });
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lockstep-cache-"));
});

const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("the cache", () => {
  it("gives back what was stored, whole", async () => {
    const cache = new ModuleCache(join(folder, "whole"));
    expect(await cache.lookup("module", "a", facts)).toBeUndefined();
    const stored = await cache.store("module", "a", facts, async (place) => {
      writeFileSync(join(place, "data"), "hello");
      return { n: 7 };
    });
    const found = await new ModuleCache(join(folder, "whole")).lookup("module", "a", facts);
    expect(found).toEqual(stored);
    expect(found && readFileSync(join(found.folder, "data"), "utf8")).toBe("hello");
    expect(readdirSync(join(folder, "whole", "v1", "draft"))).toEqual([]);
  });

  it.each([
    ["a changed file", (place: string) => writeFileSync(join(place, "data"), "hellO")],
    ["a missing file", (place: string) => rmSync(join(place, "data"))],
    ["a truncated record", (place: string) => writeFileSync(join(place, "entry.json"), '{"files":')],
    [
      "facts of another shape",
      (place: string) => writeFileSync(join(place, "entry.json"), '{"files":{},"facts":{"m":1}}'),
    ],
  ])("treats %s as if nothing were there", async (name, damage) => {
    const cache = new ModuleCache(join(folder, "damage"));
    const { folder: place } = await cache.store("module", name, facts, async (draft) => {
      writeFileSync(join(draft, "data"), "hello");
      return { n: 7 };
    });
    damage(place);
    expect(await cache.lookup("module", name, facts)).toBeUndefined();
    expect(existsSync(place)).toBe(false);
  });

  it("leaves alone what has no record, and puts an entry in its place", async () => {
    const cache = new ModuleCache(join(folder, "no-record"));
    const fill = async (draft: string): Promise<{ n: number }> => {
      writeFileSync(join(draft, "data"), "hello");
      return { n: 7 };
    };
    const { folder: place } = await cache.store("module", "a", facts, fill);
    rmSync(join(place, "entry.json"));
    expect(await cache.lookup("module", "a", facts)).toBeUndefined();
    expect(existsSync(join(place, "data"))).toBe(true);
    await cache.store("module", "a", facts, fill);
    expect((await cache.lookup("module", "a", facts))?.facts).toEqual({ n: 7 });
  });

  it("keeps the first of two entries made at once, and leaves no draft of a failed one", async () => {
    const cache = new ModuleCache(join(folder, "race"));
    const store = (n: number): Promise<unknown> =>
      new ModuleCache(join(folder, "race")).store("module", "same", facts, async (place) => {
        writeFileSync(join(place, "data"), String(n));
        return { n };
      });
    await Promise.all([store(1), store(2), store(3)]);
    expect(await cache.lookup("module", "same", facts)).toBeDefined();
    const failed = cache.store("module", "failed", facts, async () => {
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    expect(await cache.lookup("module", "failed", facts)).toBeUndefined();
    expect(readdirSync(join(folder, "race", "v1", "draft"))).toEqual([]);
  });

  it("evicts what was used longest ago, but nothing that is in use", async () => {
    const place = join(folder, "evict");
    const store = (cache: ModuleCache, name: string): Promise<unknown> =>
      cache.store("module", name, facts, async (draft) => {
        writeFileSync(join(draft, "data"), "x".repeat(1000));
        return { n: 1 };
      });
    for (const name of ["old", "older", "fresh"]) await store(new ModuleCache(place), name);
    const entry = (name: string): string => join(place, "v1", "module", name);
    utimesSync(entry("old"), hoursAgo(2), hoursAgo(2));
    utimesSync(entry("older"), hoursAgo(5), hoursAgo(5));
    // Three entries of about 1.1 kB: one must go for the first limit, all that are not fresh for the second.
    await new ModuleCache(place, 2_500).sweep();
    expect(readdirSync(join(place, "v1", "module")).sort()).toEqual(["fresh", "old"]);
    const user = new ModuleCache(place, 10);
    await user.lookup("module", "old", facts);
    utimesSync(entry("old"), hoursAgo(2), hoursAgo(2));
    await user.sweep();
    expect(existsSync(entry("old"))).toBe(true);
    await new ModuleCache(place, 10).sweep();
    expect(readdirSync(join(place, "v1", "module"))).toEqual(["fresh"]);
  });

  it("takes away what a process that was killed in mid-compile left", async () => {
    const place = join(folder, "drafts");
    const draft = (name: string) => join(place, "v1", "draft", name);
    for (const name of ["old", "fresh"]) mkdirSync(draft(name), { recursive: true });
    utimesSync(draft("old"), hoursAgo(2), hoursAgo(2));
    await new ModuleCache(place).sweep();
    expect(readdirSync(join(place, "v1", "draft"))).toEqual(["fresh"]);
  });

  it("explains a folder that cannot be written and a disk that is full", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const refused = await deviceError(new ModuleCache(file).store("module", "a", facts, async () => ({ n: 1 })));
    expect(refused).toMatchObject({ code: "unavailable" });
    expect(refused.message).toContain(`The cache folder ${file} cannot be written`);
    // Node's own recursive mkdir never returns there.
    const nowhere = new ModuleCache("/proc/nowhere").store("module", "a", facts, async () => ({ n: 1 }));
    expect((await deviceError(nowhere)).message).toContain("The cache folder /proc/nowhere cannot be written");
    const full = new ModuleCache(join(folder, "full")).store("module", "a", facts, async () => {
      // What a write to a full disk rejects with.
      throw Object.assign(new Error("write"), { code: "ENOSPC" });
    });
    expect((await deviceError(full)).message).toContain("There is no space left for compiled kernels");
  });

  it("lies where the environment says, else in the cache folder of the system", () => {
    expect(cacheFolder({ LOCKSTEP_CACHE: "/a/b" })).toBe("/a/b");
    const given = cacheFolder({ XDG_CACHE_HOME: "/c" });
    expect(given).toBe(process.platform === "darwin" ? cacheFolder({}) : "/c/lockstep");
  });
});
