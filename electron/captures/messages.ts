/** What the Captures page is told: receipts of a result, the occupancy model of its device, timings of a case. Pure. */
import * as z from "zod";
import { pathSchema, receiptSchema } from "../runs/record.ts";

const count = z.number().int().min(0);

/** How a fact of a model came about. A `fitted` or `inferred` one is used for ratios, not for absolutes. */
const basisSchema = z.enum(["table", "reported", "measured", "fitted", "inferred"]);

const fact = {
  basis: basisSchema,
  /** In words: on which chip, by whom. */
  source: z.string(),
};

/** What one core of a family holds. A range where the facts are one. */
export const occupancyModelSchema = z.strictObject({
  /** Name and version: `apple9-g16s-fit/1`. */
  id: z.string(),
  family: z.string(),
  threadsPerCore: z.strictObject({ value: count, ...fact }),
  simdgroupsPerCore: z.strictObject({ value: count, ...fact }),
  maxThreadsPerThreadgroup: count,
  maxThreadgroupBytes: count,
  threadgroupBytesPerCore: z.strictObject({ low: count, high: count, ...fact }),
  registersPerThread: count,
  registers: z.discriminatedUnion("kind", [
    /** A step table: at most so many 16-bit halves a thread, then so many threads a core. */
    z.strictObject({
      kind: z.literal("steps"),
      fileBytes: count,
      steps: z
        .array(z.strictObject({ halves: count, threads: count }))
        .min(1)
        .readonly(),
      ...fact,
    }),
    /** simdgroups = file bytes / (128 x registers); measured points where there are any are the low end. */
    z.strictObject({
      kind: z.literal("file"),
      fileBytes: count,
      measured: z.array(z.strictObject({ registers: count, simdgroups: z.number().min(0) })).readonly(),
      ...fact,
    }),
  ]),
});
export type OccupancyModel = z.infer<typeof occupancyModelSchema>;

/** A receipt of a result with its path in the bundle. */
const capturedReceiptSchema = z.strictObject({ path: pathSchema, receipt: receiptSchema });

/** Receipts of one route on one case, and the model of the device that it ran on; null where there is none. */
export const inspectCaptureSchema = z.strictObject({
  receipts: z.array(capturedReceiptSchema),
  occupancy: occupancyModelSchema.nullable(),
  /** Why there is no model. */
  noModel: z.string().nullable(),
});
export type InspectedCapture = z.infer<typeof inspectCaptureSchema>;

/** What one run recorded of one route on the case: the run's own clock, and the time of each dispatch. */
const timingSampleSchema = z.strictObject({
  run: z.string(),
  startedAt: z.string(),
  route: z.string(),
  /** Nanoseconds, dispatch by dispatch, and what they were read from; no clock where the device is emulated. */
  dispatches: z.array(
    z.strictObject({
      label: z.string(),
      ns: z.number(),
      clock: z.enum(["stage_boundary_counters", "command_buffer"]).optional(),
    }),
  ),
  /** False where the result did not pass: the time of a wrong answer is shown, not counted. */
  passed: z.boolean(),
});
export type TimingSample = z.infer<typeof timingSampleSchema>;

export const timingsSchema = z.strictObject({
  device: z.string(),
  deviceName: z.string(),
  execution: z.enum(["metal", "emulated", "nvidia", "imported"]),
  /** Oldest first. */
  samples: z.array(timingSampleSchema),
  /** Runs of the device that were looked at, newest first up to the limit. */
  runs: count,
  /** Older runs of the device that were not looked at. */
  left: count,
});
export type CaseTimings = z.infer<typeof timingsSchema>;
