/** What a door and the host say to each other. Both sides check what they receive; no message carries a tensor. */
import * as z from "zod";
import { eventSchema } from "../runs/events.ts";

/** Everything that a parity run is asked for. Paths are absolute. */
export const runRequestSchema = z.strictObject({
  suite: z.enum(["quick", "standard", "full"]),
  /** A tensor file instead of the suite. */
  inputs: z.string().nullable(),
  /** Outputs computed elsewhere, and who computed them. */
  outputs: z.string().nullable(),
  producer: z.string().nullable(),
  operator: z.enum(["gqa_decode", "mla_prefill"]).nullable(),
  route: z.string().nullable(),
  case: z.string().nullable(),
  device: z.string().nullable(),
  chip: z.string().nullable(),
  seed: z.number().int().min(0).max(0xffffffff).nullable(),
  timeoutMs: z.number().positive().nullable(),
  workers: z.number().int().positive().nullable(),
  /** Folder of the staged bundle. */
  staging: z.string(),
});
export type RunRequest = z.infer<typeof runRequestSchema>;

export const toHostSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("run"), request: runRequestSchema }),
  z.strictObject({ type: z.literal("cancel") }),
]);
export type ToHost = z.infer<typeof toHostSchema>;

/** The host answers with the events of the run; `finished` and `refused` are the last of one. */
export const fromHostSchema = eventSchema;
