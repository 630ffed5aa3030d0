/** What a run says while it goes. The host sends these to the door, which keeps the record; none carries a tensor. */
import * as z from "zod";
import {
  caseSchema,
  choiceSchema,
  hostSchema,
  outcomeSchema,
  producerSchema,
  profileSchema,
  resultSchema,
} from "./record.ts";

export const phaseSchema = z.enum(["inputs", "oracle", "check", "compile", "run", "repeat", "lockstep", "compare"]);
export type Phase = z.infer<typeof phaseSchema>;

export const eventSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("planned"),
    suite: z.string().nullable(),
    execution: z.enum(["metal", "emulated", "nvidia", "imported"]),
    device: profileSchema.nullable(),
    /** Which device was asked for, and why this one; absent for imported outputs. */
    choice: choiceSchema.optional(),
    /** Under Metal's validation, whose words the door adds when the host has ended. */
    instrumented: z.boolean().optional(),
    producer: producerSchema.nullable(),
    host: hostSchema,
    planned: z.array(z.strictObject({ case: z.string(), route: z.string() })),
    cases: z.array(caseSchema),
  }),
  z.strictObject({ type: z.literal("case"), case: caseSchema }),
  z.strictObject({
    type: z.literal("progress"),
    case: z.string(),
    route: z.string().nullable(),
    phase: phaseSchema,
    /** 0 to 1 within the phase, or null where it is not known. */
    fraction: z.number().min(0).max(1).nullable(),
  }),
  z.strictObject({ type: z.literal("result"), result: resultSchema }),
  /** The user asked to pause after the running case; the run does pause; it goes on, or the wish is taken back. */
  z.strictObject({ type: z.literal("pause"), state: z.enum(["asked", "paused", "resumed"]) }),
  /** The user asked to skip what runs; its result, and those of its case that are open, follow as `skipped`. */
  z.strictObject({ type: z.literal("skip"), case: z.string() }),
  z.strictObject({ type: z.literal("finished"), outcome: outcomeSchema, reason: z.string().nullable() }),
  /** The run did not begin, or its files cannot be written. */
  z.strictObject({
    type: z.literal("refused"),
    code: z.enum(["usage", "input", "unavailable", "io", "internal"]),
    message: z.string(),
  }),
]);

export type RunEvent = z.infer<typeof eventSchema>;
export type Emit = (event: RunEvent) => void;
