/**
 * What a door and the host say to each other. Both sides check what they receive; no message carries a tensor. Answers about
 * a case carry typed arrays, a few MiB at most: `analysis/messages.ts` has the limits.
 */
import * as z from "zod";
import { checkAnswerSchema, checkRequestSchema } from "../analysis/check_messages.ts";
import { inspectAnswerSchema, inspectRequestSchema, refusalCodeSchema } from "../analysis/messages.ts";
import { captureEndSchema, captureRequestSchema } from "../captures/gputrace.ts";
import { kernelEndSchema, kernelProgressSchema, kernelRequestSchema } from "../checker/messages.ts";
import { eventSchema } from "../runs/events.ts";
import { deviceEntrySchema } from "../runs/record.ts";

/** Everything that a parity run is asked for. Paths are absolute. */
const runRequestSchema = z.strictObject({
  suite: z.enum(["quick", "standard", "full"]),
  /** A tensor file instead of the suite. */
  inputs: z.string().nullable(),
  /** Outputs computed elsewhere, and who computed them. */
  outputs: z.string().nullable(),
  producer: z.string().nullable(),
  operator: z.enum(["gqa_decode", "mla_prefill"]).nullable(),
  route: z.string().nullable(),
  case: z.string().nullable(),
  /** As on the command line; null leaves the choice to the machine. */
  device: z.string().nullable(),
  chip: z.string().nullable(),
  /** Under Metal's validation: the host was started with its environment. */
  validation: z.boolean(),
  seed: z.number().int().min(0).max(0xffffffff).nullable(),
  timeoutMs: z.number().positive().nullable(),
  workers: z.number().int().positive().nullable(),
  /** Folder of the staged bundle. */
  staging: z.string(),
});
export type RunRequest = z.infer<typeof runRequestSchema>;

const inspectId = z.number().int().positive();

export const toHostSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("run"), request: runRequestSchema }),
  z.strictObject({ type: z.literal("cancel") }),
  /** Pause after the running case, or go on. */
  z.strictObject({ type: z.literal("pause"), paused: z.boolean() }),
  /** Skip the case, if it is the one that runs. */
  z.strictObject({ type: z.literal("skip"), case: z.string() }),
  z.strictObject({ type: z.literal("inspect"), id: inspectId, request: inspectRequestSchema }),
  z.strictObject({ type: z.literal("check"), id: inspectId, request: checkRequestSchema }),
  /** What Metal devices there are; answered at any time. */
  z.strictObject({ type: z.literal("devices"), id: inspectId }),
  /** Run or check the kernel of a manifest: a run as far as `cancel` and the door's other messages go. */
  z.strictObject({ type: z.literal("kernel"), request: kernelRequestSchema }),
  /** Capture the dispatches of one case: a run as far as `cancel` goes. The host was started with the environment for it. */
  z.strictObject({ type: z.literal("capture"), request: captureRequestSchema }),
]);
export type ToHost = z.infer<typeof toHostSchema>;

/** The one answer to an `inspect`, under its id. */
const inspectEndSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("inspected"), id: inspectId, answer: inspectAnswerSchema }),
  z.strictObject({
    type: z.literal("inspect_refused"),
    id: inspectId,
    code: refusalCodeSchema,
    message: z.string(),
    mend: z.string(),
  }),
]);
export type InspectEnd = z.infer<typeof inspectEndSchema>;

/** The answer to a `check` or to `devices`, under its id; a `check` is refused as an `inspect` is. */
export const answerEndSchema = z.discriminatedUnion("type", [
  ...inspectEndSchema.options,
  z.strictObject({ type: z.literal("checked"), id: inspectId, answer: checkAnswerSchema }),
  /** Of Metal alone; never empty. */
  z.strictObject({ type: z.literal("devices_listed"), id: inspectId, metal: z.array(deviceEntrySchema).min(1) }),
]);
export type AnswerEnd = z.infer<typeof answerEndSchema>;
export type CheckEnd = Extract<AnswerEnd, { type: "checked" | "inspect_refused" }>;
export type Refused = Extract<InspectEnd, { type: "inspect_refused" }>;

/** The refusal while a run is going on: it has the device, the memory and the processor. */
export function busyRefusal(id: number): Refused {
  const message = "A run is going on; outputs can be looked at, and kernels checked, when it has ended";
  return { type: "inspect_refused", id, code: "busy", message, mend: "wait for it, or cancel it" };
}

/** What a `kernel` is answered with: progress, then one end. */
export const kernelEventSchema = z.discriminatedUnion("type", [kernelProgressSchema, ...kernelEndSchema.options]);

/** What a `capture` is answered with: the running dispatch, then one end. */
export const captureEventSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("capture_progress"), phase: z.enum(["inputs", "compile", "capture"]) }),
  ...captureEndSchema.options,
]);
export type CaptureProgress = Extract<z.infer<typeof captureEventSchema>, { type: "capture_progress" }>;

/** The host answers with the events of the run, of which `finished` and `refused` are the last, and with answers. */
export const fromHostSchema = z.discriminatedUnion("type", [
  ...eventSchema.options,
  ...answerEndSchema.options,
  ...kernelEventSchema.options,
  ...captureEventSchema.options,
]);
