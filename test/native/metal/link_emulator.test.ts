/**
 * The emulator for macOS links, on Linux: the runner to an arm64 program, a kernel module of each flavour to a library, with the
 * product's own flags, LLVM's linker and library stubs written by hand (`tbd_emulator/`). What this shows: every name that they
 * ask for was looked up and listed; modules offer what the runner looks up; the layout that reports rest on. What it does not
 * show: that macOS has the names, that Apple's linker does the same, or that anything starts. Nothing here has run on a Mac.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEPLOYMENT_TARGET, targets } from "../../../build/native.mjs";
import type { Flavour } from "../../../native/device.ts";
import { compileFlags, linkCommand } from "../../../native/emulator/flags.ts";
import { runtimeSources } from "../../../native/emulator/module.ts";
import { includeFolders, nativeFolder } from "../../../native/msl/paths.ts";
import { runProcess } from "../../../native/msl/process.ts";
import type { Toolchain } from "../../../native/msl/toolchain.ts";
import { testToolchain } from "../msl/workbench.ts";
import { linkFlags } from "./apple_link.ts";
import { AppleTarget, eachOf, PATIENCE, ROOT, SOURCES } from "./apple_target.ts";
import { CPU_TYPE_ARM64, type MachO, PLATFORM_MACOS, readMachO } from "./mach_o.ts";
import { type Layout, MH_DYLIB, MH_EXECUTE, readLayout } from "./mach_o_layout.ts";
import { EMULATOR_STUBS, STUBS, textStubs } from "./text_stub.ts";

const RUNNER = "lockstep-runner";
const FLAVOURS: readonly Flavour[] = ["fast", "lockstep", "check", "check+lockstep"];
const GUARD_BYTES = 65536;

/** Asks for whatever a kernel may ask the C library for: memory, and the functions that the project does not compute itself. */
const KERNEL = `
using namespace metal;
kernel void every_part(device float* out, device const half* a, threadgroup float* t, uint i) {
  static LS_STATIC_THREADGROUP threadgroup atomic_uint n;
  static LS_STATIC_THREADGROUP threadgroup float scratch[64];
  if (i == 0) atomic_store_explicit(&n, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed);
  simdgroup_half8x8 A; simdgroup_float8x8 S(1.0f); simdgroup_bfloat8x8 B(bfloat(2.0f));
  simdgroup_load(A, a); simdgroup_multiply_accumulate(S, A, B, S); simdgroup_store(S, t);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  const float x = S.thread_elements()[0] + t[i % 64], y = out[i + 1];
  scratch[i % 64] = x;
  int e;
  out[i] = simd_sum(x) + scratch[63 - i % 64] + float(atomic_load_explicit(&n, memory_order_relaxed))
    + exp(x) + exp10(x) + log(x) + log2(x) + log10(x) + pow(x, y) + fmod(x, y) + sin(x) + cos(y) + tan(x) + asin(x) + acos(x)
    + atan(x) + atan2(x, y) + sinh(x) + cosh(x) + tanh(x) + asinh(x) + acosh(x) + atanh(x) + frexp(x, e) + ldexp(x, e)
    + float(ilogb(y)) + rint(x) + floor(y) + round(x) + fma(x, y, x);
}
extern "C" [[clang::sycl_external]] __attribute__((used, visibility("default"))) void lockstep_entry() {
  ::lockstep::Entry<&every_part, ::lockstep::Buffer<0>, ::lockstep::Buffer<1>, ::lockstep::Threadgroup<0>,
    ::lockstep::Builtin<::lockstep::builtin::thread_index_in_threadgroup>>::run();
}
`;

interface Image extends MachO {
  readonly layout: Layout;
}

function imageAt(path: string): Image {
  const bytes = readFileSync(path);
  return { ...readMachO(bytes), layout: readLayout(bytes) };
}

describe("linked for macOS", () => {
  let folder: string;
  let toolchain: Toolchain;
  let objects: readonly string[];
  let runner: Image;
  const modules = new Map<Flavour, Image>();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "lockstep-link-"));
    const host = await testToolchain();
    toolchain = {
      ...host,
      ...({ platform: "darwin", architecture: "aarch64", linker: undefined, features: ["-mcpu=apple-m1"] } as const),
      ...{ target: `arm64-apple-macos${DEPLOYMENT_TARGET}`, libraries: [], sdk: EMULATOR_STUBS },
    };
    await eachOf(FLAVOURS, async (flavour) => {
      const { said, path } = await linkModule(flavour);
      expect(said).toBe("");
      modules.set(flavour, imageAt(path));
    });
    objects = await compileRunner();
    expect(await linkRunner(join(folder, RUNNER))).toBe("");
    runner = imageAt(join(folder, RUNNER));
  }, PATIENCE);

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** A module with the flags of the product; no header of the C library is needed, and none is there. */
  async function linkModule(
    flavour: Flavour,
    change: (args: readonly string[]) => readonly string[] = (args) => args,
  ): Promise<{ readonly said: string; readonly path: string }> {
    const prelude = join(nativeFolder(), "msl", "include", "metal", "prelude.h");
    const includes = includeFolders().flatMap((path) => ["-I", path]);
    const sources = [
      { step: "kernel", name: "kernel", args: ["-include", prelude, "-x", "c++", "-"] },
      ...runtimeSources(flavour).map((path, k) => ({ step: "runtime", name: `runtime${k}`, args: [path] }) as const),
    ] as const;
    const objects: string[] = [];
    for (const { step, name, args } of sources) {
      const object = join(folder, `${flavour}.${name}.o`);
      const flags = [...compileFlags(toolchain, step, flavour), ...includes, "-ffreestanding", ...args];
      const built = await runProcess(toolchain.clang, [...flags, "-c", "-o", object], { input: KERNEL });
      if (built.status !== 0 || built.stderr !== "") return { said: built.stderr, path: "" };
      objects.push(object);
    }
    const path = join(folder, `${flavour}.dylib`);
    const { program, args } = linkCommand(toolchain, objects, path);
    const flags = [...(await linkFlags(toolchain.clang, EMULATOR_STUBS)), `-mmacosx-version-min=${DEPLOYMENT_TARGET}`];
    const linked = await runProcess(program, [...flags, ...change(args)]);
    return { said: linked.stderr, path };
  }

  /** The runner's objects. */
  async function compileRunner(): Promise<readonly string[]> {
    const target = await AppleTarget.open();
    try {
      const jobs = SOURCES.filter(({ output }) => output === RUNNER).map((source) => ({
        source,
        object: join(folder, `${source.path.replaceAll("/", "__")}.o`),
      }));
      await eachOf(jobs, ({ source, object }) => target.compile(source, object));
      return jobs.map(({ object }) => object);
    } finally {
      target.close();
    }
  }

  async function linkRunner(path: string, stubs = EMULATOR_STUBS): Promise<string> {
    const product = targets("darwin").find(({ output }) => output === RUNNER);
    const flags = [...(await linkFlags(toolchain.clang, stubs)), ...(product?.link ?? [])];
    return (await runProcess(toolchain.clang, [...flags, ...objects, "-o", path], { cwd: ROOT })).stderr;
  }

  it("the runner is a signed program for arm64 macOS that loads two libraries and exports nothing to modules", () => {
    const { cpuType, fileType, platform, oldestMacos, layout, exports } = runner;
    expect({ cpuType, fileType, platform, oldestMacos }).toEqual({
      cpuType: CPU_TYPE_ARM64,
      fileType: MH_EXECUTE,
      platform: PLATFORM_MACOS,
      oldestMacos: DEPLOYMENT_TARGET,
    });
    expect([...runner.libraries].sort()).toEqual(["/usr/lib/libSystem.B.dylib", "/usr/lib/libc++.1.dylib"]);
    expect(layout.signatureBytes).toBeGreaterThan(0);
    expect(exports).toContain("_main");
  });

  it.each(FLAVOURS)("a module of flavour %s is signed, and has the same name wherever it was built", (flavour) => {
    const image = modules.get(flavour)!;
    expect(image).toMatchObject({ cpuType: CPU_TYPE_ARM64, fileType: MH_DYLIB, platform: PLATFORM_MACOS });
    expect(image.layout.installName).toBe("lockstep-module");
    expect(image.layout.signatureBytes).toBeGreaterThan(0);
    expect(image.layout.stabs).toBe(0);
    expect(readFileSync(join(folder, `${flavour}.dylib`)).includes(folder)).toBe(false);
  });

  it.each(FLAVOURS)("a module of flavour %s offers what the runner looks up and nothing else", (flavour) => {
    const copy = readFileSync(join(nativeFolder(), "emulator", "runtime", "module_copy.cpp"), "utf8");
    const lookedUp = [...copy.matchAll(/"(lockstep_module_\w+)"/g)].map(([, name]) => `_${name}`);
    expect(lookedUp).toHaveLength(5);
    // The trap is for flavours that check.
    const wanted = lookedUp.filter((name) => flavour.startsWith("check") || !name.endsWith("_trap"));
    expect(modules.get(flavour)?.exports).toEqual([...wanted, "_lockstep_entry"].sort());
  });

  it.each(FLAVOURS)("static threadgroup memory of flavour %s is one section, its guard last", (flavour) => {
    const { sections, symbols } = modules.get(flavour)!.layout;
    const section = sections.find(({ name }) => name === "__DATA,ls_tgmem")!;
    const guard = symbols.get("_lockstep_static_guard");
    const arrays = [...symbols].filter(([name]) => /every_part.*(scratch|n)$/.test(name));
    expect(arrays).toHaveLength(2);
    for (const [name, address] of arrays) {
      expect(address, name).toBeGreaterThanOrEqual(section.address);
      expect(address, name).toBeLessThan(guard ?? section.address + section.bytes);
    }
    if (!flavour.startsWith("check")) expect(guard).toBeUndefined();
    else expect(guard! + GUARD_BYTES).toBe(section.address + section.bytes);
  });

  it("together they ask for what the stubs list, so that nothing listed is unused", () => {
    const images = [runner, ...modules.values()];
    const asked = new Set(
      images.flatMap(({ imports }) => imports.map(({ library, name }) => `${library ?? "looked up"}: ${name}`)),
    );
    const listed = textStubs(EMULATOR_STUBS).flatMap(({ library, symbols }) =>
      symbols.map((name) => `${library}: ${name}`),
    );
    expect([...asked].sort()).toEqual(listed.sort());
    for (const [flavour, { libraries }] of modules) {
      expect(libraries, flavour).toEqual(["/usr/lib/libSystem.B.dylib"]);
    }
  });

  it("the links bite: a module without its scheduler is refused, and a runner that asks for what is not listed", async () => {
    const { said } = await linkModule("fast", (args) => args.filter((word) => !word.includes("runtime")));
    expect(said).toContain("undefined symbol: lockstep_current");
    expect(await linkRunner(join(folder, "refused"), STUBS)).toContain("undefined symbol: sigaction");
  });
});
