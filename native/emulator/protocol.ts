/**
 * The line protocol between `runner.ts` and the runner process (`native/emulator/runner`).
 *
 * Requests are lines of words on the runner's standard input; strings are percent-encoded. Replies are JSON objects,
 * one a line, on its standard output.
 *
 * | request | meaning |
 * | --- | --- |
 * | `module ID PATH ENTRY` | a kernel module and the symbol of its entry |
 * | `buffer ID PATH FILE_OFFSET BYTES LABEL` | a buffer inside a file (see `NativeMemory`) |
 * | `drop buffer ID`, `drop module ID` | unmaps it |
 * | `dispatch LABEL MODULE GX GY GZ TX TY TZ` | adds a dispatch: threadgroups, threads per threadgroup |
 * | `bind INDEX BUFFER OFFSET` | binds a buffer at a byte offset to the last dispatch |
 * | `bytes INDEX HEX` | binds inline bytes |
 * | `tgmem INDEX BYTES` | dynamic threadgroup memory |
 * | `run ID WORKERS` | runs the dispatches added so far, in order, and forgets them |
 * | `inspect ID PATH` | facts about a module |
 * | `cancel` | ends the current run after the threadgroups in flight |
 */
import * as z from "zod";

/** Raised whenever a request or a reply changes its meaning; both sides must agree. */
export const PROTOCOL_VERSION = 1;

const count = z.number().int().nonnegative();

export const runnerReply = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready"), protocol: count, pid: count }),
  z.strictObject({ type: z.literal("progress"), run: count, dispatch: count, done: count, total: count }),
  z.strictObject({ type: z.literal("dispatch"), run: count, dispatch: count, ns: count }),
  z.strictObject({ type: z.literal("done"), run: count }),
  z.strictObject({ type: z.literal("cancelled"), run: count }),
  z.strictObject({
    type: z.literal("error"),
    run: count,
    code: z.enum(["crashed", "dispatch_refused", "unavailable"]),
    message: z.string(),
  }),
  z.strictObject({
    type: z.literal("facts"),
    run: count,
    staticThreadgroupBytes: count,
    maxThreadsPerThreadgroup: count,
    flavour: z.enum(["fast", "lockstep"]),
  }),
  z.strictObject({ type: z.literal("crash"), message: z.string() }),
]);

export type RunnerReply = z.infer<typeof runnerReply>;

/** One request line. Numbers are written in decimal, strings percent-encoded. */
export function requestLine(command: string, ...words: readonly (string | number)[]): string {
  return `${[command, ...words.map((word) => (typeof word === "number" ? String(word) : encodeURIComponent(word)))].join(" ")}\n`;
}
