/** Gathers what the diagnosis of an element looks at: other elements of its row, their columns of v, other rows. */
import type { CaseShape, RoutePlan } from "../../kernels/route.ts";
import type { NativeAttentionResult } from "../../native/addon.ts";
import type { DeviceBuffer } from "../../native/device.ts";
import type { RouteOutput } from "./bundle_case.ts";
import { type CaseOperands, caseOperands, type OtherPlace } from "./case_operands.ts";
import type { DiagnosisInput, OtherKeys, OtherRow, Probe } from "./diagnosis.ts";
import type { ErrorArrays } from "./errors.ts";
import { keySchedule } from "./geometry.ts";
import { outputFragment } from "./lanes.ts";
import { addressOf, extentsOf, indexOf } from "./layout.ts";
import type { OperandSource, Operands } from "./operands.ts";
import { wrongPlaces } from "./where_wrong.ts";

/** Elements of a row that are probed at most; fewer where the row sees very many keys. */
const PROBES = 8;
const PROBED_VALUES = 2 ** 18;

export interface DiagnosisContext {
  readonly shape: CaseShape;
  readonly plan: RoutePlan | undefined;
  readonly out: RouteOutput;
  readonly errors: ErrorArrays;
  readonly oracle: NativeAttentionResult;
  readonly buffers: ReadonlyMap<string, DeviceBuffer>;
  /** Limit of the gate on the largest error; null where it was not judged. */
  readonly limit: number | null;
}

/** Dimensions of the row to probe, the one at hand first: the worst of the others, then some spread over the row. */
function probedDims({ errors, shape }: DiagnosisContext, index: number, count: number): readonly number[] {
  const { width } = extentsOf(shape);
  const first = index - (index % width);
  const badness = (dim: number): number => (errors.flags[first + dim] === 0 ? errors.abs[first + dim]! : 0);
  const dims = Array.from({ length: width }, (_, dim) => dim);
  const worst = dims.toSorted((a, b) => badness(b) - badness(a)).slice(0, count >> 1);
  const spread = dims.filter((dim) => dim % Math.max(1, Math.floor(width / count)) === 0);
  return [...new Set([index % width, ...worst, ...spread])].slice(0, count);
}

/** Scores of keys [begin, end) of a row, in float64. */
function scoresOf({ parts, scale }: OperandSource, begin: number, end: number): Float64Array {
  const scores = new Float64Array(end - begin);
  for (let j = begin; j < end; j++) {
    let dot = 0;
    for (const { query, key } of parts) {
      const row = key(j);
      for (let d = 0; d < query.length; d++) dot += query[d]! * row[d]!;
    }
    scores[j - begin] = scale * dot;
  }
  return scores;
}

function joined(a: Float64Array, b: Float64Array): Float64Array {
  const both = new Float64Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Elements of a q row. */
function widthOf({ parts }: OperandSource): number {
  return parts.reduce((sum, { query }) => sum + query.length, 0);
}

/** Rows whose keys are read once more for each other place; longer ones would take too long. */
const OTHER_KEYS = 2 ** 14;

/** Other keys that the row might have read: those of the other KV heads, or those of the batch's first sequence. */
function* otherKeys(
  context: DiagnosisContext,
  index: number,
  dims: readonly number[],
  keys: number,
): Iterable<OtherKeys> {
  const { shape, plan, buffers } = context;
  const address = addressOf(extentsOf(shape), index);
  const places: (readonly [words: string, place: OtherPlace])[] = [];
  const own = caseOperands(shape, buffers, address);
  if (shape.operator === "gqa_decode") {
    for (let kvHead = 0; kvHead < shape.kvHeads; kvHead++) {
      if (kvHead !== own.kvHead)
        places.push([`the keys and values of KV head ${kvHead} were read, not of ${own.kvHead}`, { kvHead }]);
    }
  } else if (own.firstKey > 0)
    places.push(["the keys and values of the batch's first sequence were read", { firstKey: 0 }]);
  if (keys === 0 || keys > OTHER_KEYS) return;
  for (const [words, place] of places) {
    const { source } = caseOperands(shape, buffers, address, place);
    const scores = scoresOf(source, 0, keys);
    const columns = dims.map((dim) => {
      const { value } = caseOperands(shape, buffers, { ...address, dim }, place).source;
      return Float64Array.from({ length: keys }, (_, j) => value(j));
    });
    yield {
      words,
      row: { keys, scores, scale: source.scale, width: widthOf(source), schedule: keySchedule(plan, keys) },
      columns,
    };
  }
}

/** The same row of other heads and of other queries: where it might have come from. */
function* otherRows(context: DiagnosisContext, index: number, dims: readonly number[]): Iterable<OtherRow> {
  const extents = extentsOf(context.shape);
  const { token, head } = addressOf(extents, index);
  const at = (t: number, h: number): Float64Array =>
    Float64Array.from(dims, (dim) => context.oracle.out[indexOf(extents, { token: t, head: h, dim })]!);
  for (let h = 0; h < extents.heads; h++) if (h !== head) yield { words: `head ${h}`, references: at(token, h) };
  for (let t = 0; t < extents.tokens; t++) if (t !== token) yield { words: `query ${t}`, references: at(t, head) };
}

/** `made` and `operands` are those of the element `index`. */
export function diagnosisInput(
  context: DiagnosisContext,
  index: number,
  made: CaseOperands,
  operands: Operands,
): DiagnosisInput {
  const { shape, plan, out, errors, oracle, buffers, limit } = context;
  const { source, available } = made;
  const { keys } = operands;
  const extents = extentsOf(shape);
  const address = addressOf(extents, index);
  const extra = available > keys ? 1 : 0;
  // An element within its limit needs no explanation, and none is worked out.
  const beyond = limit === null || errors.flags[index] !== 0 || !(errors.abs[index]! <= limit);
  const count = beyond ? Math.max(2, Math.min(PROBES, Math.floor(PROBED_VALUES / Math.max(1, keys)))) : 1;
  const dims = probedDims(context, index, count);
  const probes = dims.map((dim): Probe => {
    const at = indexOf(extents, { ...address, dim });
    const { value } = caseOperands(shape, buffers, { ...address, dim }).source;
    const column = Float64Array.from({ length: keys + extra }, (_, j) => value(j));
    let absolute = 0;
    for (let j = 0; j < keys; j++)
      if (operands.weights[j] !== 0) absolute += operands.weights[j]! * Math.abs(column[j]!);
    return { output: out.values[at]!, reference: oracle.out[at]!, column, absolute };
  });
  return {
    dtype: out.dtype,
    probes,
    row: {
      keys,
      scores: joined(operands.scores, scoresOf(source, keys, keys + extra)),
      scale: source.scale,
      width: widthOf(source),
      schedule: keySchedule(plan, keys),
    },
    limit,
    drift: Math.abs(operands.out.f32 - operands.out.f64),
    places: beyond
      ? wrongPlaces(errors, shape, outputFragment(plan), limit ?? Number.POSITIVE_INFINITY)
      : { count: 0, of: 0, words: null },
    others: otherRows(context, index, dims),
    otherKeys: otherKeys(context, index, dims, keys),
  };
}
