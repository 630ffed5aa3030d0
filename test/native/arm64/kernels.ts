/**
 * The project's kernels, built for arm64 and run by the arm64 runner under qemu-user: compared with the oracle, and bit
 * for bit with the same kernels on this machine. Bundled and started by `build/arm64.mjs` with the runner as argument.
 * Prints a line for each run and exits 1 if one is wrong, or if a deliberately wrong kernel goes unnoticed.
 */
import { resolve } from "node:path";
import { loadAddon } from "../../../native/addon.ts";
import type { Device } from "../../../native/device.ts";
import { ModuleCache } from "../../../native/emulator/cache.ts";
import { EmulatedDevice } from "../../../native/emulator/device.ts";
import { ModuleBuilder } from "../../../native/emulator/module.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";
import { findToolchain, type Toolchain } from "../../../native/msl/toolchain.ts";
import type { AttentionResult } from "../../../oracle/attention.ts";
import { FAULTS } from "../../kernels/faults.ts";
import {
  decodeCase,
  decodeReference,
  difference,
  type Outputs,
  prefillCase,
  prefillReference,
  type RunOptions,
  runDecode,
  runPrefill,
} from "../../kernels/run.ts";
import { type Arm64Level, arm64Toolchain } from "./target.ts";

interface Case {
  readonly name: string;
  readonly routes: readonly string[];
  /** Largest error of `out`: rounding to its dtype, for values up to 1. */
  readonly tolerance: number;
  readonly level: Arm64Level;
  readonly reference: AttentionResult;
  run(device: Device, route: string, options: RunOptions): Promise<Outputs>;
}

/** Largest error of `lse`, which is always f32. */
const LSE_TOLERANCE = 1e-5;
/** An error that no rounding makes. */
const WRONG = 1e-3;

function decode(): Case {
  const test = decodeCase(16, 2, 512, 300);
  return {
    name: "decode 16/2 heads of 512, 300 tokens, f32",
    routes: ["fused_split_kv_p32", "three_stage", "three_stage_staged", "naive"],
    tolerance: 2e-6,
    level: "half in hardware",
    reference: decodeReference(test),
    run: (device, route, options) => runDecode(device, route, test, options),
  };
}

function prefill(dtype: "f32" | "f16" | "bf16", tolerance: number, level: Arm64Level = "half in hardware"): Case {
  const test = prefillCase({ queries: [5, 33, 0, 20], keys: [12, 33, 4, 41] }, 2, [32, 16, 48], dtype);
  return {
    name: `prefill 2 heads of 32+16, 48, ragged, ${dtype}`,
    routes: ["simdgroup_8x8", "naive"],
    tolerance,
    level,
    reference: prefillReference(test),
    run: (device, route, options) => runPrefill(device, route, test, options),
  };
}

const CASES: readonly Case[] = [
  decode(),
  prefill("f32", 4e-6),
  prefill("f16", 5e-4),
  prefill("bf16", 4e-3),
  prefill("f16", 5e-4, "half by conversion"),
];

/** A wrong kernel for each operator; its error must be seen. */
const CONTROLS: readonly (readonly [test: Case, fault: string])[] = [
  [CASES[0]!, "fused_wrong_head_mapping"],
  [CASES[1]!, "prefill_wrong_rope_row"],
];

function open(toolchain: Toolchain, runnerPath: string): Device {
  const cache = new ModuleCache(resolve("out/test-cache"));
  return new EmulatedDevice({
    profile: emulatedProfile("apple9", toolchain.version),
    addon: loadAddon(resolve("out/lockstep.node")),
    runnerPath,
    cache,
    builder: new ModuleBuilder(toolchain, cache),
  });
}

async function hostDevice(): Promise<Device> {
  const result = await findToolchain();
  if (result.found === undefined) throw new Error(`${result.reason}: ${result.mend}`);
  return open(result.found, resolve("out/lockstep-runner"));
}

/** How many elements of `out` and `lse` have other bits. */
function differing(a: Outputs, b: Outputs): number {
  const count = (left: Float64Array, right: Float64Array): number =>
    left.reduce((sum, value, index) => sum + (Object.is(value, right[index]) ? 0 : 1), 0);
  return count(a.out, b.out) + count(a.lse, b.lse);
}

function inWords(count: number, where: string): string {
  return count === 0 ? `same bits as ${where}` : `${count} elements have other bits than ${where}`;
}

let failures = 0;

function line(good: boolean, text: string): void {
  if (!good) failures++;
  process.stdout.write(`${good ? "ok    " : "FAILED"} ${text}\n`);
}

/** Both flavours on arm64: each near the oracle, lockstep with the bits of fast. Bits of this machine are told. */
async function compare(test: Case, route: string, arm64: Device, host: Device): Promise<void> {
  const title = `${test.name}, ${route}, ${test.level}`;
  const here = await test.run(host, route, {});
  let fast: Outputs | undefined;
  for (const flavour of ["fast", "lockstep"] as const) {
    try {
      const outputs = await test.run(arm64, route, { flavour });
      const error = difference(outputs, test.reference);
      fast ??= outputs;
      const apart = differing(outputs, fast);
      const good = error.out <= test.tolerance && error.lse <= LSE_TOLERANCE && apart === 0;
      const parts = [
        `out ${error.out.toExponential(1)} of ${test.tolerance.toExponential(0)}`,
        `lse ${error.lse.toExponential(1)} of ${LSE_TOLERANCE.toExponential(0)}`,
        inWords(differing(outputs, here), "on this machine"),
        ...(flavour === "lockstep" ? [inWords(apart, "in fast")] : []),
      ];
      line(good, `${title}, ${flavour}: ${parts.join(", ")}`);
    } catch (error) {
      line(false, `${title}, ${flavour}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

async function control(test: Case, name: string, arm64: Device): Promise<void> {
  const fault = FAULTS.find((candidate) => candidate.name === name);
  if (fault === undefined) throw new Error(`There is no fault ${name}.`);
  const error = difference(await test.run(arm64, fault.route, { fault }), test.reference);
  const worst = Math.max(error.out, error.lse);
  line(worst > WRONG, `control: ${name} is ${worst > WRONG ? "found" : "NOT found"} (error ${worst.toExponential(1)})`);
}

async function main(runnerPath: string): Promise<void> {
  const host = await hostDevice();
  const arm64 = new Map<Arm64Level, Device>();
  for (const { level } of CASES) {
    if (!arm64.has(level)) arm64.set(level, open(await arm64Toolchain(level), runnerPath));
  }
  try {
    for (const test of CASES) {
      for (const route of test.routes) await compare(test, route, arm64.get(test.level)!, host);
    }
    for (const [test, name] of CONTROLS) await control(test, name, arm64.get(test.level)!);
  } finally {
    for (const device of [host, ...arm64.values()]) await device.close();
  }
}

const [, , runner] = process.argv;
if (runner === undefined) throw new Error("usage: kernels.mjs <arm64 runner>");
await main(resolve(runner));
process.exitCode = failures === 0 ? 0 : 1;
