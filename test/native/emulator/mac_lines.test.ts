/** Lines and static arrays of a module for arm64 macOS, linked here by LLVM's linker and never run. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEPLOYMENT_TARGET } from "../../../build/native.mjs";
import { ModuleCache } from "../../../native/emulator/cache.ts";
import { KERNEL_OBJECT, ModuleLocations } from "../../../native/emulator/locations.ts";
import { type MachFile, readMachFile } from "../../../native/emulator/mach_o.ts";
import { ModuleBuilder } from "../../../native/emulator/module.ts";
import { linkFlags } from "../metal/apple_link.ts";
import { EMULATOR_STUBS } from "../metal/text_stub.ts";
import { testToolchain } from "../msl/workbench.ts";

const TEXT = `# 1 "author.metal"
using namespace metal;
kernel void lines(device float* out, device const float* in, uint i) {
  static LS_STATIC_THREADGROUP threadgroup float tile[33];
  static LS_STATIC_THREADGROUP threadgroup float4 other[8];
  tile[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i > 5) other[i & 7] = float4(1.0f);
  out[i] = tile[i ^ 1];
}
# 1 "entry"
extern "C" [[clang::sycl_external]] __attribute__((used, visibility("default"))) void lockstep_entry() {
  ::lockstep::Entry<&lines, ::lockstep::Buffer<0>, ::lockstep::Buffer<1>,
    ::lockstep::Builtin<::lockstep::builtin::thread_index_in_threadgroup>>::run();
}
`;

let folder: string;
let path: string;
let image: MachFile;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lockstep-mac-"));
  path = join(folder, "module");
  const host = await testToolchain();
  const target = `arm64-apple-macos${DEPLOYMENT_TARGET}`;
  // As clang is on a Mac: it links by itself, for that system.
  const link = (await linkFlags(host.clang, EMULATOR_STUBS)).filter((flag) => !flag.startsWith("--target"));
  const clang = join(folder, "clang++");
  const words = [host.clang, "-ffreestanding", "-Wno-unused-command-line-argument", ...link].map((word) => `'${word}'`);
  writeFileSync(clang, `#!/bin/sh\nexec ${words.join(" ")} --target=${target} "$@"\n`);
  chmodSync(clang, 0o755);
  const { linker: _, ...facts } = host;
  const toolchain = {
    ...facts,
    ...({ clang, platform: "darwin", architecture: "aarch64", linker: undefined, libraries: [] } as const),
    ...{ target, features: ["-mcpu=apple-m1"], sdk: EMULATOR_STUBS },
  };
  const builder = new ModuleBuilder(toolchain, new ModuleCache(join(folder, "cache")));
  expect(await builder.build(TEXT, "check", folder, path)).toEqual({ ok: true });
  const read = readMachFile(readFileSync(path));
  if (read === undefined) throw new Error("the module is no Mach-O file");
  image = read;
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function locations(): Promise<ModuleLocations> {
  const layout = { text: TEXT, column: (_path: string, _line: number, column: number) => column };
  return ModuleLocations.read(path, ["author.metal", "entry"], layout, undefined);
}

/** What calls of a function return to: `bl` has the distance in words in its lower 26 bits. */
function returnsOf(name: string): readonly number[] {
  const callee = image.symbols.find((symbol) => symbol.name === name)?.address;
  const code = image.section("__TEXT,__text");
  if (callee === undefined || code === undefined) throw new Error(`there is no ${name} in the module`);
  const view = new DataView(code.data.buffer, code.data.byteOffset, code.data.byteLength);
  return Array.from({ length: code.data.length >> 2 }, (_, index) => index * 4).flatMap((offset) => {
    const word = view.getUint32(offset, true);
    const calls = word >>> 26 === 0x25 && code.address + offset + ((word << 6) >> 6) * 4 === callee;
    return calls ? [code.address + offset + 4] : [];
  });
}

describe("a module for macOS", () => {
  it.each([
    ["__tsan_read4", ["author.metal:5", "author.metal:8"]],
    ["__tsan_write4", ["author.metal:5", "author.metal:8"]],
    ["__tsan_write16", ["author.metal:7"]],
  ])("has the author's line of every call of %s", async (callee, lines) => {
    const known = await locations();
    const found = returnsOf(callee).map((site) => known.at(site));
    expect(found).not.toContain(null);
    const authors = found.filter((one) => one?.path === "author.metal");
    expect([...new Set(authors.map((one) => `${one?.path}:${one?.line}`))].sort()).toEqual(lines);
    expect(authors.every((one) => (one?.column ?? 0) > 2)).toBe(true);
  });

  it("has no line of code that is not the author's", async () => {
    const known = await locations();
    const own = image.symbols.find(({ name }) => name === "lockstep_module_run")?.address ?? 0;
    expect(own).toBeGreaterThan(0);
    for (const site of [0, own + 8, 1 << 30]) expect(known.at(site)).toBeNull();
  });

  it("names its static arrays", async () => {
    const arrays = [...(await locations()).staticArrays].sort((a, b) => a.name.localeCompare(b.name));
    expect(arrays.map(({ name }) => name)).toEqual(["other", "tile"]);
    expect(arrays[0]?.bytes).toBeGreaterThanOrEqual(128);
    expect(arrays[1]?.bytes).toBeGreaterThanOrEqual(132);
    expect(arrays.map(({ offset }) => offset % 4)).toEqual([0, 0]);
  });

  it("has no lines without the object that they lie in", async () => {
    const [site = 0] = returnsOf("__tsan_write4");
    await rename(join(folder, KERNEL_OBJECT), join(folder, "away.o"));
    expect((await locations()).at(site)).toBeNull();
    await rename(join(folder, "away.o"), join(folder, KERNEL_OBJECT));
    expect((await locations()).at(site)).not.toBeNull();
  });

  it("is refused where it is cut off, and is none where it is another file", () => {
    const whole = readFileSync(path);
    expect(readMachFile(whole.subarray(0, 20))).toBeUndefined();
    expect(readMachFile(Buffer.from("\x7fELF".padEnd(64, "\0")))).toBeUndefined();
    for (const length of [40, 200, 600]) expect(() => readMachFile(whole.subarray(0, length))).toThrow(RangeError);
  });
});
