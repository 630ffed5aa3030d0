/**
 * What can be asked about one route on one case of a bundle, and what is answered: plain numbers and typed arrays, never a
 * whole tensor. No answer carries more than `ANSWER_LIMIT_BYTES` of arrays: heat maps are pooled to at most
 * `HEAT_MAP_CELLS` cells, lists are cut to `WORST_LIMIT`, and the keys of an element to a window of `WINDOW_KEYS`. What would be more is refused;
 * nothing goes through a file. Pure: a window may import it.
 */
import * as z from "zod";
import { caseSchema } from "../runs/record.ts";

export const ANSWER_LIMIT_BYTES = 8 * 1024 * 1024;
export const HEAT_MAP_CELLS = 2 ** 19;
const WORST_LIMIT = 4096;
export const WINDOW_KEYS = 2 ** 17;
const TOP_LIMIT = 64;

/** A number that may be NaN or infinite. */
const real = z.custom<number>((value) => typeof value === "number", "must be a number");
const index = z.number().int().min(0);
const place = index.nullable();

const f64 = z.custom<Float64Array>((value) => value instanceof Float64Array, "must be a Float64Array");
const f32 = z.custom<Float32Array>((value) => value instanceof Float32Array, "must be a Float32Array");
const i32 = z.custom<Int32Array>((value) => value instanceof Int32Array, "must be an Int32Array");
const u8 = z.custom<Uint8Array>((value) => value instanceof Uint8Array, "must be a Uint8Array");

export const MEASURES = ["abs", "relative", "ulp", "signed"] as const;
/**
 * `abs` |o - r|; `relative` |o - r| / |r|; `ulp` steps of the output's dtype between o and r rounded to it; `signed`
 * o - r.
 */
export type Measure = (typeof MEASURES)[number];

const measureSchema = z.enum(MEASURES);
const axisSchema = z.enum(["token", "head", "dim"]);
const dtypeSchema = z.enum(["f32", "f16", "bf16"]);

/** What is held fixed; an axis that is neither shown nor fixed is pooled over. */
const fixedSchema = z.strictObject({ token: index.optional(), head: index.optional(), dim: index.optional() });

export const whatSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("summary") }),
  z.strictObject({ kind: z.literal("profile"), axis: axisSchema, measure: measureSchema, fixed: fixedSchema }),
  z
    .strictObject({
      kind: z.literal("heat_map"),
      measure: measureSchema,
      rowAxis: axisSchema,
      columnAxis: axisSchema,
      fixed: fixedSchema,
      /** Cells at most; an output with fewer gives fewer. */
      rows: z.number().int().min(1),
      columns: z.number().int().min(1),
    })
    .refine((map) => map.rows * map.columns <= HEAT_MAP_CELLS, {
      error: `a heat map has ${HEAT_MAP_CELLS.toLocaleString("en-US")} cells at most: ask for fewer rows or columns`,
    }),
  z.strictObject({
    kind: z.literal("worst"),
    measure: measureSchema,
    count: z.number().int().min(1).max(WORST_LIMIT),
  }),
  z.strictObject({
    kind: z.literal("element"),
    index,
    /** Order of previous and next worst. */
    measure: measureSchema,
    /** The key whose row is shown; null for the one of largest weight. */
    key: index.nullable(),
    top: z.number().int().min(0).max(TOP_LIMIT),
  }),
  z.strictObject({ kind: z.literal("lanes"), measure: measureSchema }),
  z.strictObject({
    kind: z.literal("compare"),
    /** The other route, of the same bundle or of another that ran the same case on the same inputs. */
    other: z.strictObject({ bundle: z.string().min(1).nullable(), route: z.string().min(1) }),
  }),
]);
export type InspectWhat = z.infer<typeof whatSchema>;

export const inspectRequestSchema = z.strictObject({
  /** Folder of the bundle, absolute. */
  bundle: z.string().min(1),
  case: z.string().min(1),
  route: z.string().min(1),
  /** Where the file with the inputs is, if it is no longer where the run found it. */
  inputs: z.string().min(1).nullable(),
  what: whatSchema,
});
export type InspectRequest = z.infer<typeof inspectRequestSchema>;

const edgeSetSchema = z.strictObject({
  kind: z.enum(["tile", "block", "page", "partition", "group", "sequence"]),
  title: z.string(),
  edges: i32,
  labels: z.array(z.string()).readonly(),
});
const edgesSchema = z.array(edgeSetSchema).readonly();

const notFiniteSchema = z.strictObject({ nan: index, infinite: index, firstNan: place, firstInfinite: place });

const groupFields = {
  label: z.string(),
  elements: index,
  maxAbs: real,
  meanAbs: real,
  maxUlp: real,
  at: place,
  nmse: real.nullable(),
  nan: index,
  infinite: index,
  identical: index,
};
const groupSchema = z.strictObject(groupFields);
const sequenceSchema = z.strictObject({ ...groupFields, queries: index, keys: index });

const counts = z.array(index).readonly();

const summarySchema = z.strictObject({
  kind: z.literal("summary"),
  shape: caseSchema.shape.shape,
  dtype: dtypeSchema,
  extents: z.strictObject({ tokens: index, heads: index, width: index }),
  /** The axis that "position" means: `token` of a prefill, `dim` of a decode. */
  positionAxis: axisSchema,
  notFinite: notFiniteSchema,
  /** Elements that the kernel left unwritten; null where the outputs came from elsewhere. */
  unwritten: index.nullable(),
  whole: groupSchema,
  heads: z.array(groupSchema).readonly(),
  /** Empty for decode. */
  sequences: z.array(sequenceSchema).readonly(),
  ulp: z.strictObject({
    limits: z.array(real).readonly(),
    above: counts,
    below: counts,
    identical: index,
    nan: index,
    p50: real,
    p999: real,
    max: real,
  }),
  oracle: z.strictObject({
    sha256: z.string(),
    /** False where this machine's oracle gives other last bits than the run's. */
    asRecorded: z.boolean(),
    ms: z.number(),
  }),
});

const profileSchema = z.strictObject({
  kind: z.literal("profile"),
  axis: axisSchema,
  length: index,
  max: f64,
  mean: f64,
  at: i32,
  flags: u8,
  edges: edgesSchema,
});

const heatMapSchema = z.strictObject({
  kind: z.literal("heat_map"),
  rowAxis: axisSchema,
  columnAxis: axisSchema,
  rows: index,
  columns: index,
  sourceRows: index,
  sourceColumns: index,
  values: f32,
  at: i32,
  flags: u8,
  notFinite: notFiniteSchema,
  range: z.strictObject({ low: real, high: real }),
  histogram: z.strictObject({
    from: z.number(),
    to: z.number(),
    counts,
    zeros: index,
    infinite: index,
    empty: index,
  }),
  rowEdges: edgesSchema,
  columnEdges: edgesSchema,
});

const addressSchema = z.strictObject({ token: index, head: index, dim: index });

/** One value for each element of the list. */
const worstSchema = z.strictObject({
  kind: z.literal("worst"),
  measure: measureSchema,
  index: i32,
  output: f64,
  oracle: f64,
  abs: f64,
  relative: f64,
  ulp: f64,
  words: z.array(z.string()).readonly(),
});

const pair = z.strictObject({ f64: real, f32: real });
const termSchema = z.strictObject({ key: index, score: real, weight: real, value: real, term: real });
const partSchema = z.strictObject({ name: z.string(), values: f32 });
const stateFields = { m: f64, s: f64, o: f64, m32: f32, s32: f32, o32: f32 };

const traceSchema = z.strictObject({
  online: z.boolean(),
  words: z.string(),
  begin: i32,
  end: i32,
  partition: i32,
  ...stateFields,
  partitions: z.strictObject({ begin: i32, end: i32, ...stateFields, factor: f64, factor32: f32 }),
  merged: z.strictObject({ m: pair, s: pair, o: pair, out: pair, lse: pair }),
});

const elementSchema = z.strictObject({
  kind: z.literal("element"),
  index,
  address: addressSchema,
  words: z.string(),
  dtype: dtypeSchema,
  output: real,
  /** The output's bit pattern: `0x3e7c0000`. */
  bits: z.string(),
  oracle: real,
  abs: real,
  relative: real,
  ulp: real,
  signed: real,
  /** One unit in the last place of the dtype at the oracle's value. */
  ulpSize: real,
  rank: z.strictObject({ rank: index, of: index, previous: place, next: place }),
  owner: z.strictObject({ map: z.enum(["8x8", "16x16"]), simdgroup: index, lane: index, element: index }).nullable(),
  /** The row's figures by the native oracle, and the route's lse where it wrote one. */
  row: z.strictObject({ m: real, s: real, lse: real, outputLse: real.nullable() }),
  /** KV head that the query head reads; for prefill the head itself. */
  kvHead: index,
  /** Sequence of a prefill batch and the query's row in it; null for decode. */
  sequence: z.strictObject({ sequence: index, row: index }).nullable(),
  /** Keys that the row sees, and the row of k that key 0 is. */
  keys: index,
  firstKey: index,
  scale: z.number(),
  query: z.array(partSchema).readonly(),
  /** The key that was asked for, or the one of largest weight; null where the row sees none. */
  key: z.strictObject({ parts: z.array(partSchema).readonly(), term: termSchema }).nullable(),
  /** Keys that the arrays below are about: all of them up to `WINDOW_KEYS`, else a window around `key`. */
  window: z.strictObject({ begin: index, end: index }),
  scores: f64,
  scores32: f32,
  weights: f64,
  weights32: f32,
  values: f32,
  max: pair,
  sum: pair,
  lse: pair,
  /** The oracle's value rebuilt term by term. */
  rebuilt: pair,
  absolute: real,
  top: z.array(termSchema).readonly(),
  edges: edgesSchema,
  /** Steps whose keys lie in the window; partitions and merge over all keys. */
  trace: traceSchema,
  diagnosis: z.strictObject({
    kind: z.enum(["within", "not_finite", "unwritten", "pattern", "place", "none"]),
    sentence: z.string(),
  }),
});

const lanesSchema = z.strictObject({
  kind: z.literal("lanes"),
  /** Null where the route holds its output in no matrices; then `reason` says so. */
  lanes: z
    .strictObject({
      map: z.enum(["8x8", "16x16"]),
      elementsPerLane: index,
      max: f64,
      mean: f64,
      at: i32,
      flags: u8,
    })
    .nullable(),
  reason: z.string().nullable(),
});

const compareSchema = z.strictObject({
  kind: z.literal("compare"),
  word: z.enum(["identical", "within_gates", "a_wrong", "b_wrong", "both_wrong"]),
  sentence: z.string(),
  elements: index,
  differing: index,
  notFinite: index,
  firstDiffering: place,
  maxAbs: real,
  maxAbsAt: place,
  maxUlp: real,
  aCloser: index,
  bCloser: index,
  equallyClose: index,
  heads: z.array(z.strictObject({ label: z.string(), differing: index, maxAbs: real })).readonly(),
  /** Largest difference at each place of the position axis, with its sign, and where. */
  profile: z.strictObject({ axis: axisSchema, max: f64, at: i32, flags: u8, edges: edgesSchema }),
});

export const inspectAnswerSchema = z.discriminatedUnion("kind", [
  summarySchema,
  profileSchema,
  heatMapSchema,
  worstSchema,
  elementSchema,
  lanesSchema,
  compareSchema,
]);
export type InspectAnswer = z.infer<typeof inspectAnswerSchema>;

/** The answer to a kind of question. */
export type AnswerOf<Kind extends InspectWhat["kind"]> = Extract<InspectAnswer, { readonly kind: Kind }>;

/**
 * Why there is no answer. `busy`: a run is going on. `usage`: the bundle has no such case, route or element. `input`: the
 * inputs cannot be made again. `changed`: bytes differ from their digests. `io`: files cannot be read. `stopped`: the host
 * ended.
 */
export const refusalCodeSchema = z.enum(["busy", "usage", "input", "changed", "io", "stopped"]);
export type RefusalCode = z.infer<typeof refusalCodeSchema>;

/** What is wrong and what to do about it. */
export class InspectError extends Error {
  override readonly name = "InspectError";
  readonly code: RefusalCode;
  readonly mend: string;

  constructor(code: RefusalCode, message: string, mend: string) {
    super(message);
    this.code = code;
    this.mend = mend;
  }
}
