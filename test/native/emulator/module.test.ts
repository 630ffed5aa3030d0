import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { loadAddon } from "../../../native/addon.ts";
import { cacheFolder, ModuleCache } from "../../../native/emulator/cache.ts";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { compileFlags, linkCommand } from "../../../native/emulator/flags.ts";
import { runtimeSources } from "../../../native/emulator/module.ts";
import { openEmulatedDevice } from "../../../native/emulator/open.ts";
import { expectedValues, selfTestProblem } from "../../../native/emulator/self_test.ts";
import { ADDON_PATH, deviceError, RUNNER_PATH, TEST_CACHE, testDevice, testToolchain } from "../msl/workbench.ts";

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

/** Writes a shell script that can be started as a program. */
function program(name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

const SOURCE = { path: "one.metal", text: "kernel void one(device int* x) { x[0] = 1; }\n" };
const facts = z.strictObject({ n: z.int() });

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
    const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);
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

  it("explains a folder that cannot be written and a disk that is full", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const refused = await deviceError(new ModuleCache(file).store("module", "a", facts, async () => ({ n: 1 })));
    expect(refused).toMatchObject({ code: "unavailable" });
    expect(refused.message).toContain(`The cache folder ${file} cannot be written`);
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
    const fast = compileFlags(toolchain, "kernel", "fast");
    const lockstep = compileFlags(toolchain, "kernel", "lockstep");
    expect(lockstep.filter((flag) => fast.includes(flag))).toEqual(fast);
    expect(lockstep.filter((flag) => !fast.includes(flag))).toEqual([
      "-DLOCKSTEP_FLAVOUR_LOCKSTEP=1",
      "-fsanitize=thread",
      "-mllvm",
      "-tsan-instrument-read-before-write=1",
      "-mllvm",
      "-tsan-instrument-func-entry-exit=0",
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
    } as const;
    const flags = compileFlags(mac, "kernel", "fast");
    expect(flags).toContain("arm64-apple-macosx");
    expect(flags).not.toContain("-mno-red-zone");
    expect(linkCommand(mac, ["a.o"], "m")).toEqual({ program: mac.clang, args: ["-dynamiclib", "-o", "m", "a.o"] });
    expect(runtimeSources("lockstep").length).toBeGreaterThan(runtimeSources("fast").length);
  });
});

describe("the self-test of a compiler", () => {
  it("passes with this one", async () => {
    expect(await selfTestProblem(await deviceIn(TEST_CACHE))).toBeUndefined();
  });

  it("has the values that the kernel must give, worked out by hand", () => {
    // Thread 0: lanes hold input[63..32]; their sum is 3, their maximum 3, the neighbour input[62] = 62 % 7 - 3 = 3.
    expect(expectedValues(0).slice(0, 3)).toEqual([3 * 0.5, 3 + 300, 30]);
    expect(expectedValues(0).slice(5)).toEqual([4321, 8612, 0]);
    // Lane 2 turns twice: once with the 21 lanes of index % 3 > 0, once with the 10 of index % 3 > 1.
    expect(expectedValues(2)[2]).toBe(30 + 21 + 10);
    // Row 0 times itself: 9 + 4 + 1 + 0 + 1 + 4 + 9 + 9 and the 1 that the accumulator starts with.
    expect(expectedValues(0)[3]).toBe(38);
  });

  it("refuses a compiler that miscompiles, with the value", async () => {
    // It multiplies by 3 where 2 is written.
    const toolchain = await testToolchain();
    const change = `sed 's/v.zw \\*= 2/v.zw *= 3/'`;
    const call = `${toolchain.clang} "$@"`;
    const wrong = program(
      "clang++-wrong",
      `case "$*" in *-include-pch*) ${change} | ${call} ;; *) exec ${call} ;; esac`,
    );
    const open = openEmulatedDevice({
      addon: loadAddon(ADDON_PATH),
      runnerPath: RUNNER_PATH,
      cacheDir: join(folder, "wrong"),
      environment: { ...process.env, LOCKSTEP_CLANG: wrong },
    });
    const error = await deviceError(open);
    expect(error.code).toBe("unavailable");
    expect(error.message).toContain(`LOCKSTEP_CLANG is ${wrong}, which cannot be used`);
    expect(error.message).toContain("self-test value 6 of thread 0 is 12912; it must be 8612 (fast)");
  });
});

describe("openEmulatedDevice", () => {
  it("starts no compiler once it has found one", async () => {
    const { clang } = await testToolchain();
    const log = join(folder, "calls");
    const environment = {
      ...process.env,
      LOCKSTEP_CLANG: program("clang++-logged", `echo call >> ${log}; exec ${clang} "$@"`),
    };
    const options = {
      addon: loadAddon(ADDON_PATH),
      runnerPath: RUNNER_PATH,
      cacheDir: join(folder, "open"),
      environment,
    };
    const first = await openEmulatedDevice({ ...options, chip: "M4 Pro" });
    await first.pipeline(await first.compile(SOURCE), "one");
    await first.close();
    const calls = readFileSync(log, "utf8");
    expect(calls).toContain("call");
    const again = await openEmulatedDevice({ ...options, chip: "apple10" });
    devices.push(again);
    const pipeline = await again.pipeline(await again.compile(SOURCE), "one");
    expect(pipeline.receipt.cached).toBe(true);
    expect(again.profile).toMatchObject({ id: "emulated:apple10", chip: { value: "M5" } });
    expect(readFileSync(log, "utf8")).toBe(calls);
  });

  it("says what is missing", async () => {
    const base = { addon: loadAddon(ADDON_PATH), runnerPath: RUNNER_PATH, cacheDir: join(folder, "missing") };
    const chip = await deviceError(openEmulatedDevice({ ...base, chip: "M99" }));
    expect(chip.message).toContain("There is no chip 'M99' in the chip table; it has M1, M1 Pro");
    const runner = await deviceError(openEmulatedDevice({ ...base, runnerPath: "/nowhere/runner" }));
    expect(runner.message).toContain("There is no kernel runner at /nowhere/runner: run `node build/bootstrap.mjs`");
    const clang = await deviceError(
      openEmulatedDevice({ ...base, environment: { LOCKSTEP_CLANG: "/nowhere/clang++" } }),
    );
    expect(clang.message).toContain(
      "LOCKSTEP_CLANG is /nowhere/clang++, which cannot be used (there is no such program)",
    );
    const none = await deviceError(openEmulatedDevice({ ...base, environment: { PATH: "" } }));
    expect(none.message).toContain("no clang++ on this machine. Mend: ");
  });
});
