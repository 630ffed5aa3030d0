/** The answer about one element: address, errors, rank, operands and the trace of its softmax. */
import type { RouteOutput } from "./bundle_case.ts";
import { type CaseOperands, caseOperands } from "./case_operands.ts";
import { diagnose } from "./diagnosis.ts";
import { type DiagnosisContext, diagnosisInput } from "./diagnosis_input.ts";
import { ulpSize } from "./errors.ts";
import { type EdgeSet, keyEdges, keySchedule } from "./geometry.ts";
import { elementOwner } from "./lanes.ts";
import { addressOf, addressWords, extentsOf } from "./layout.ts";
import { type AnswerOf, type InspectWhat, WINDOW_KEYS } from "./messages.ts";
import { type Operands, operandsOf, termOf, topTerms } from "./operands.ts";
import { type SoftmaxTrace, softmaxTrace } from "./softmax_trace.ts";
import { rankOf } from "./worst.ts";

export interface ElementContext extends DiagnosisContext {
  readonly lse: RouteOutput | undefined;
}

/** Keys [begin, end) around `key`, at most `size` of them. */
export function windowAround(
  keys: number,
  key: number,
  size: number,
): { readonly begin: number; readonly end: number } {
  if (keys <= size) return { begin: 0, end: keys };
  const begin = Math.min(keys - size, Math.max(0, key - (size >> 1)));
  return { begin, end: begin + size };
}

/** Bytes of the typed arrays of an answer. */
export function arrayBytes(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, item: unknown) => sum + arrayBytes(item), 0);
}

/** The bit pattern of an element, `0x` and as many digits as the dtype has. */
export function bitsOf({ dtype, bytes }: RouteOutput, index: number): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bits = dtype === "f32" ? view.getUint32(index * 4, true) : view.getUint16(index * 2, true);
  return `0x${bits.toString(16).padStart(dtype === "f32" ? 8 : 4, "0")}`;
}

/** Edges inside [begin, end), with their labels. */
export function cutEdges(set: EdgeSet, begin: number, end: number): EdgeSet {
  const first = set.edges.findIndex((edge) => edge > begin);
  if (first < 0) return { ...set, edges: set.edges.slice(0, 0), labels: [] };
  const last = set.edges.findLastIndex((edge) => edge < end) + 1;
  return { ...set, edges: set.edges.slice(first, last), labels: set.labels.slice(first, last) };
}

/** Steps whose keys lie in the window; partitions and merge stay whole. */
export function cutTrace(trace: SoftmaxTrace, begin: number, end: number): SoftmaxTrace {
  let first = 0;
  while (first < trace.end.length && trace.end[first]! <= begin) first++;
  let last = first;
  while (last < trace.begin.length && trace.begin[last]! < end) last++;
  return {
    ...trace,
    begin: trace.begin.slice(first, last),
    end: trace.end.slice(first, last),
    partition: trace.partition.slice(first, last),
    m: trace.m.slice(first, last),
    s: trace.s.slice(first, last),
    o: trace.o.slice(first, last),
    m32: trace.m32.slice(first, last),
    s32: trace.s32.slice(first, last),
    o32: trace.o32.slice(first, last),
  };
}

function keyAnswer({ source }: CaseOperands, operands: Operands, key: number | null): AnswerOf<"element">["key"] {
  const chosen = key ?? topTerms(operands, 1)[0]?.key;
  if (chosen === undefined) return null;
  const term = termOf(operands, chosen);
  return {
    parts: source.parts.map(({ name, key: row }) => ({
      name: `k${suffix(name)}`,
      values: Float32Array.from(row(chosen)),
    })),
    term,
  };
}

function suffix(part: string): string {
  return part === "" ? "" : `_${part}`;
}

/** Throws RangeError for an index outside the output and for a key that its row does not see. */
export function elementAnswer(
  context: ElementContext,
  what: Extract<InspectWhat, { kind: "element" }>,
): AnswerOf<"element"> {
  const { shape, plan, out, lse, errors, oracle } = context;
  const extents = extentsOf(shape);
  const { index } = what;
  const address = addressOf(extents, index);
  const made = caseOperands(shape, context.buffers, address);
  const { source } = made;
  const operands = operandsOf(source);
  const key = keyAnswer(made, operands, what.key);
  const { begin, end } = windowAround(source.keys, key?.term.key ?? 0, WINDOW_KEYS);
  const row = address.token * extents.heads + address.head;
  const edges = keyEdges(plan, source.keys).map((set) => cutEdges(set, begin, end));
  return {
    kind: "element",
    index,
    address,
    words: addressWords(shape, address),
    dtype: out.dtype,
    output: out.values[index]!,
    bits: bitsOf(out, index),
    oracle: oracle.out[index]!,
    abs: errors.abs[index]!,
    relative: errors.relative[index]!,
    ulp: errors.ulp[index]!,
    signed: errors.signed[index]!,
    ulpSize: ulpSize(oracle.out[index]!, out.dtype),
    rank: rankOf(errors, what.measure, index),
    owner: elementOwner(shape, plan, address),
    row: {
      m: oracle.m[row]!,
      s: oracle.s[row]!,
      lse: oracle.lse[row]!,
      outputLse: lse?.values[row] ?? null,
    },
    kvHead: made.kvHead,
    sequence: made.sequence,
    keys: source.keys,
    firstKey: made.firstKey,
    scale: source.scale,
    query: source.parts.map(({ name, query }) => ({ name: `q${suffix(name)}`, values: Float32Array.from(query) })),
    key,
    window: { begin, end },
    scores: operands.scores.slice(begin, end),
    scores32: operands.scores32.slice(begin, end),
    weights: operands.weights.slice(begin, end),
    weights32: operands.weights32.slice(begin, end),
    values: operands.values.slice(begin, end),
    max: operands.max,
    sum: operands.sum,
    lse: operands.lse,
    rebuilt: operands.out,
    absolute: operands.absolute,
    top: topTerms(operands, what.top),
    edges,
    trace: cutTrace(softmaxTrace(operands, keySchedule(plan, source.keys)), begin, end),
    diagnosis: diagnose(diagnosisInput(context, index, made, operands)),
  };
}
