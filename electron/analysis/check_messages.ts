/** What is asked and answered when a route's kernels are compiled without being run. Pure: the window imports it. */
import * as z from "zod";
import { shapeSchema } from "../runs/record.ts";

export const checkRequestSchema = z.strictObject({
  /** Whose source, macros and kernels: they follow from route and shape. */
  route: z.string().min(1).max(200),
  shape: shapeSchema,
  /** Chip that is emulated; null for the default. */
  chip: z.string().max(80).nullable(),
});
export type CheckRequest = z.infer<typeof checkRequestSchema>;

/** A message of the compiler at its place in a file below `kernels/`, 1-based. */
export const diagnosticSchema = z.strictObject({
  severity: z.enum(["error", "warning", "note"]),
  path: z.string(),
  line: z.number().int(),
  column: z.number().int(),
  message: z.string(),
});

export const checkAnswerSchema = z.strictObject({
  /** Id of the device that compiled. */
  device: z.string(),
  toolchain: z.string(),
  /** The source and what it includes, as paths below `kernels/`. */
  files: z.array(z.string()),
  /** Every kernel that was built, in the order of the route's dispatches. */
  pipelines: z.array(
    z.strictObject({
      kernel: z.string(),
      staticThreadgroupBytes: z.number().int(),
      maxThreads: z.number().int(),
      ms: z.number().min(0),
      cached: z.boolean(),
    }),
  ),
  diagnostics: z.array(diagnosticSchema),
  /** What the device refused in its own words; null where it refused nothing or diagnostics say it. */
  refusal: z.string().nullable(),
});
export type CheckAnswer = z.infer<typeof checkAnswerSchema>;
