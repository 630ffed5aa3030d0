/**
 * What the check flavours of the emulated device report: faults of memory, order and arithmetic with their source
 * lines, and the traffic of every dispatch.
 *
 * Reports are exact for the path that was executed and do not depend on the order in which threads ran. Each names the
 * mechanism that saw it and what that mechanism cannot see.
 */
import * as z from "zod";

/** Kinds of reports, in the order in which a reader wants them. */
export const CHECK_KINDS = [
  "race",
  "device_race",
  "lockstep_exchange",
  "same_value_write",
  "out_of_bounds",
  "misaligned",
  "read_only_write",
  "uninitialized_threadgroup",
  "uninitialized_device",
  "uninitialized_stack",
  "nan_created",
  "infinity_created",
  "infinity_in_fast_math",
  "divergent_barrier",
  "divergent_collective",
  "exited_before_barrier",
  "integer_overflow",
  "unwritten_output",
  "written_twice",
] as const;

const count = z.int().nonnegative();
const triple = z.tuple([count, count, count]).readonly();

const sourceLocationSchema = z.strictObject({
  /** As given to `compile`: the path of the `.metal` file or of an include. */
  path: z.string(),
  /** 1-based. */
  line: z.int().positive(),
  column: z.int().positive(),
});

const siteAccessSchema = z.strictObject({
  access: z.enum(["read", "write", "atomic", "barrier", "collective", "arithmetic", "exit", "none"]),
  /** Null where the machine code has no line (an exit, a module without line table, a byte that nobody wrote). */
  location: sourceLocationSchema.nullable(),
  threadgroup: triple,
  simdgroup: count,
  /** Index in the simdgroup. */
  lane: count,
  /** Index in the threadgroup. */
  thread: count,
});

const reportedBufferSchema = z.strictObject({
  /** Label of the buffer, or name of the threadgroup array. */
  name: z.string(),
  /** Binding index; null for static threadgroup memory. */
  index: count.nullable(),
  bytes: count,
});

export const checkReportSchema = z.strictObject({
  kind: z.enum(CHECK_KINDS),
  /** `error`: wrong by MSL. `warning`: right on Apple GPUs or by luck, not portable. `info`: benign, worth knowing. */
  severity: z.enum(["error", "warning", "info"]),
  /** Label of the dispatch. */
  dispatch: z.string(),
  /** One sentence that says what is wrong and what to do. */
  message: z.string(),
  first: siteAccessSchema,
  /** The other side of a race or an exchange, or the barrier that others wait at. */
  second: siteAccessSchema.optional(),
  addressSpace: z.enum(["device", "constant", "threadgroup", "thread"]).nullable(),
  buffer: reportedBufferSchema.nullable(),
  /** Byte offset in the buffer of the first time; may be negative. Null where no memory is concerned. */
  offset: z.int().nullable(),
  /** Bytes of one access; 0 where no memory is concerned. */
  size: count,
  /** How often it happened, between any threads, at these lines. */
  count: z.int().positive(),
  /** What saw it. */
  mechanism: z.string(),
  /** What that cannot see. */
  blindSpot: z.string(),
});

/** Bytes in two counts, and how many accesses they are. */
const bytesSchema = z.strictObject({
  /** Bytes requested by threads. */
  requested: count,
  /** Distinct bytes per SIMD access: lanes of a simdgroup that share an address in one access count once. */
  distinct: count,
  /** Accesses of threads. */
  accesses: count,
  /** Accesses of simdgroups: the k-th execution of a line by the lanes of a simdgroup is one. */
  simdAccesses: count,
});

/**
 * A model, not a measurement: 32 banks of 4 bytes for threadgroup memory (`units` are cycles), lines of 128 bytes for
 * device memory (`units` are lines). `ideal` is what the same distinct bytes need at least.
 */
const accessModelSchema = z.strictObject({
  kind: z.enum(["banks_32x4", "lines_128"]),
  units: count,
  ideal: count,
  /** Most units of one SIMD access. */
  worst: count,
});

const trafficBufferSchema = z.strictObject({
  name: z.string(),
  /** Binding index; null for static threadgroup memory. */
  index: count.nullable(),
  addressSpace: z.enum(["device", "constant", "threadgroup"]),
  bytes: count,
  read: bytesSchema,
  written: bytesSchema,
});

const trafficLineSchema = z.strictObject({
  location: sourceLocationSchema.nullable(),
  access: z.enum(["read", "write"]),
  buffer: z.string(),
  index: count.nullable(),
  addressSpace: z.enum(["device", "constant", "threadgroup"]),
  bytes: bytesSchema,
  model: accessModelSchema,
});

const trafficDispatchSchema = z.strictObject({
  dispatch: z.string(),
  buffers: z.array(trafficBufferSchema).readonly(),
  /** One row for each source position, direction and buffer. */
  lines: z.array(trafficLineSchema).readonly(),
});

const trafficTableSchema = z.strictObject({
  /** Counts are taken behind the compiler's optimiser: loads that it merged count once, as they would on a GPU. */
  stage: z.literal("after optimisation"),
  /** True if this compiler's counts for a kernel of known traffic are right and nothing was cut short. */
  exact: z.boolean(),
  /** Why the counts are, or are not, exact. */
  exactReason: z.string(),
  dispatches: z.array(trafficDispatchSchema).readonly(),
});

export const checkResultSchema = z.strictObject({
  /** Errors first. */
  reports: z.array(checkReportSchema).readonly(),
  /** Distinct reports that found no room; their counts are lost. */
  dropped: count,
  /** False where the run ended early (time-out, cancel, crash): what is here was seen until then. */
  complete: z.boolean(),
  traffic: trafficTableSchema,
});

export type CheckKind = (typeof CHECK_KINDS)[number];
export type SourceLocation = z.infer<typeof sourceLocationSchema>;
export type SiteAccess = z.infer<typeof siteAccessSchema>;
export type CheckReport = z.infer<typeof checkReportSchema>;
export type TrafficBytes = z.infer<typeof bytesSchema>;
export type TrafficBuffer = z.infer<typeof trafficBufferSchema>;
export type TrafficLine = z.infer<typeof trafficLineSchema>;
export type TrafficDispatch = z.infer<typeof trafficDispatchSchema>;
export type TrafficTable = z.infer<typeof trafficTableSchema>;
export type CheckResult = z.infer<typeof checkResultSchema>;
