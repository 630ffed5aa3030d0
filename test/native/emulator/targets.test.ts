/** Modules compile for every target, with the flags of the table: arm64 Linux down to a library, macOS down to objects. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Flavour } from "../../../native/device.ts";
import { compileFlags } from "../../../native/emulator/flags.ts";
import { runtimeSources } from "../../../native/emulator/module.ts";
import { includeFolders, nativeFolder } from "../../../native/msl/paths.ts";
import { runProcess } from "../../../native/msl/process.ts";
import type { Toolchain } from "../../../native/msl/toolchain.ts";
import { testToolchain } from "../msl/workbench.ts";

let folder: string;
let host: Toolchain;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lockstep-targets-"));
  host = await testToolchain();
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A kernel that uses each part of the execution library once. */
const KERNEL = `
using namespace metal;
static_assert(alignof(long3) == 32 && alignof(ulong4) == 32 && alignof(float4) == 16 && alignof(half3) == 8);
kernel void every_part(device float* out, device const half* a, threadgroup float* t, uint i) {
  static LS_STATIC_THREADGROUP threadgroup atomic_uint n;
  if (i == 0) atomic_store_explicit(&n, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed);
  simdgroup_half8x8 A; simdgroup_float8x8 S(1.0f); simdgroup_bfloat8x8 B(bfloat(2.0f));
  simdgroup_load(A, a); simdgroup_multiply_accumulate(S, A, B, S); simdgroup_store(S, t);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  const float x = S.thread_elements()[0] + t[i % 64];
  out[i] = simd_sum(float4(x)).x + simd_max(half(x)) + simd_shuffle_xor(x, 1) + quad_sum(x) + float(simd_sum(bfloat(x)))
    + float(simd_any(x > 0)) + simd_prefix_inclusive_sum(x) + float(atomic_load_explicit(&n, memory_order_relaxed));
}
extern "C" [[clang::sycl_external]] __attribute__((used, visibility("default"))) void lockstep_entry() {
  ::lockstep::Entry<&every_part, ::lockstep::Buffer<0>, ::lockstep::Buffer<1>, ::lockstep::Threadgroup<0>,
    ::lockstep::Builtin<::lockstep::builtin::thread_index_in_threadgroup>>::run();
}
`;

type Target = Pick<Toolchain, "platform" | "architecture" | "features"> & { readonly target: string };

const TARGETS: readonly Target[] = [
  { target: "aarch64-linux-gnu", platform: "linux", architecture: "aarch64", features: ["-march=armv8.2-a+fp16"] },
  { target: "aarch64-linux-gnu", platform: "linux", architecture: "aarch64", features: ["-march=armv8-a"] },
  {
    target: "x86_64-linux-gnu",
    platform: "linux",
    architecture: "x86_64",
    features: ["-march=x86-64-v2", "-mf16c", "-mfma"],
  },
  { target: "x86_64-linux-gnu", platform: "linux", architecture: "x86_64", features: ["-march=x86-64-v4"] },
  { target: "arm64-apple-macos13", platform: "darwin", architecture: "aarch64", features: ["-mcpu=apple-m1"] },
  { target: "x86_64-apple-macos13", platform: "darwin", architecture: "x86_64", features: ["-mf16c", "-mfma"] },
];

/** ELF machine numbers. */
const MACHINE: Readonly<Record<Target["architecture"], number>> = { x86_64: 62, aarch64: 183 };

describe.each(TARGETS)("$target $features", (target) => {
  it.each<Flavour>(["fast", "lockstep", "check", "check+lockstep"])("flavour %s", async (flavour) => {
    const toolchain: Toolchain = { ...host, ...target };
    const objects: string[] = [];
    const compile = async (step: "kernel" | "runtime", name: string, args: readonly string[], input: string) => {
      const object = join(folder, `${target.target}.${flavour}.${name}.o`);
      // Freestanding: the compiler's own headers are enough, no system of the target is needed.
      const fixed = ["-ffreestanding", ...(step === "runtime" ? ["-Wall", "-Wextra", "-Werror"] : [])];
      const includes = includeFolders().flatMap((path) => ["-I", path]);
      const flags = [...compileFlags(toolchain, step, flavour), ...fixed, ...includes];
      const result = await runProcess(host.clang, [...flags, ...args, "-c", "-o", object], { input });
      expect(result.stderr).toBe("");
      expect(result.status).toBe(0);
      objects.push(object);
    };
    const prelude = join(nativeFolder(), "msl", "include", "metal", "prelude.h");
    await compile("kernel", "kernel", ["-include", prelude, "-x", "c++", "-"], KERNEL);
    for (const [k, source] of runtimeSources(flavour).entries()) await compile("runtime", `runtime${k}`, [source], "");
    if (target.platform !== "linux" || host.linker === undefined) return;
    const library = join(folder, `${target.target}.${flavour}.so`);
    const linked = await runProcess(host.linker, ["-shared", "-o", library, ...objects]);
    expect(linked.stderr).toBe("");
    const image = readFileSync(library);
    expect(image.readUInt16LE(18)).toBe(MACHINE[target.architecture]);
    // Atomics are instructions: modules are not linked with the compiler's runtime library.
    expect(image.includes("__aarch64_")).toBe(false);
  });
});
