/** One submission from its start to its end: time-out, cancellation, progress, what kernels log, times, failure. */
import {
  DeviceError,
  type Dispatch,
  type DispatchTiming,
  LOG_LEVELS,
  type LogLine,
  type SubmitOptions,
} from "../device.ts";
import type { MetalLogLine, MetalSubmission, MetalSubmitOptions, MetalSubmitReply, MetalTiming } from "./binding.ts";
import { refusalText } from "./diagnostics.ts";
import { commandBufferFailure } from "./failure.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
/** How long the dispatch at hand may take to end by itself once the time is over. */
const GRACE_MS = 2_000;
const MOST_LOG_LINES = 1_000;
const MOST_MESSAGE_BYTES = 511;

export interface SubmissionRequest {
  readonly dispatches: readonly Dispatch[];
  /** Commits the dispatches. */
  readonly start: (options: MetalSubmitOptions) => MetalSubmission;
  /** A dispatch outlived its time: `rest` ends when the GPU has ended it, `words` says which one it is. */
  readonly onStuck: (rest: Promise<void>, words: string) => void;
}

/**
 * Runs a submission. Rejects with `cancelled` once the dispatch at hand has ended; with `timed_out` when it has, and two
 * seconds later if it has not; with the code of `commandBufferFailure` where Metal fails.
 */
export async function runSubmission(
  request: SubmissionRequest,
  options: SubmitOptions,
): Promise<readonly DispatchTiming[]> {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const { dispatches } = request;
  if (signal?.aborted) throw new DeviceError("cancelled", "The submission was cancelled before it ran.");
  let done = 0;
  const log = new Log(dispatches, options);
  const submission = request.start({
    // Where the device cannot sample, the reason stands in the times.
    counters: true,
    onDispatch: (index) => {
      done = index + 1;
      reportProgress(dispatches[index], index, options);
    },
    ...(options.onLog === undefined ? {} : { onLog: (line: MetalLogLine) => log.take(line) }),
  });
  const onAbort = (): void => submission.cancel();
  signal?.addEventListener("abort", onAbort, { once: true });
  const clock = new Clock();
  try {
    const reply = await Promise.race([submission.done, clock.after(timeoutMs)]);
    if (reply !== "late") return outcome(reply, dispatches, signal);
    submission.cancel();
    const which = nameOf(dispatches, Math.min(done, dispatches.length - 1));
    const late = lateText(which, timeoutMs);
    const end = await Promise.race([submission.done, clock.after(GRACE_MS)]);
    if (end !== "late") throw new DeviceError("timed_out", `${late} ${endText(end)}`);
    request.onStuck(
      submission.done.then(
        () => undefined,
        () => undefined,
      ),
      which,
    );
    throw new DeviceError("timed_out", `${late} ${STUCK}`);
  } finally {
    clock.stop();
    signal?.removeEventListener("abort", onAbort);
    log.end();
  }
}

/** Timers of one submission. */
class Clock {
  #timer: NodeJS.Timeout | undefined;

  /** Resolves after `ms`, unless the clock is stopped or set anew before. */
  after(ms: number): Promise<"late"> {
    this.stop();
    return new Promise((resolve) => {
      this.#timer = setTimeout(() => resolve("late"), ms);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function outcome(
  reply: MetalSubmitReply,
  dispatches: readonly Dispatch[],
  signal: AbortSignal | undefined,
): readonly DispatchTiming[] {
  if (!reply.ok && "failed" in reply) {
    throw commandBufferFailure(nameOf(dispatches, reply.failed), reply.error, reply.encoders);
  }
  if (!reply.ok) {
    const words = `The run was cancelled before ${nameOf(dispatches, reply.cancelledBefore, "dispatch")}.`;
    throw new DeviceError("cancelled", words);
  }
  if (signal?.aborted) throw new DeviceError("cancelled", "The run was cancelled during its last dispatch.");
  return dispatches.map(({ label }, index) => timingOf(label, reply.timings[index]));
}

/** Times of a dispatch: those of the counters where they were sampled, and always those of the command buffer. */
export function timingOf(label: string, timing: MetalTiming | undefined): DispatchTiming {
  if (timing === undefined) throw new Error(`Metal gave no times of dispatch '${label}'.`);
  const commandBufferNs = Math.round((timing.gpuEnd - timing.gpuStart) * 1e9);
  if (timing.counterNs !== null) {
    return { label, ns: timing.counterNs, clock: "stage_boundary_counters", commandBufferNs };
  }
  const reason = timing.counterProblem;
  return { label, ns: commandBufferNs, clock: "command_buffer", ...(reason === null ? {} : { clockReason: reason }) };
}

function nameOf(dispatches: readonly Dispatch[], index: number, word = "Dispatch"): string {
  return `${word} '${dispatches[index]?.label ?? "unknown"}' (${index + 1} of ${dispatches.length})`;
}

function lateText(which: string, timeoutMs: number): string {
  return `${which} had not ended ${timeoutMs.toLocaleString("en-US")} ms after the submission began.`;
}

function endText(reply: MetalSubmitReply): string {
  if (!reply.ok && "failed" in reply) return refusalText("Then it failed.", reply.error);
  return "It was let to its end; nothing after it ran.";
}

const STUCK =
  "Metal cannot stop a kernel that runs: it goes on until it ends or the system ends it, and this device takes nothing " +
  "more until then. Give the kernel less work, allow more time, or start the process again.";

function reportProgress(dispatch: Dispatch | undefined, index: number, options: SubmitOptions): void {
  if (dispatch === undefined) return;
  const [x, y, z] = dispatch.threadgroups;
  const threadgroups = x * y * z;
  options.onProgress?.({ dispatch: index, label: dispatch.label, threadgroupsDone: threadgroups, threadgroups });
}

/** Passes on what kernels log, as many lines as `SubmitOptions` allows. */
class Log {
  readonly #label: string;
  readonly #options: SubmitOptions;
  #lines = 0;

  constructor(dispatches: readonly Dispatch[], options: SubmitOptions) {
    this.#label = logLabel(dispatches.map(({ label }) => label));
    this.#options = options;
  }

  take(line: MetalLogLine): void {
    this.#lines += 1;
    if (this.#lines <= MOST_LOG_LINES) this.#options.onLog?.(logLine(line, this.#label));
  }

  end(): void {
    if (this.#lines > MOST_LOG_LINES) this.#options.onLogOverflow?.(this.#lines - MOST_LOG_LINES);
  }
}

/** Metal does not tell which dispatch logged: one label where all have the same, else all of them. */
export function logLabel(labels: readonly string[]): string {
  const different = [...new Set(labels)];
  return different.length > 1 ? `one of ${different.join(", ")}` : (different[0] ?? "");
}

/** A line in the terms of a device. Raw MTLLogLevel: 1 debug, 2 info, 3 notice, 4 error, 5 fault. */
export function logLine({ level, subsystem, category, message }: MetalLogLine, label: string): LogLine {
  const bytes = Buffer.from(message, "utf8");
  return {
    level: LOG_LEVELS[level - 1] ?? "default",
    label,
    message: bytes.length > MOST_MESSAGE_BYTES ? cut(bytes) : message,
    ...(subsystem === "" ? {} : { subsystem }),
    ...(category === "" ? {} : { category }),
  };
}

/** At most 511 bytes, and no half of a character. */
function cut(bytes: Buffer): string {
  let end = MOST_MESSAGE_BYTES;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString("utf8");
}
