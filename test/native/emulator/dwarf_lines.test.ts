import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLineTable } from "../../../native/emulator/dwarf_lines.ts";
import { readElf } from "../../../native/emulator/elf.ts";
import { runProcess } from "../../../native/msl/process.ts";
import { testToolchain } from "../msl/workbench.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lockstep-lines-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const SOURCE = `# 40 "author.metal"
extern "C" int here(int);
# 7 "dir/other.h"
static inline __attribute__((always_inline)) int twice(int x) {
  return here(x) + here(x);
}
# 90 "author.metal"
extern "C" int start(int x) {
  if (x > 3) return here(x + 1);
  return   twice(x);
}
`;

describe.each([4, 5])("DWARF %i", (version) => {
  it("names file, line and column of calls, inlined ones too", async () => {
    const toolchain = await testToolchain();
    const object = join(folder, `v${version}.so`);
    const args = ["-x", "c++", "-O1", "-fPIC", "-gline-tables-only", `-gdwarf-${version}`, "-fuse-ld=lld", "-shared"];
    const result = await runProcess(toolchain.clang, [...args, "-nostdlib", "-o", object, "-"], { input: SOURCE });
    expect(result.stderr).toBe("");
    const elf = readElf(readFileSync(object));
    const start = elf!.symbols.find((symbol) => symbol.name === "start")!;
    expect(start.bytes).toBeGreaterThan(0);
    const table = readLineTable((name) => elf!.section(name)?.data);
    const found = new Set<string>();
    for (let at = start.address; at < start.address + start.bytes; at += 1) {
      // Some instructions belong to no line.
      const position = table.find(at);
      if (position) found.add(`${position.path}:${position.line}:${position.column}`);
    }
    for (const place of ["author.metal:91:21", "dir/other.h:8:10", "dir/other.h:8:20"]) {
      expect([...found].some((one) => one.endsWith(place))).toBe(true);
    }
    expect(table.find(start.address - 0x100000)).toBeUndefined();
  });
});

it("a file that is no ELF, or is cut short, has no symbols", async () => {
  expect(readElf(new Uint8Array(10))).toBeUndefined();
  expect(readElf(new Uint8Array(200))).toBeUndefined();
  expect(readLineTable(() => undefined).find(0)).toBeUndefined();
});
