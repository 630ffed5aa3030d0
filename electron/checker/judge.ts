/**
 * The policy of verdicts on a manifest's kernel. The checker speaks first; a kernel whose lanes exchange data without a
 * barrier is pinned to lockstep; `fast` alone never gives a verdict, and neither does a silent checker alone.
 */
import type { CheckReport } from "../../native/check.ts";
import { DeviceError, type Flavour, isCheckFlavour, type LogLine } from "../../native/device.ts";
import type { KernelPhase, KernelResult, KernelRun } from "../manifest/run.ts";
import { counted } from "../words.ts";
import { mergedResult } from "./merge.ts";
import {
  type CheckStage,
  type FlavourOutcome,
  type KernelAnswer,
  type KernelProgress,
  type KernelRequest,
  PINNING_KINDS,
} from "./messages.ts";

export interface JudgeOptions {
  readonly purpose: KernelRequest["purpose"];
  readonly flavour: Flavour | null;
  readonly timeoutMs: number | undefined;
  readonly workers: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: KernelProgress) => void;
  /** The checker's earlier word on the same bytes, if there is one. */
  readonly known: CheckStage | undefined;
  /**
   * What the result is computed with, where that is not the emulated device that the checker runs on. Such a device has the
   * flavour fast alone and promises no lockstep: a kernel that needs it is not pinned to it but wrong.
   */
  readonly on?: KernelRun | undefined;
}

const EMPTY = {
  verdict: "not_run",
  gates: [],
  leftOut: [],
  maxAbs: null,
  nmse: null,
  timings: [],
  padding: [],
  pipelines: [],
  rights: null,
  check: null,
} satisfies Omit<FlavourOutcome, "flavour" | "error">;

export type Judged = Pick<KernelAnswer, "stage" | "stageCached" | "pinned" | "result" | "verdict" | "reason">;

/** Ends that say that nothing could be run, as opposed to a kernel that ran and failed. */
const REFUSALS: readonly DeviceError["code"][] = [
  "compile_failed",
  "pipeline_refused",
  "dispatch_refused",
  "unavailable",
  "cancelled",
];

/** `run` is null where there is no emulated device; then `known` says why, and `on` is there. */
export async function judgeKernel(run: KernelRun | null, options: JudgeOptions): Promise<Judged> {
  const { known, on } = options;
  const stage = known ?? (await checkStage(needed(run), options));
  const pinned = on === undefined && isPinned(stage);
  const result =
    on === undefined ? await resultOf(needed(run), options, stage, pinned) : await outcomeOf(on, "fast", options);
  return { stage, stageCached: known !== undefined, pinned, result, ...verdictOn(stage, pinned, result) };
}

function needed(run: KernelRun | null): KernelRun {
  if (run === null) throw new Error("There is no emulated device to check or run on.");
  return run;
}

/** The stage where the checker could not be asked: there is no verdict without it. */
export function uncheckedStage(message: string): CheckStage {
  return { outcomes: [{ ...EMPTY, flavour: "check", error: { code: "unavailable", message } }] };
}

async function checkStage(run: KernelRun, options: JudgeOptions): Promise<CheckStage> {
  const plain = await outcomeOf(run, "check", options);
  const outcomes = [plain];
  if (isPinned({ outcomes })) outcomes.push(await outcomeOf(run, "check+lockstep", options));
  return { outcomes };
}

export function isPinned({ outcomes }: CheckStage): boolean {
  return outcomes.some(({ check }) => check?.reports.some(({ kind }) => PINNING_KINDS.includes(kind)) ?? false);
}

/** The outcome whose reports count: that of lockstep for a pinned kernel. */
export function countedOutcome({ outcomes }: CheckStage): FlavourOutcome {
  return outcomes.at(-1)!;
}

async function resultOf(
  run: KernelRun,
  options: JudgeOptions,
  stage: CheckStage,
  pinned: boolean,
): Promise<FlavourOutcome> {
  const { purpose, flavour } = options;
  const asked = flavour ?? (purpose === "check" ? "check" : "fast");
  if (isCheckFlavour(asked)) {
    if (!pinned && asked === "check+lockstep") return await outcomeOf(run, asked, options);
    return countedOutcome(stage);
  }
  return await outcomeOf(run, pinned ? "lockstep" : asked, options);
}

/** Runs one flavour. A crash or a time-out is an outcome; what could not be run at all is thrown. */
async function outcomeOf(run: KernelRun, flavour: Flavour, options: JudgeOptions): Promise<FlavourOutcome> {
  const { timeoutMs, workers, signal, onProgress } = options;
  let phase: KernelPhase = "compile";
  const lines: LogLine[] = [];
  let lost = 0;
  const logged = (): Pick<FlavourOutcome, "log"> => (lines.length === 0 ? {} : { log: { lines, lost } });
  const progress = (dispatch: string | null, fraction: number | null): void =>
    onProgress({ type: "kernel_progress", flavour, phase, dispatch, fraction });
  try {
    const result = await run.run(flavour, {
      signal,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(workers === undefined ? {} : { workers }),
      repeat: true,
      // The second run says the same again.
      onLog: (line) => {
        if (phase === "run") lines.push(line);
      },
      onLogOverflow: (more) => {
        if (phase === "run") lost = more;
      },
      onPhase: (next) => {
        phase = next;
        progress(null, null);
      },
      onProgress: ({ label, threadgroupsDone, threadgroups }) =>
        progress(label, threadgroups === 0 ? null : Math.min(1, threadgroupsDone / threadgroups)),
    });
    return { ...shown(result), ...logged(), error: null };
  } catch (error) {
    if (!(error instanceof DeviceError) || REFUSALS.includes(error.code)) throw error;
    return {
      ...EMPTY,
      flavour,
      check: error.check === undefined ? null : mergedResult(error.check),
      ...logged(),
      error: { code: error.code, message: error.message },
    };
  }
}

function shown(result: KernelResult): Omit<FlavourOutcome, "error"> {
  const { flavour, verdict, gates, leftOut, maxAbs, nmse, submitted, padding, pipelines } = result;
  return {
    flavour,
    verdict,
    gates: [...gates],
    leftOut: [...leftOut],
    maxAbs,
    nmse,
    timings: [...submitted.timings],
    padding: [...padding],
    pipelines: pipelines.map(({ receipt }) => ({
      function: receipt.function,
      digest: receipt.digest,
      staticThreadgroupBytes: receipt.staticThreadgroupMemoryBytes.value,
      compileMs: receipt.compileMs,
      cached: receipt.cached,
    })),
    rights: submitted.rights ?? null,
    check: submitted.check === undefined ? null : mergedResult(submitted.check),
  };
}

function isExchange({ kind }: CheckReport): boolean {
  return PINNING_KINDS.includes(kind);
}

/** Errors that count against a result. A pinned kernel has lockstep: its exchanges are stated, and do not count. */
function errorsOf(reports: readonly CheckReport[] | undefined, pinned: boolean): number {
  const errors = reports?.filter((report) => report.severity === "error" && !(pinned && isExchange(report)));
  return errors?.length ?? 0;
}

/** Verdict and reason from what the checker and the judged run gave. Pure. */
export function verdictOn(
  stage: CheckStage,
  pinned: boolean,
  result: FlavourOutcome,
): Pick<KernelAnswer, "verdict" | "reason"> {
  const checked = countedOutcome(stage);
  const errors = errorsOf(checked.check?.reports, pinned);
  const exchanges = checked.check?.reports.filter(isExchange).length ?? 0;
  const inLockstep = pinned ? " in lockstep, to which it is pinned" : "";
  if (result.error !== null) {
    return { verdict: errors > 0 ? "fail" : "not_run", reason: result.error.message };
  }
  if (result.verdict === "fail") return { verdict: "fail", reason: `A gate failed${inLockstep}` };
  if (errors > 0) {
    const gates = result.verdict === "pass" ? `The gates held${inLockstep}, but the` : "The";
    const apart = pinned ? ` beside ${counted(exchanges, "lockstep-dependent exchange")}` : "";
    return { verdict: "fail", reason: `${gates} checker reports ${counted(errors, "error")}${apart}` };
  }
  if (checked.error !== null || checked.check === null || !checked.check.complete) {
    const why = checked.error?.message ?? "it gave no whole result";
    return { verdict: "not_run", reason: `The checker did not come to an end, so there is no verdict: ${why}` };
  }
  if (checked.check.dropped > 0) {
    const words = `${counted(checked.check.dropped, "report")} found no room`;
    return {
      verdict: "not_run",
      reason: `The checker could not keep everything it saw (${words}): take a smaller case`,
    };
  }
  if (result.verdict === null) {
    return {
      verdict: null,
      reason: `nothing was compared${inLockstep}: the manifest names no output that the oracle knows`,
    };
  }
  if (result.verdict === "not_run") return { verdict: "not_run", reason: "A required gate did not run" };
  const clean = pinned
    ? `the checker reports ${counted(exchanges, "lockstep-dependent exchange")} and no other error`
    : "the checker reports no error";
  return { verdict: "pass", reason: `Every gate that applies held${inLockstep}, and ${clean}` };
}
