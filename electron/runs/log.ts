/**
 * The log of a run, `data/events.jsonl` of a bundle: what happened and when, one line each, after the record has the rest.
 * Bundles of earlier versions have none. Pure: the window shows the same lines.
 */
import * as z from "zod";
import { phaseSchema, type RunEvent } from "./events.ts";
import { outcomeSchema, resultSchema } from "./record.ts";

/** Milliseconds since the run began. */
const at = z.number().min(0);
const words = z.string().max(4096);

export const logLineSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("planned"), at, cases: z.number().int(), results: z.number().int() }),
  /** A phase begins. */
  z.strictObject({ type: z.literal("phase"), at, case: words, route: words.nullable(), phase: phaseSchema }),
  z.strictObject({
    type: z.literal("result"),
    at,
    case: words,
    route: words,
    verdict: resultSchema.shape.verdict,
    state: resultSchema.shape.state,
  }),
  z.strictObject({ type: z.literal("pause"), at, state: z.enum(["asked", "paused", "resumed"]) }),
  z.strictObject({ type: z.literal("skip"), at, case: words }),
  /** How the run ended; `reason` where it did not end by itself. */
  z.strictObject({ type: z.literal("ended"), at, outcome: outcomeSchema, reason: words.nullable() }),
]);
export type LogLine = z.infer<typeof logLineSchema>;

export const LOG_FILE = "data/events.jsonl";

/** Longest line of a log that is read, in bytes. */
export const LOG_LINE_BYTES = 64 * 1024;

/** The line that an event adds to a log; undefined where it adds none. A phase stands in the log once, when it begins. */
export function logLine(event: RunEvent, time: number, last: LogLine | undefined): LogLine | undefined {
  switch (event.type) {
    case "planned":
      return { type: "planned", at: time, cases: event.cases.length, results: event.planned.length };
    case "progress": {
      const { case: key, route, phase } = event;
      const same = last?.type === "phase" && last.case === key && last.route === route && last.phase === phase;
      return same ? undefined : { type: "phase", at: time, case: key, route, phase };
    }
    case "result": {
      const { case: key, route, verdict, state } = event.result;
      return { type: "result", at: time, case: key, route, verdict, state };
    }
    case "pause":
      return { type: "pause", at: time, state: event.state };
    case "skip":
      return { type: "skip", at: time, case: event.case };
    default:
      return undefined;
  }
}

/** The file: one line of JSON each, times to a tenth of a millisecond. */
export function logText(lines: readonly LogLine[]): string {
  return lines.map((line) => `${JSON.stringify({ ...line, at: Math.round(line.at * 10) / 10 })}\n`).join("");
}
