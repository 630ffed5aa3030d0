/** Runs plans in this process, with kernels that may carry a fault. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { suiteCases } from "../../../electron/cases/suites.ts";
import { hostFacts } from "../../../electron/host/facts.ts";
import { places } from "../../../electron/host/root.ts";
import { catalogueFor } from "../../../electron/runs/catalogue.ts";
import type { RunControl } from "../../../electron/runs/control.ts";
import type { Emit, RunEvent } from "../../../electron/runs/events.ts";
import { planRun, type RunPlan, type Selection } from "../../../electron/runs/plan.ts";
import type { Outcome, ResultRecord } from "../../../electron/runs/record.ts";
import { runPlan } from "../../../electron/runs/run.ts";
import { type Addon, loadAddon } from "../../../native/addon.ts";
import type { Device } from "../../../native/device.ts";
import { openEmulatedDevice } from "../../../native/emulator/open.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";

export const WHERE = places(path.resolve(import.meta.dirname, "../../.."));

export const STANDARD = suiteCases("standard", { golden: WHERE.golden });

export interface Bench {
  readonly device: Device;
  readonly addon: Addon;
}

export async function openBench(): Promise<Bench> {
  const addon = loadAddon(WHERE.addon);
  return { addon, device: await openEmulatedDevice({ addon, runnerPath: WHERE.runner }) };
}

export function scratchFolder(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-test-"));
}

/** A plan over cases of the standard suite. */
export function planOf(selections: readonly Selection[]): RunPlan {
  const catalogue = catalogueFor(emulatedProfile());
  const plans = selections.map((selection) => planRun("standard", STANDARD, selection, catalogue));
  return { suite: null, cases: plans.flatMap((plan) => plan.cases) };
}

/** The same plan without the comparison in lockstep, which compiles every kernel twice. */
export function withoutLockstep(plan: RunPlan): RunPlan {
  const cases = plan.cases.map((entry) => ({
    ...entry,
    routes: entry.routes.map((item) => ({ ...item, lockstep: null })),
  }));
  return { ...plan, cases };
}

export interface RunHere {
  readonly outcome: Outcome;
  readonly results: readonly ResultRecord[];
  readonly events: readonly RunEvent[];
  readonly staging: string;
}

export interface RunHereOptions {
  readonly patch?: (file: string, text: string) => string;
  readonly timeoutMs?: number;
  readonly availableBytes?: number;
  readonly signal?: AbortSignal;
  /** Makes what the test pauses and skips with. */
  readonly control?: (emit: Emit) => RunControl;
  readonly onEvent?: (event: RunEvent) => void;
}

export async function runHere(bench: Bench, plan: RunPlan, options: RunHereOptions = {}): Promise<RunHere> {
  const events: RunEvent[] = [];
  const staging = scratchFolder();
  const emit = (event: RunEvent): void => {
    events.push(event);
    options.onEvent?.(event);
  };
  const outcome = await runPlan({
    ...bench,
    plan,
    staging,
    readSource: (file) => {
      const text = fs.readFileSync(path.join(WHERE.kernels, file), "utf8");
      return options.patch?.(file, text) ?? text;
    },
    host: hostFacts(),
    timeoutMs: options.timeoutMs,
    availableBytes: options.availableBytes,
    signal: options.signal ?? new AbortController().signal,
    control: options.control?.(emit),
    emit,
  });
  const results = events.flatMap((event) => (event.type === "result" ? [event.result] : []));
  return { outcome, results, events, staging };
}

/** Gates of a result that are no pass. */
export function missesOf(result: ResultRecord | undefined): readonly string[] {
  return (result?.gates ?? []).filter((gate) => gate.verdict !== "pass").map((gate) => `${gate.id}:${gate.verdict}`);
}
