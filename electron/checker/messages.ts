/**
 * What is asked and answered when a manifest's kernel is run or checked. Pure: no process, no file. Figures may be NaN:
 * the channel between door and host keeps them.
 */
import * as z from "zod";
import { type CHECK_KINDS, checkResultSchema } from "../../native/check.ts";
import { diagnosticSchema } from "../analysis/check_messages.ts";
import { figure, gateResultSchema } from "../runs/record.ts";

export const flavourSchema = z.enum(["fast", "lockstep", "check", "check+lockstep"]);

/** A text under the path that the manifest or an `#include` names it by. */
const textSchema = z.strictObject({ path: z.string().min(1).max(1000), text: z.string() });

export const kernelRequestSchema = z.strictObject({
  from: z.discriminatedUnion("kind", [
    /** A manifest on disk, absolute; `root` is the folder that its sources lie below, null for the manifest's own. */
    z.strictObject({ kind: z.literal("file"), path: z.string().min(1), root: z.string().nullable() }),
    /** A manifest as text, with its source and what that includes. */
    z.strictObject({
      kind: z.literal("texts"),
      name: z.string().min(1).max(1000),
      manifest: z.string(),
      files: z.array(textSchema).max(2000),
    }),
  ]),
  /** `run`: a result with its verdict. `check`: the reports. */
  purpose: z.enum(["run", "check"]),
  /** Flavour that the result is computed in; null leaves it to the checker. */
  flavour: flavourSchema.nullable(),
  /** Sizes that replace those of the manifest. */
  sizes: z.record(z.string(), z.number()),
  /** As on the command line; the checker is the emulated device's, a result may be any device's. */
  device: z.string().nullable(),
  chip: z.string().nullable(),
  /** Limit of one submission. */
  timeoutMs: z.number().positive().nullable(),
  workers: z.number().int().positive().nullable(),
});
export type KernelRequest = z.infer<typeof kernelRequestSchema>;

const size3 = z.tuple([z.number().int(), z.number().int(), z.number().int()]).readonly();

const logLineSchema = z.strictObject({
  level: z.enum(["debug", "info", "default", "error", "fault"]),
  label: z.string(),
  message: z.string(),
  subsystem: z.string().optional(),
  category: z.string().optional(),
  threadgroup: size3.optional(),
  position: size3.optional(),
  thread: z.number().int().optional(),
});

/** What one flavour gave. `error` stands where the run did not end; then reports are those seen until then. */
const flavourOutcomeSchema = z.strictObject({
  flavour: flavourSchema,
  verdict: z.enum(["pass", "fail", "not_run"]).nullable(),
  gates: z.array(gateResultSchema),
  /** Gates that do not apply to this run, and why. */
  leftOut: z.array(z.strictObject({ id: z.string(), why: z.string() })),
  maxAbs: figure.nullable(),
  nmse: figure.nullable(),
  timings: z.array(
    z.strictObject({
      label: z.string(),
      ns: z.number(),
      clock: z.enum(["stage_boundary_counters", "command_buffer"]).optional(),
    }),
  ),
  padding: z.array(z.strictObject({ dispatch: z.string(), bytes: z.number() })),
  pipelines: z.array(
    z.strictObject({
      function: z.string(),
      digest: z.string(),
      staticThreadgroupBytes: z.number(),
      compileMs: z.number(),
      cached: z.boolean(),
    }),
  ),
  check: checkResultSchema.nullable(),
  rights: z.string().nullable(),
  /** What the kernels logged with `os_log`; absent where they logged nothing. */
  log: z.strictObject({ lines: z.array(logLineSchema), lost: z.number().int().nonnegative() }).optional(),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});
export type FlavourOutcome = z.infer<typeof flavourOutcomeSchema>;

/** The checker's word on a manifest at given sizes: `check`, and `check+lockstep` where lanes exchange data. */
export const checkStageSchema = z.strictObject({
  outcomes: z.array(flavourOutcomeSchema).min(1).max(2),
});
export type CheckStage = z.infer<typeof checkStageSchema>;

const knownText = z.string().max(400);

const kernelAnswerSchema = z.strictObject({
  name: z.string(),
  project: z.strictObject({ name: z.string(), commit: z.string().nullable() }).nullable(),
  note: z.string().nullable(),
  source: z.string(),
  sizes: z.record(z.string(), figure),
  device: z.strictObject({
    id: z.string(),
    execution: z.enum(["metal", "emulated", "nvidia"]),
    name: knownText,
    os: knownText,
    metalVersion: knownText,
    /** Where the result was computed and what it is no evidence of, in sentences. */
    text: z.string(),
    /** Why this device. */
    reasons: z.array(z.string()),
    /** Id of the emulated device that the checker ran on; null where there was none. */
    checkedOn: z.string().nullable(),
  }),
  /** What the process that ran the kernels was not allowed to do; null where it has not said. */
  rights: z.string().nullable(),
  stage: checkStageSchema,
  /** Digest that the stage is kept under, and whether it was taken from the cache. */
  stageDigest: z.string(),
  stageCached: z.boolean(),
  /** True where the kernel's lanes exchange data without a barrier: its results are those of lockstep. */
  pinned: z.boolean(),
  /** The flavour whose result is judged. For `check` one of the stage. */
  result: flavourOutcomeSchema,
  verdict: z.enum(["pass", "fail", "not_run"]).nullable(),
  /** Why, in one sentence. */
  reason: z.string(),
  /** Texts of the files that reports name. */
  texts: z.array(textSchema),
});
export type KernelAnswer = z.infer<typeof kernelAnswerSchema>;

export const kernelProgressSchema = z.strictObject({
  type: z.literal("kernel_progress"),
  flavour: flavourSchema,
  phase: z.enum(["compile", "run", "repeat", "oracle"]),
  /** Label of the dispatch that runs. */
  dispatch: z.string().nullable(),
  fraction: z.number().min(0).max(1).nullable(),
});
export type KernelProgress = z.infer<typeof kernelProgressSchema>;

export const kernelEndSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("kernel_ended"), answer: kernelAnswerSchema }),
  /** Nothing was run, or it was cancelled. `diagnostics` are the compiler's, `texts` the files that they name. */
  z.strictObject({
    type: z.literal("kernel_refused"),
    code: z.enum(["usage", "input", "io", "unavailable", "compile_failed", "refused", "cancelled", "internal"]),
    message: z.string(),
    diagnostics: z.array(diagnosticSchema),
    texts: z.array(textSchema),
  }),
]);
export type KernelEnd = z.infer<typeof kernelEndSchema>;
export type KernelRefused = Extract<KernelEnd, { type: "kernel_refused" }>;

/** Kinds by which a kernel is known to need its lanes in lockstep. */
export const PINNING_KINDS: readonly (typeof CHECK_KINDS)[number][] = ["lockstep_exchange"];
