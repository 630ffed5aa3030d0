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
 * | `dispatch LABEL MODULE GX GY GZ TX TY TZ MATH` | adds a dispatch: threadgroups, threads per threadgroup, `fast` or `safe` |
 * | `bind INDEX BUFFER OFFSET ACCESS` | binds a buffer at a byte offset to the last dispatch, `ro` or `rw` |
 * | `bytes INDEX HEX ACCESS` | binds inline bytes |
 * | `tgmem INDEX BYTES` | dynamic threadgroup memory |
 * | `check ORDER` | the run is of check flavours; its dispatches are `serial` or `concurrent` |
 * | `output BUFFER` | every byte of it must be written exactly once |
 * | `run ID WORKERS` | runs the dispatches added so far, in order, and forgets them |
 * | `inspect ID PATH` | facts about a module |
 * | `reports` | what the check flavours have seen in the current run until now |
 * | `cancel` | ends the current run after the threadgroups in flight |
 */
import * as z from "zod";
import { CHECK_KINDS } from "../check.ts";
import { LOG_LEVELS } from "../device.ts";

/** Raised whenever a request or a reply changes its meaning; both sides must agree. */
export const PROTOCOL_VERSION = 3;

const count = z.number().int().nonnegative();
/** Where in memory: a bound buffer, inline bytes, a dynamic or static threadgroup array, the stack of a thread. */
const space = z.enum(["none", "buffer", "bytes", "dynamic", "static", "stack"]);
const side = z.strictObject({
  /** Offset of the return address in the module; 0 for none. */
  site: count,
  access: z.enum(["none", "read", "write", "atomic", "barrier", "collective", "arithmetic", "exit"]),
  dispatch: count,
  threadgroup: z.tuple([count, count, count]).readonly(),
  thread: count,
});

export const runnerReply = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready"), protocol: count, pid: count, rights: z.string() }),
  z.strictObject({ type: z.literal("progress"), run: count, dispatch: count, done: count, total: count }),
  z.strictObject({ type: z.literal("dispatch"), run: count, dispatch: count, ns: count }),
  /** What a kernel logged: the position of its threadgroup (g) and of the thread in it (p). */
  z.strictObject({
    type: z.literal("log"),
    run: count,
    level: z.enum(LOG_LEVELS),
    label: z.string(),
    message: z.string(),
    thread: count,
    ...{ gx: count, gy: count, gz: count, px: count, py: count, pz: count },
    subsystem: z.optional(z.string()),
    category: z.optional(z.string()),
  }),
  /** Lines logged beyond the runner's limit of 1,000 a run. */
  z.strictObject({ type: z.literal("unheard"), run: count, lines: count }),
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
    flavour: z.enum(["fast", "lockstep", "check", "check+lockstep"]),
  }),
  z.strictObject({
    type: z.literal("report"),
    run: count,
    kind: z.enum(CHECK_KINDS),
    /** What the message depends on, by kind. */
    detail: count,
    space,
    index: count,
    bytes: count,
    offset: z.number().int(),
    size: count,
    count,
    /** Operands or bits, by kind: whole numbers of 64 bits. */
    a: z.string(),
    b: z.string(),
    first: side,
    second: z.optional(side),
  }),
  z.strictObject({
    type: z.literal("traffic"),
    run: count,
    dispatch: count,
    site: count,
    access: z.enum(["read", "write"]),
    space,
    index: count,
    bytes: count,
    size: count,
    accesses: count,
    simdAccesses: count,
    requested: count,
    distinct: count,
    units: count,
    ideal: count,
    worst: count,
  }),
  /** Ends what the check flavours saw. `dropped`: reports without room; `lost`: lines whose traffic was not counted. */
  z.strictObject({ type: z.literal("checked"), run: count, dropped: count, lost: count }),
  z.strictObject({ type: z.literal("crash"), message: z.string() }),
]);

export type RunnerReply = z.infer<typeof runnerReply>;
export type RunnerReport = Extract<RunnerReply, { type: "report" }>;
export type RunnerTraffic = Extract<RunnerReply, { type: "traffic" }>;
export type RunnerSide = RunnerReport["first"];

/** One request line. Numbers are written in decimal, strings percent-encoded. */
export function requestLine(command: string, ...words: readonly (string | number)[]): string {
  return `${[command, ...words.map((word) => (typeof word === "number" ? String(word) : encodeURIComponent(word)))].join(" ")}\n`;
}
