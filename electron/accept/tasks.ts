/**
 * What is done in a child process that loads the addon, and what it says: a Metal that aborts ends the child, and the step that
 * asked says so. Pure.
 */
import * as z from "zod";
import { deviceEntrySchema } from "../runs/record.ts";
import { attemptSchema, conformanceResultSchema, route16x16FactsSchema } from "./record.ts";

export const taskSchema = z.discriminatedUnion("kind", [
  /** What the addon offers and which devices there are. */
  z.strictObject({ kind: z.literal("devices"), device: z.string() }),
  z.strictObject({ kind: z.literal("conformance"), device: z.string() }),
  z.strictObject({ kind: z.literal("matmul2d"), device: z.string() }),
  /** Runs a route on its small case whatever its predicates say. `staging` is a folder for what it writes. */
  z.strictObject({ kind: z.literal("forced"), device: z.string(), route: z.string(), staging: z.string() }),
]);
export type Task = z.infer<typeof taskSchema>;

export const taskEventSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("devices"),
    metal: z.strictObject({ offered: z.boolean(), sdk: z.number().nullable() }),
    entries: z.array(deviceEntrySchema),
    /** Id of the device that `device` names; null with the reason where it is not there. */
    chosen: z.string().nullable(),
    reason: z.string().nullable(),
  }),
  z.strictObject({ type: z.literal("check"), result: conformanceResultSchema }),
  z.strictObject({ type: z.literal("conformance"), results: z.array(conformanceResultSchema) }),
  z.strictObject({ type: z.literal("matmul2d"), attempt: attemptSchema }),
  z.strictObject({ type: z.literal("forced"), facts: route16x16FactsSchema }),
  /** The task cannot be done, in words. */
  z.strictObject({ type: z.literal("refused"), message: z.string() }),
]);
export type TaskEvent = z.infer<typeof taskEventSchema>;
