/**
 * The problem of a manifest's case: its tensors with named axes, exact in the case's dtype, and its shape as the oracle
 * knows it. Plain attention is the prefill operator without a rope part; KV heads are repeated for the oracle.
 */
import type { KernelDtype, PrefillShape } from "../../kernels/route.ts";
import { generateSlice, TENSOR_IDS } from "../../oracle/generator.ts";
import { roundTo } from "../../oracle/tensor.ts";
import { UsageError } from "../runs/usage.ts";
import { numberOf, type Sizes, sizeOf } from "./expression.ts";
import type { ManifestCase } from "./manifest.ts";

export type AxisName = "head" | "kvHead" | "query" | "key" | "dim";

/** Elements outermost axis first; every value is exact in the case's dtype. */
export interface LogicalTensor {
  readonly axes: readonly { readonly name: AxisName; readonly size: number }[];
  readonly values: Float32Array;
  /** Bits of an element that is an unsigned code and no float: buffers hold codes packed, low bits first. */
  readonly codeBits?: 4 | 8;
}

export interface Problem {
  readonly shape: PrefillShape;
  readonly dtype: KernelDtype;
  /** What buffers may hold: q, k, v or the five of mla_prefill. */
  readonly tensors: ReadonlyMap<string, LogicalTensor>;
  /** Axes of the outputs: `out`, and `lse` without `dim`. */
  readonly output: LogicalTensor["axes"];
  /** What the oracle reads, rows as `PrefillInput` of `oracle/attention.ts` has them. */
  readonly oracle: ReadonlyMap<"q_nope" | "q_rope" | "k_nope" | "k_rope" | "v", Float32Array>;
}

const DEFAULT_SEED = 1;

/** Values that make attention spread over many keys: q is scaled down, so that a softmax is neither flat nor one-hot. */
const QUERY_MULTIPLIER = 2 ** -1;

/** Most elements of a tensor: arrays of the manifest path are held whole. */
const MOST_ELEMENTS = 2 ** 28;

/** Most multiplications of the oracle: minutes on a laptop. */
const MOST_WORK = 2 ** 37;

/** Builds the problem. Throws `UsageError` where sizes do not fit each other. */
export function problemOf(given: ManifestCase, sizes: Sizes): Problem {
  const problem = given.operator === "attention" ? attention(given, sizes) : prefill(given, sizes);
  const { heads, nope, rope, value, cuSeqlensQ, cuSeqlensK } = problem.shape;
  const pairs = cuSeqlensQ.slice(1).reduce((sum, end, b) => {
    return sum + (end - cuSeqlensQ[b]!) * (cuSeqlensK[b + 1]! - cuSeqlensK[b]!);
  }, 0);
  const work = heads * pairs * (nope + rope + value);
  if (work > MOST_WORK) {
    const [asked, limit] = [work, MOST_WORK].map((count) => count.toLocaleString("en-US"));
    throw new UsageError(
      `case: the oracle would need ${asked} multiplications; the limit is ${limit}: take a smaller case.`,
    );
  }
  return problem;
}

function attention(given: Extract<ManifestCase, { operator: "attention" }>, sizes: Sizes): Problem {
  const size = (key: "heads" | "kvHeads" | "queries" | "keys" | "headDim"): number =>
    sizeOf(given[key], sizes, `case.${key}`, 1);
  const [heads, kvHeads, queries, keys, headDim] = [
    size("heads"),
    size("kvHeads"),
    size("queries"),
    size("keys"),
    size("headDim"),
  ];
  const valueDim = given.valueDim === undefined ? headDim : sizeOf(given.valueDim, sizes, "case.valueDim", 1);
  if (heads % kvHeads !== 0) throw new UsageError(`case: ${heads} heads are no multiple of ${kvHeads} KV heads.`);
  if (given.valueInKey && valueDim > headDim) {
    throw new UsageError(
      `case: valueDim ${valueDim} is wider than headDim ${headDim}, which valueInKey takes it from.`,
    );
  }
  if (given.quantised !== undefined && given.valueInKey) {
    throw new UsageError(
      "case: quantised keys and valueInKey exclude each other: quantised values have codes of their own.",
    );
  }
  if (given.causal && queries > keys) {
    throw new UsageError(`case: ${queries} causal queries are the last of ${keys} keys: give at least as many keys.`);
  }
  const { dtype, seed = DEFAULT_SEED } = given;
  const make = maker(dtype, seed);
  const q = make(TENSOR_IDS.q, heads * queries * headDim, QUERY_MULTIPLIER);
  const rows = { kvHeads, keys };
  const quantised = given.quantised && {
    k: quantise("k", given.quantised, { ...rows, width: headDim }, seed, sizes),
    v: quantise("v", given.quantised, { ...rows, width: valueDim }, seed, sizes),
  };
  const k = quantised?.k.values ?? make(TENSOR_IDS.k, kvHeads * keys * headDim, 1);
  const v = given.valueInKey
    ? columns(k, headDim, valueDim)
    : (quantised?.v.values ?? make(TENSOR_IDS.v, kvHeads * keys * valueDim, 1));
  const group = heads / kvHeads;
  return {
    dtype,
    shape: {
      operator: "mla_prefill",
      heads,
      nope: headDim,
      rope: 0,
      value: valueDim,
      cuSeqlensQ: [0, queries],
      cuSeqlensK: [0, keys],
      // A query at or beyond the last position sees every key.
      qOffset: [given.causal ? keys - queries : keys],
      scale: numberOf(given.scale, sizes, "case.scale"),
      dtype,
    },
    tensors: new Map([
      ["q", { axes: axes({ head: heads, query: queries, dim: headDim }), values: q }],
      ["k", { axes: axes({ kvHead: kvHeads, key: keys, dim: headDim }), values: k }],
      ["v", { axes: axes({ kvHead: kvHeads, key: keys, dim: valueDim }), values: v }],
      ...(quantised === undefined ? [] : [...quantised.k.parts, ...quantised.v.parts]),
    ]),
    output: axes({ head: heads, query: queries, dim: valueDim }),
    oracle: new Map([
      ["q_nope", byRow(q, heads, queries, headDim, 1)],
      ["q_rope", new Float32Array(0)],
      ["k_nope", byRow(k, kvHeads, keys, headDim, group)],
      ["k_rope", new Float32Array(0)],
      ["v", byRow(v, kvHeads, keys, valueDim, group)],
    ]),
  };
}

interface Quantised {
  /** scale * code + bias, exact in f32 and, as sums stay below 256, in f16 and bf16. */
  readonly values: Float32Array;
  readonly parts: readonly (readonly [string, LogicalTensor])[];
}

/** Streams of the codes and of the scales; the tensors of a case have those below. */
const CODE_STREAM = 16;

/**
 * Codes over their whole range, a power of two as the scale of each group, a whole number of scales as its bias, so that
 * dequantised values centre on zero and are exact however a kernel orders the multiplication and the addition.
 */
function quantise(
  name: "k" | "v",
  given: NonNullable<Extract<ManifestCase, { operator: "attention" }>["quantised"]>,
  { kvHeads, keys, width }: { readonly kvHeads: number; readonly keys: number; readonly width: number },
  seed: number,
  sizes: Sizes,
): Quantised {
  const group = sizeOf(given.group, sizes, "case.quantised.group", 1);
  if (width % group !== 0) {
    throw new UsageError(`case.quantised: ${name} has ${width} elements a row, no multiple of the group of ${group}.`);
  }
  const { bits } = given;
  const count = kvHeads * keys * width;
  checkCount(count);
  const id = CODE_STREAM + (name === "k" ? 0 : 2);
  const noise = generateSlice({ seed, tensor: id, bits: 8, multiplier: 1, start: 0, count });
  const groupNoise = generateSlice({ seed, tensor: id + 1, bits: 8, multiplier: 1, start: 0, count: count / group });
  const codes = noise.map((value) => Math.floor((value + 1) * 2 ** (bits - 1)));
  // Between a quarter and one, over half the range of the codes.
  const scales = groupNoise.map((value) => 2 ** (Math.floor((value + 1) * 1.5) - 1 - bits));
  const biases = groupNoise.map((value, at) => -scales[at]! * (2 ** (bits - 1) + Math.round(value * 2 ** (bits - 3))));
  const values = codes.map((code, at) => {
    const of = Math.floor(at / group);
    return scales[of]! * code + biases[of]!;
  });
  const whole = axes({ kvHead: kvHeads, key: keys, dim: width });
  const grouped = axes({ kvHead: kvHeads, key: keys, dim: width / group });
  return {
    values,
    parts: [
      [`${name}_codes`, { axes: whole, values: codes, codeBits: bits }],
      [`${name}_scales`, { axes: grouped, values: scales }],
      [`${name}_biases`, { axes: grouped, values: biases }],
    ],
  };
}

function checkCount(count: number): void {
  if (count <= MOST_ELEMENTS) return;
  throw new UsageError(
    `case: a tensor has ${count.toLocaleString("en-US")} elements; the limit is ${MOST_ELEMENTS.toLocaleString("en-US")}: take a smaller case.`,
  );
}

function prefill(given: Extract<ManifestCase, { operator: "mla_prefill" }>, sizes: Sizes): Problem {
  const size = (key: "heads" | "nope" | "value"): number => sizeOf(given[key], sizes, `case.${key}`, 1);
  const [heads, nope, value] = [size("heads"), size("nope"), size("value")];
  const rope = sizeOf(given.rope, sizes, "case.rope");
  const lengths = given.lengths.map((length, b) => sizeOf(length, sizes, `case.lengths[${b}]`));
  const asked = given.queries?.map((count, b) => sizeOf(count, sizes, `case.queries[${b}]`)) ?? lengths;
  if (asked.length !== lengths.length) {
    throw new UsageError(`case: queries has ${asked.length} sequences and lengths ${lengths.length}: give as many.`);
  }
  lengths.forEach((length, b) => {
    if (asked[b]! > length) {
      throw new UsageError(
        `case: sequence ${b} has ${asked[b]} queries and ${length} keys: queries are its last keys.`,
      );
    }
  });
  const cuSeqlensQ = cumulative(asked);
  const cuSeqlensK = cumulative(lengths);
  const [queries, keys] = [cuSeqlensQ.at(-1)!, cuSeqlensK.at(-1)!];
  const { dtype, seed = DEFAULT_SEED } = given;
  const make = maker(dtype, seed);
  const tensors = {
    q_nope: {
      axes: axes({ query: queries, head: heads, dim: nope }),
      values: make(TENSOR_IDS.q, queries * heads * nope, QUERY_MULTIPLIER),
    },
    q_rope: {
      axes: axes({ query: queries, head: heads, dim: rope }),
      values: make(TENSOR_IDS.qRope, queries * heads * rope, QUERY_MULTIPLIER),
    },
    k_nope: { axes: axes({ key: keys, head: heads, dim: nope }), values: make(TENSOR_IDS.k, keys * heads * nope, 1) },
    k_rope: { axes: axes({ key: keys, dim: rope }), values: make(TENSOR_IDS.kRope, keys * rope, 1) },
    v: { axes: axes({ key: keys, head: heads, dim: value }), values: make(TENSOR_IDS.v, keys * heads * value, 1) },
  } as const;
  return {
    dtype,
    shape: {
      operator: "mla_prefill",
      heads,
      nope,
      rope,
      value,
      cuSeqlensQ,
      cuSeqlensK,
      qOffset: lengths.map((length, b) => length - asked[b]!),
      scale: numberOf(given.scale, sizes, "case.scale"),
      dtype,
    },
    tensors: new Map(Object.entries(tensors)),
    output: axes({ query: queries, head: heads, dim: value }),
    oracle: new Map(Object.entries(tensors).map(([name, { values }]) => [name as keyof typeof tensors, values])),
  };
}

function axes(sizes: Partial<Record<AxisName, number>>): LogicalTensor["axes"] {
  return Object.entries(sizes).map(([name, size]) => ({ name: name as AxisName, size }));
}

function cumulative(lengths: readonly number[]): readonly number[] {
  const sums = [0];
  for (const length of lengths) sums.push(sums.at(-1)! + length);
  return sums;
}

/** A stream of the generator, rounded to the dtype. */
function maker(dtype: KernelDtype, seed: number) {
  return (tensor: number, count: number, multiplier: number): Float32Array => {
    checkCount(count);
    const values = generateSlice({ seed, tensor, bits: 24, multiplier, start: 0, count });
    return dtype === "f32" ? values : values.map((value) => roundTo(value, dtype));
  };
}

/** The first `width` of every `whole` elements. */
function columns(values: Float32Array, whole: number, width: number): Float32Array {
  const rows = values.length / whole;
  const out = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) out.set(values.subarray(row * whole, row * whole + width), row * width);
  return out;
}

/** [heads, rows, width] as [rows, heads * group, width], every head `group` times. */
function byRow(values: Float32Array, heads: number, rows: number, width: number, group: number): Float32Array {
  const out = new Float32Array(rows * heads * group * width);
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < heads * group; head++) {
      const from = (Math.floor(head / group) * rows + row) * width;
      out.set(values.subarray(from, from + width), (row * heads * group + head) * width);
    }
  }
  return out;
}
