/**
 * The record of a run: `data/record.json` of a bundle, schema `lockstep.record/1`. Strict: unknown keys are refused.
 * Numbers that are not finite are written as strings.
 */
import * as z from "zod";
import { APPLE_FAMILIES } from "../../native/device.ts";
import { recordValidationSchema } from "../validation/report.ts";

/** A number that may be NaN or infinite; in JSON those are strings. */
export const figure = z.union([
  z.number(),
  z.enum(["NaN", "Infinity", "-Infinity"]).transform(Number),
  z.custom<number>((value) => typeof value === "number"),
]);

export const digestSchema = z.string().regex(/^[0-9a-f]{64}$/, "a SHA-256 digest is 64 lower-case hex digits");

/** Paths inside a bundle: lower case, so that no two differ by case alone. */
export const BUNDLE_PATH = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)*$/;
export const pathSchema = z.string().max(180).regex(BUNDLE_PATH);

const integerText = z.string().regex(/^(0|[1-9]\d*)$/);
const executionSchema = z.enum(["metal", "emulated", "nvidia", "imported"]);
const operatorSchema = z.enum(["gqa_decode", "mla_prefill"]);
const dtypeSchema = z.enum(["f32", "f16", "bf16"]);

/** How a run ended. */
export const outcomeSchema = z.enum(["passed", "failed", "cancelled", "crashed", "timed_out"]);
export type Outcome = z.infer<typeof outcomeSchema>;

const verdictSchema = z.enum(["pass", "fail", "not_run"]);

function known<T extends z.ZodType>(value: T) {
  return z.strictObject({
    value,
    by: z.enum(["api", "probe", "table", "inferred", "assumed"]),
    source: z.string(),
  });
}

export const profileSchema = z.strictObject({
  id: z.string(),
  execution: z.enum(["metal", "emulated", "nvidia"]),
  name: known(z.string()),
  chip: known(z.string()),
  architecture: known(z.string()),
  family: known(z.enum(APPLE_FAMILIES)),
  metalVersion: known(z.string()),
  os: known(z.string()),
  gpuCores: z.strictObject({
    value: z.number().optional(),
    by: z.enum(["api", "probe", "table", "inferred", "assumed"]),
    source: z.string(),
  }),
  limits: known(
    z.strictObject({
      simdWidth: z.number(),
      maxThreadsPerThreadgroup: z.number(),
      maxThreadgroupMemoryBytes: z.number(),
      threadgroupMemoryAlignmentBytes: z.number(),
      bufferSlots: z.number(),
      setBytesMax: z.number(),
    }),
  ),
  toolchain: known(z.string()),
  facts: z
    .array(
      z.strictObject({
        id: z.string(),
        label: z.string(),
        value: z.string().nullable(),
        by: z.enum(["api", "probe", "table", "inferred", "assumed"]),
        source: z.string(),
        reason: z.string().nullable(),
      }),
    )
    .readonly()
    .optional(),
  virtualGpu: known(z.boolean()).optional(),
});

const kindSchema = z.enum(["metal", "emulated", "nvidia"]);

/** A device that can be opened, or why it is not there. No part of a record: what doors and host tell each other. */
export const deviceEntrySchema = z.discriminatedUnion("available", [
  z.strictObject({ kind: kindSchema, available: z.literal(true), profile: profileSchema }),
  z.strictObject({ kind: kindSchema, available: z.literal(false), reason: z.string(), mend: z.string() }),
]);

/** A fact that somebody states: one line of text that says something. It is shown on terminals as it is. */
const statedFact = z
  .string({ error: (issue) => (issue.input === undefined ? "missing" : "no text") })
  .max(4096, "longer than 4,096 characters")
  .regex(/\S/, "empty")
  .regex(/^\P{Cc}*$/u, "holds control characters");

/** Who computed imported outputs. Every fact is required. */
export const producerSchema = z.strictObject({
  engine: statedFact,
  chip: statedFact,
  os: statedFact,
  toolchain: statedFact,
  build: statedFact,
  command: statedFact,
});
export type Producer = z.infer<typeof producerSchema>;

export const hostSchema = z.strictObject({
  os: z.string(),
  arch: z.string(),
  cpu: z.string(),
  cores: z.number().int(),
  memoryBytes: integerText,
  node: z.string(),
});
export type HostFacts = z.infer<typeof hostSchema>;

const decodeShapeSchema = z.strictObject({
  operator: z.literal("gqa_decode"),
  heads: z.number().int(),
  kvHeads: z.number().int(),
  dim: z.number().int(),
  live: z.number().int(),
  capacity: z.number().int(),
  scale: z.number(),
  dtype: dtypeSchema,
});

const prefillShapeSchema = z.strictObject({
  operator: z.literal("mla_prefill"),
  heads: z.number().int(),
  nope: z.number().int(),
  rope: z.number().int(),
  value: z.number().int(),
  cuSeqlensQ: z.array(z.number().int()),
  cuSeqlensK: z.array(z.number().int()),
  qOffset: z.array(z.number().int()),
  scale: z.number(),
  dtype: dtypeSchema,
});

export const shapeSchema = z.discriminatedUnion("operator", [decodeShapeSchema, prefillShapeSchema]);

export const sourceSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("generator"),
    generator: z.literal("lockstep.fmix32/1"),
    seed: z.number().int(),
    variant: z.string(),
  }),
  z.strictObject({
    kind: z.literal("tensors"),
    /** Name of the file; its bytes are bound by the digests of the tensors. */
    file: z.string(),
    /** Prefix of the tensor names in a multi-case file. */
    prefix: z.string(),
    /** Chunked prefill: the last rows of q of every sequence, against all its keys. */
    chunk: z.number().int().optional(),
  }),
  z.strictObject({
    kind: z.literal("scores"),
    file: z.string(),
    prefix: z.string(),
    /** Rows that differ in live length are one case each. */
    row: z.number().int().optional(),
  }),
]);
export type CaseSource = z.infer<typeof sourceSchema>;

const tensorFactSchema = z.strictObject({
  name: z.string(),
  dtype: z.enum(["f32", "f16", "bf16", "i32"]),
  shape: z.array(z.number().int()),
  bytes: integerText,
  sha256: digestSchema,
});
export type TensorFact = z.infer<typeof tensorFactSchema>;

const predicateSchema = z.strictObject({
  id: z.string(),
  requires: z.string(),
  actual: z.string(),
  holds: z.boolean(),
  reason: z.string(),
});

/** One candidate of a dispatch decision. */
export const candidateSchema = z.strictObject({
  route: z.string(),
  status: z.enum(["built", "planned"]),
  predicates: z.array(predicateSchema).readonly(),
  policy: z.array(predicateSchema).readonly(),
  applicable: z.boolean(),
  chosen: z.boolean(),
  why: z.string(),
});

/** `data/dispatch/<case>.json`: what dispatch would take for a case, and why. Parity runs every route that applies. */
export const decisionSchema = z.strictObject({
  case: z.string(),
  route: z.string().nullable(),
  reasons: z.array(z.string()).readonly(),
  candidates: z.array(candidateSchema).readonly(),
});
export type DecisionRecord = z.infer<typeof decisionSchema>;

export const caseSchema = z.strictObject({
  key: z.string(),
  shape: shapeSchema,
  source: sourceSchema,
  /** Part of the boundary set: lengths at edges, adversarial values. */
  boundary: z.boolean(),
  inputs: z.array(tensorFactSchema),
  /** Digest of the float64 oracle output; null where the case never came so far. */
  oracle: z
    .strictObject({
      implementation: z.string(),
      sha256: digestSchema,
      conditioning: figure,
      storedReference: z.boolean(),
      ms: z.number(),
    })
    .nullable(),
});
export type CaseRecord = z.infer<typeof caseSchema>;

export const gateResultSchema = z.strictObject({
  id: z.enum([
    "launched",
    "coverage",
    "finite",
    "exact_zero",
    "subnormal",
    "max_abs",
    "nmse_case",
    "nmse_head",
    "nmse_row",
    "slope",
    "lse",
    "stored_reference",
    "oracle_agreement",
    "sentinels",
    "repeat",
    "lockstep",
    "checker",
    "resources",
    "validation",
  ]),
  verdict: verdictSchema,
  value: figure.nullable(),
  limit: figure.nullable(),
  where: z.string().nullable(),
  note: z.string().nullable(),
});

export type GateVerdictRecord = z.infer<typeof gateResultSchema>;

/** How the execution of one route on one case ended. */
const stateSchema = z.enum([
  "completed",
  "compile_failed",
  "refused",
  "timed_out",
  "crashed",
  "cancelled",
  /** By the user, while its case ran; the run went on. */
  "skipped",
  "failed",
]);

const outputSchema = z.strictObject({
  name: z.enum(["out", "lse"]),
  dtype: dtypeSchema,
  shape: z.array(z.number().int()),
  path: pathSchema,
  sha256: digestSchema,
});

export const resultSchema = z.strictObject({
  case: z.string(),
  route: z.string(),
  state: stateSchema,
  /** The device's own words where the route did not complete. */
  error: z.string().nullable(),
  verdict: verdictSchema,
  /** Summary over the case; null where there is no output. */
  metrics: z
    .strictObject({
      maxAbs: figure,
      nmse: figure,
      worstRow: z.string(),
      worstRowNmse: figure,
      unwritten: z.number().int().nullable(),
    })
    .nullable(),
  gates: z.array(gateResultSchema),
  /** Wall time of the first run on the device; on the emulated device, time of the emulation. */
  ms: z.number().nullable(),
  timings: z.array(
    z.strictObject({
      label: z.string(),
      ns: z.number(),
      clock: z.enum(["stage_boundary_counters", "command_buffer"]).optional(),
      /** Of the command buffer, beside a time of the counters. */
      commandBufferNs: z.number().optional(),
      /** Why the counters were not read. */
      clockReason: z.string().optional(),
      /** Of pipelines that validation has changed: no timing. */
      instrumented: z.literal(true).optional(),
    }),
  ),
  outputs: z.array(outputSchema),
  receipts: z.array(pathSchema),
  /** What the checker said of the pipelines, where this is the result that it was asked for. */
  check: pathSchema.optional(),
  /** `lockstep` where the kernel is pinned to it; absent in bundles of older versions and where nothing is emulated. */
  flavour: z.enum(["fast", "lockstep"]).optional(),
  /** Per-head and per-row figures. */
  metricsPath: pathSchema.nullable(),
});
export type ResultRecord = z.infer<typeof resultSchema>;

export const LEVELS = [
  "source",
  "compiled",
  "pipeline",
  "smoke",
  "parity",
  "boundary",
  "screened",
  "promoted",
] as const;

export const claimSchema = z.strictObject({
  operator: operatorSchema,
  route: z.string(),
  dtype: dtypeSchema,
  execution: executionSchema,
  /** The device or the producer's chip that the evidence was made on. */
  device: z.string(),
  level: z.enum(LEVELS),
  /** Chip that the claim supports; null for emulated evidence, which supports none. */
  supportsChip: z.string().nullable(),
  cases: z.number().int(),
  provides: z.string(),
  doesNotProvide: z.string(),
});
export type Claim = z.infer<typeof claimSchema>;

const fileSchema = z.strictObject({
  path: pathSchema,
  bytes: integerText,
  sha256: digestSchema,
  role: z.enum([
    "command",
    "gates",
    "device",
    "host",
    "producer",
    "dispatch",
    "kernel",
    "receipt",
    "check",
    "metrics",
    "output",
    "log",
    "report",
    "validation",
    "acceptance",
  ]),
});

/** Which device was asked for, and why this one was taken. */
export const choiceSchema = z.strictObject({
  /** As named on the command line; null where the choice was left to the machine. */
  asked: z.string().nullable(),
  reasons: z.array(z.string()),
});
export type ChoiceRecord = z.infer<typeof choiceSchema>;

export const recordSchema = z.strictObject({
  schema: z.literal("lockstep.record/1"),
  app: z.strictObject({ name: z.literal("lockstep"), version: z.string(), commit: z.string().nullable() }),
  command: z.array(z.string()),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  outcome: outcomeSchema,
  /** What happened, in words, where the run did not end by itself. */
  outcomeReason: z.string().nullable(),
  execution: executionSchema,
  device: profileSchema.nullable(),
  /** Absent in bundles of older versions and where nothing ran here. */
  choice: choiceSchema.optional(),
  /** What Metal's validation said; absent where it was not asked. */
  validation: recordValidationSchema.optional(),
  producer: producerSchema.nullable(),
  host: hostSchema,
  gates: z.strictObject({ schema: z.string(), sha256: digestSchema }),
  suite: z.string().nullable(),
  /** Keys of planned cases x routes, so that what did not run is visible. */
  planned: z.array(z.strictObject({ case: z.string(), route: z.string() })),
  cases: z.array(caseSchema),
  results: z.array(resultSchema),
  claims: z.array(claimSchema),
  files: z.array(fileSchema),
  limits: z.array(z.string()),
});
export type RunRecord = z.infer<typeof recordSchema>;

/** `data/parity/<case>/<route>/metrics.json`: figures per head and row. */
const groupSchema = z.strictObject({
  label: z.string(),
  nmse: figure,
  maxAbs: figure,
  maxReference: figure,
  conditioning: figure,
});

export const metricsSchema = z.strictObject({
  schema: z.literal("lockstep.metrics/1"),
  case: z.string(),
  route: z.string(),
  whole: groupSchema,
  heads: z.array(groupSchema),
  /** At most 64 rows, worst NMSE first. */
  worstRows: z.array(groupSchema),
  worstElement: z
    .strictObject({ index: z.number().int(), where: z.string(), value: figure, reference: figure, error: figure })
    .nullable(),
});
export type Metrics = z.infer<typeof metricsSchema>;

/** `data/receipts/<name>.json`. */
export const receiptSchema = z.strictObject({
  schema: z.literal("lockstep.receipt/1"),
  source: z.string(),
  defines: z.record(z.string(), z.union([z.string(), z.number()])),
  flavour: z.enum(["fast", "lockstep", "check", "check+lockstep"]),
  function: z.string(),
  simdWidth: known(z.number()),
  maxTotalThreadsPerThreadgroup: known(z.number()),
  staticThreadgroupMemoryBytes: known(z.number()),
  registers: known(z.strictObject({ least: z.number(), most: z.number() })).optional(),
  language: known(z.string()).optional(),
  mathMode: known(z.string()).optional(),
  digest: z.string(),
});
export type PipelineReceipt = z.infer<typeof receiptSchema>;
