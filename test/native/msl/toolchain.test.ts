import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installLine } from "../../../native/msl/compilers.mjs";
import { findToolchain, type Toolchain } from "../../../native/msl/toolchain.ts";
import { testToolchain } from "./workbench.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lockstep-toolchain-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function program(name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function reasonWith(environment: Record<string, string>): Promise<string> {
  const result = await findToolchain({ environment });
  if (result.found) throw new Error(`it found ${result.found.clang}`);
  expect(result.mend).toContain(installLine());
  return result.reason;
}

describe("findToolchain", () => {
  it("finds a clang++ with its linker and identifies it", async () => {
    const found = await testToolchain();
    expect(found.version).toMatch(/clang version \d+/);
    expect(found.major).toBeGreaterThanOrEqual(17);
    expect(found.features.length).toBeGreaterThan(0);
    expect(found.id).toMatch(/^[0-9a-f]{64}$/);
  });

  it("takes LOCKSTEP_CLANG before anything else, and another path is another identity", async () => {
    const usual = await testToolchain();
    const link = join(folder, "clang++-mine");
    symlinkSync(usual.realPath, link);
    const result = await findToolchain({ environment: { ...process.env, LOCKSTEP_CLANG: link } });
    expect(result.found).toMatchObject({ clang: link, realPath: usual.realPath, major: usual.major });
    expect(result.found?.id).not.toBe(usual.id);
  });

  it("says why a named compiler cannot be used", async () => {
    expect(await reasonWith({ LOCKSTEP_CLANG: join(folder, "gone") })).toContain("there is no such program");
    const gcc = program("g++", 'echo "g++ (GCC) 13.2.0"');
    expect(await reasonWith({ LOCKSTEP_CLANG: gcc })).toContain("it is not clang");
    const old = program("clang++-14", 'echo "clang version 14.0.6"');
    expect(await reasonWith({ LOCKSTEP_CLANG: old })).toContain("it is clang 14; the oldest that works is 17");
  });

  it("goes on to the next one where the first is refused, and reports all reasons where none is left", async () => {
    const usual = await testToolchain();
    const asked: string[] = [];
    const result = await findToolchain({
      refuse: async (toolchain: Toolchain) => {
        asked.push(toolchain.clang);
        return "its sums are wrong";
      },
    });
    expect(asked).toContain(usual.clang);
    expect(result).toMatchObject({
      reason: expect.stringContaining(`${usual.clang}: its sums are wrong`),
      mend: installLine(),
    });
  });
});
