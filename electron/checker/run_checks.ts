/**
 * What a window is told of the checker's word on a run: every set of pipelines, what was said of it and which results it
 * stands for; and what is asked and answered when a window has the kernel of a manifest checked. Pure.
 */
import * as z from "zod";
import { CHECK_KINDS, checkResultSchema } from "../../native/check.ts";
import { pathSchema, shapeSchema } from "../runs/record.ts";
import { kernelEndSchema, kernelProgressSchema, kernelRequestSchema } from "./messages.ts";

const runCheckSchema = z.strictObject({
  /** The file of the bundle that holds it. */
  path: pathSchema,
  operator: z.enum(["gqa_decode", "mla_prefill"]),
  route: z.string(),
  /** Key of the small case that the pipelines were checked on. */
  case: z.string(),
  /** Shape of the small case; null where this version makes another one. */
  shape: shapeSchema.nullable(),
  flavour: z.enum(["check", "check+lockstep"]),
  /** Lanes exchange data without a barrier: results are computed in lockstep. */
  pinned: z.boolean(),
  /** What the source was compiled with; null where this version has no such route. */
  defines: z.record(z.string(), z.union([z.string(), z.number()])).nullable(),
  /** Results of the run that the same pipelines computed, the one that it was asked for first. */
  results: z.array(z.strictObject({ case: z.string(), route: z.string() })),
  result: checkResultSchema,
});
export type RunCheck = z.infer<typeof runCheckSchema>;

export const runChecksSchema = z.strictObject({
  /** In the order of the record. */
  checks: z.array(runCheckSchema),
  /** Sources as the run compiled them, by the path that reports name. */
  texts: z.array(z.strictObject({ path: z.string(), text: z.string() })),
});
export type RunChecks = z.infer<typeof runChecksSchema>;

/** What each kind of report rests on, and what it cannot see. */
export const checkKindsSchema = z.strictObject({
  kinds: z.array(z.strictObject({ kind: z.enum(CHECK_KINDS), mechanism: z.string(), blindSpot: z.string() })),
});
export type CheckKinds = z.infer<typeof checkKindsSchema>;

/** Which manifest a window asks about: one on the workbench's machine, or texts that it sends. */
export const kernelAskedSchema = kernelRequestSchema.pick({ from: true, sizes: true, chip: true });

/** Progress, then one end. */
export const kernelItemSchema = z.discriminatedUnion("type", [kernelProgressSchema, ...kernelEndSchema.options]);
export type KernelItem = z.infer<typeof kernelItemSchema>;
