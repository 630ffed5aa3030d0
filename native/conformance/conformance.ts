/** Runs the conformance suite on a device. */
import { type Device, DeviceError } from "../device.ts";
import { BUFFER_CHECKS } from "./buffer_checks.ts";
import { type ConformanceCheck, type ConformanceResult, must } from "./check.ts";
import { COMPILE_CHECKS } from "./compile_checks.ts";
import { CLOSE_CHECK, CONTROL_CHECKS } from "./control_checks.ts";
import { EXECUTION_CHECKS } from "./execution_checks.ts";
import { missingNeeds, type NeedContext } from "./needs.ts";
import { PIPELINE_CHECKS } from "./pipeline_checks.ts";
import { PROFILE_CHECKS } from "./profile_checks.ts";
import { REFUSAL_CHECKS } from "./refusal_checks.ts";

/** Every check, in the order in which it runs; the last one closes the device. */
export const CONFORMANCE_CHECKS: readonly ConformanceCheck[] = [
  ...PROFILE_CHECKS,
  ...COMPILE_CHECKS,
  ...PIPELINE_CHECKS,
  ...BUFFER_CHECKS,
  ...EXECUTION_CHECKS,
  ...REFUSAL_CHECKS,
  ...CONTROL_CHECKS,
  CLOSE_CHECK,
];

export interface ConformanceOptions {
  /** Default: `CONFORMANCE_CHECKS`. */
  readonly checks?: readonly ConformanceCheck[];
  /** Checks that have not begun when it is aborted are `not_run`. */
  readonly signal?: AbortSignal;
  /** The device was opened to take what kernels log. Default: false; an emulated device always takes it. */
  readonly logging?: boolean;
  /** How long one check may take; then it is `failed`, for a device that never answers is not as it must be. */
  readonly checkTimeoutMs?: number;
}

const CHECK_TIMEOUT_MS = 120_000;

/**
 * Runs every check, one after another, and hands each result to `emit` as it comes. Never rejects: what a check throws is its
 * result. The device is closed afterwards, by the last check.
 */
export async function runConformance(
  device: Device,
  emit: (result: ConformanceResult) => void = () => {},
  options: ConformanceOptions = {},
): Promise<readonly ConformanceResult[]> {
  const { checks = CONFORMANCE_CHECKS, signal, checkTimeoutMs = CHECK_TIMEOUT_MS } = options;
  const context: NeedContext = {
    profile: device.profile,
    logging: options.logging ?? false,
    mayCapture: process.env.MTL_CAPTURE_ENABLED === "1",
  };
  const results: ConformanceResult[] = [];
  for (const check of checks) {
    const result = signal?.aborted
      ? outcome(check, "not_run", "the suite was stopped before it")
      : await one(check, device, context, checkTimeoutMs);
    results.push(result);
    emit(result);
  }
  return results;
}

async function one(
  check: ConformanceCheck,
  device: Device,
  context: NeedContext,
  timeoutMs: number,
): Promise<ConformanceResult> {
  const missing = missingNeeds(check.needs, context);
  if (missing !== undefined) return outcome(check, "not_run", missing);
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const words = `it had not ended after ${timeoutMs.toLocaleString("en-US")} ms`;
    timer = setTimeout(() => reject(new Error(words)), timeoutMs);
  });
  try {
    const words = await Promise.race([check.run(device), tooLong]);
    must(words !== "", "the check says nothing of what it saw");
    return outcome(check, "passed", words);
  } catch (error) {
    return outcome(check, "failed", failureWords(error));
  } finally {
    clearTimeout(timer);
  }
}

function failureWords(error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}`;
  if (!(error instanceof DeviceError)) return error.message;
  const [first] = error.diagnostics;
  const where = first === undefined ? "" : ` (${first.path}:${first.line}:${first.column}: ${first.message})`;
  return `${error.code}: ${error.message}${where}`;
}

function outcome(
  { id, title }: ConformanceCheck,
  state: ConformanceResult["outcome"],
  words: string,
): ConformanceResult {
  return { id, title, outcome: state, words };
}
