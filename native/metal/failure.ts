/** What a command buffer that failed means: the code of the `DeviceError`, and words beside those of Metal. */
import { DeviceError, type DeviceErrorCode } from "../device.ts";
import type { MetalError } from "./binding.ts";
import { OWN_DOMAIN, refusalText } from "./diagnostics.ts";

interface FailureRow {
  /** MTLCommandBufferError (MTLCommandBuffer.h). */
  readonly code: number;
  readonly as: DeviceErrorCode;
  readonly what: string;
}

const DOMAIN = "MTLCommandBufferErrorDomain";

/** Code of the binding's own words where Metal gave no command buffer or no encoder, so that no kernel ran. */
const NOT_COMMITTED = 1;

const FAILURES: readonly FailureRow[] = [
  { code: 1, as: "crashed", what: "Metal reports an internal error" },
  {
    code: 2,
    as: "timed_out",
    what: "the system ended it because it held the GPU for too long: give it less work at once",
  },
  { code: 3, as: "crashed", what: "the GPU touched memory that is not there: an access lies outside its buffer" },
  {
    code: 4,
    as: "unavailable",
    what: "the system has revoked the GPU from this process after too many failures: start the process again",
  },
  { code: 7, as: "unavailable", what: "this process may not use the GPU" },
  {
    code: 8,
    as: "unavailable",
    what: "the GPU had too little memory for it: use a shorter context or release buffers",
  },
  { code: 9, as: "crashed", what: "a resource that it refers to is not valid" },
  { code: 11, as: "unavailable", what: "the GPU was removed" },
  { code: 12, as: "crashed", what: "the kernel used more stack than the pipeline has: it recurses too deep" },
];

interface ReasonRow {
  /** What the driver calls it, at the end of Metal's words: `(0000000e:kIOGPUCommandBufferCallbackErrorImpactingInteractivity)`. */
  readonly reason: RegExp;
  readonly as: DeviceErrorCode;
  readonly what: string;
}

/** What the code does not tell: macOS has more reasons than MTLCommandBufferError has codes, and gives most of them code 1. */
const REASONS: readonly ReasonRow[] = [
  {
    reason: /ErrorImpactingInteractivity\b|\bImpacting Interactivity\b/,
    as: "timed_out",
    what: "the system ended it because it kept the GPU from the display: give it less work at once, or let the display sleep meanwhile",
  },
  {
    reason: /ErrorInnocentVictim\b|\bvictim of GPU error\b/,
    as: "unavailable",
    what: "the system discarded it while the GPU recovered from an error of other work: run it again",
  },
];

/**
 * The error of a submission whose command buffer failed.
 * @param which the dispatch in words: `Dispatch 'scores' (1 of 3)`
 * @param encoders states of the encoders as the binding tells them
 */
export function commandBufferFailure(which: string, error: MetalError, encoders: readonly string[]): DeviceError {
  if (error.domain === OWN_DOMAIN && error.code === NOT_COMMITTED) {
    return new DeviceError("unavailable", refusalText(`${which} was not run.`, error));
  }
  const isMetal = error.domain === DOMAIN;
  const row = isMetal
    ? (REASONS.find((one) => one.reason.test(error.words)) ?? FAILURES.find((one) => one.code === error.code))
    : undefined;
  const what = row?.what ?? "Metal gives no reason that is known";
  const states = encoders.length === 0 ? "" : ` Encoders: ${encoders.join("; ")}.`;
  return new DeviceError(row?.as ?? "crashed", refusalText(`${which} failed: ${what}.${states}`, error));
}
