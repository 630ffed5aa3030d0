import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { compileFlags, linkCommand } from "../../../native/emulator/flags.ts";
import { runtimeSources } from "../../../native/emulator/module.ts";
import { TEST_CACHE, testDevice, testToolchain } from "../msl/workbench.ts";

const SOURCE = { path: "one.metal", text: "kernel void one(device int* x) { x[0] = 1; }\n" };
let folder: string;
const devices: EmulatedDevice[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lockstep-module-"));
});

afterAll(async () => {
  for (const device of devices) await device.close();
  rmSync(folder, { recursive: true, force: true });
});

async function deviceIn(cacheDir: string): Promise<EmulatedDevice> {
  const device = await testDevice(cacheDir);
  devices.push(device);
  return device;
}

describe("modules", () => {
  it("are built once, also by two requests at once and across devices", async () => {
    const place = join(folder, "modules");
    const first = await deviceIn(place);
    const library = await first.compile(SOURCE);
    const both = await Promise.all([first.pipeline(library, "one"), first.pipeline(library, "one")]);
    expect(both[0]?.id).toBe(both[1]?.id);
    const second = await deviceIn(place);
    const again = await second.pipeline(await second.compile(SOURCE), "one");
    expect(again.receipt).toMatchObject({ cached: true, digest: both[0]?.receipt.digest });
  });

  it("are built by two processes at once without harm", async () => {
    const script = join(folder, "build.mjs");
    const stdin = `
      import { testDevice } from "./test/native/msl/workbench.ts";
      const device = await testDevice(process.argv[2]);
      const library = await device.compile(${JSON.stringify(SOURCE)});
      process.stdout.write((await device.pipeline(library, "one")).id);
      await device.close();`;
    const root = join(import.meta.dirname, "..", "..", "..");
    await build({
      stdin: { contents: stdin, resolveDir: root, loader: "ts" },
      outfile: script,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      define: { "import.meta.dirname": JSON.stringify(join(root, "test", "native", "msl")) },
      logLevel: "error",
    });
    const environment = { ...process.env, LOCKSTEP_NATIVE: join(root, "native") };
    const start = (): Promise<{ stdout: string }> =>
      promisify(execFile)(process.execPath, [script, join(folder, "processes")], { env: environment });
    const [one, two] = await Promise.all([start(), start()]);
    expect(one.stdout).toMatch(/^[0-9a-f]{64}$/);
    expect(two.stdout).toBe(one.stdout);
    const device = await deviceIn(join(folder, "processes"));
    const found = await device.pipeline(await device.compile(SOURCE), "one");
    expect(found.receipt).toMatchObject({ cached: true, digest: one.stdout });
  });

  it("are made again where a cached one is broken", async () => {
    const place = join(folder, "modules");
    const device = await deviceIn(place);
    const before = await device.pipeline(await device.compile(SOURCE), "one");
    const modules = join(place, "v1", "module");
    writeFileSync(join(modules, before.id, "kernel.module"), "not a module");
    const after = await device.pipeline(await device.compile(SOURCE), "one");
    expect(after.receipt).toMatchObject({ cached: false, digest: before.id });
    expect(readdirSync(join(modules, before.id)).sort()).toEqual(["entry.json", "kernel.module"]);
  });

  it("have digests that tell apart source, macros, constants, flavour and kernel", async () => {
    const device = await deviceIn(TEST_CACHE);
    const text =
      "constant int c [[function_constant(0)]];\nkernel void a(device int* x) { x[0] = c + N; }\nkernel void b(device int* x) { x[0] = c; }\n";
    const id = async (change: {
      text?: string;
      n?: number;
      c?: number;
      name?: string;
      lockstep?: boolean;
    }): Promise<string> => {
      const library = await device.compile(
        { path: "a.metal", text: change.text ?? text },
        { defines: { N: change.n ?? 1 } },
      );
      const flavour = change.lockstep ? "lockstep" : "fast";
      return (await device.pipeline(library, change.name ?? "a", { constants: { c: change.c ?? 1 }, flavour })).id;
    };
    const ids = await Promise.all([
      id({}),
      id({ text: text.replace("c + N", "c - N") }),
      id({ n: 2 }),
      id({ c: 2 }),
      id({ name: "b" }),
      id({ lockstep: true }),
    ]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await id({})).toBe(ids[0]);
  });
});

describe("flags", () => {
  it("differ between flavours only by instrumentation", async () => {
    const toolchain = await testToolchain();
    const paired = (flags: readonly string[]): string[] => flags.join(" ").replaceAll("-mllvm ", "-mllvm:").split(" ");
    const fast = paired(compileFlags(toolchain, "kernel", "fast"));
    const lockstep = paired(compileFlags(toolchain, "kernel", "lockstep"));
    expect(lockstep.filter((flag) => fast.includes(flag))).toEqual(fast);
    expect(lockstep.filter((flag) => !fast.includes(flag))).toEqual([
      "-DLOCKSTEP_FLAVOUR_LOCKSTEP=1",
      "-fsanitize=thread",
      "-mllvm:-tsan-instrument-read-before-write=1",
      "-mllvm:-tsan-instrument-func-entry-exit=0",
      "-fno-vectorize",
      "-fno-slp-vectorize",
      "-fno-optimize-sibling-calls",
      "-gline-tables-only",
    ]);
    expect(compileFlags(toolchain, "runtime", "lockstep")).not.toContain("-fsanitize=thread");
  });

  it("name the host for each platform, and macOS links through clang", async () => {
    const linux = await testToolchain();
    const mac = {
      ...linux,
      platform: "darwin",
      architecture: "aarch64",
      linker: undefined,
      features: ["-mcpu=apple-m1"],
      sdk: "/sdk",
    } as const;
    const flags = compileFlags(mac, "kernel", "fast");
    expect(flags.join(" ")).toContain("-isysroot /sdk");
    expect(compileFlags(mac, "runtime", "fast").join(" ")).toContain("-isysroot /sdk");
    expect(flags).toContain("arm64-apple-macosx");
    expect(flags).not.toContain("-mno-red-zone");
    const { program, args } = linkCommand(mac, ["a.o"], "m");
    expect(program).toBe(mac.clang);
    expect(args.slice(0, 3)).toEqual(["-dynamiclib", "-isysroot", "/sdk"]);
    expect(args.slice(-3)).toEqual(["-o", "m", "a.o"]);
    expect(runtimeSources("lockstep").length).toBeGreaterThan(runtimeSources("fast").length);
  });
});
