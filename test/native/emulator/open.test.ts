import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAddon } from "../../../native/addon.ts";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { openEmulatedDevice } from "../../../native/emulator/open.ts";
import { expectedValues, selfTestProblem } from "../../../native/emulator/self_test.ts";
import { candidates } from "../../../native/msl/compilers.mjs";
import { ADDON_PATH, deviceError, RUNNER_PATH, TEST_CACHE, testDevice, testToolchain } from "../msl/workbench.ts";

const SOURCE = { path: "one.metal", text: "kernel void one(device int* x) { x[0] = 1; }\n" };
let folder: string;
const devices: EmulatedDevice[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lockstep-open-"));
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
  });

  // On a Mac LLVM lies outside of PATH.
  it.runIf(candidates({ PATH: "" }).length === 0)("says how a compiler is installed where there is none", async () => {
    const cacheDir = join(folder, "none");
    const options = { addon: loadAddon(ADDON_PATH), runnerPath: RUNNER_PATH, cacheDir, environment: { PATH: "" } };
    const none = await deviceError(openEmulatedDevice(options));
    expect(none.message).toContain("no clang++ on this machine. Mend: ");
  });
});
