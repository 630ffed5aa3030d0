/**
 * One output element, term by term: scores of its row, maximum, weights, sum, value column and the output they make, in
 * float64 as the oracle has it, and in f32 beside. Keys are streamed: a row at a time, none is kept.
 *
 * The f32 side rounds every product and sum, in index order. It shows what f32 costs here, not the bits of a device, which
 * adds in another order.
 */
import { rowMaximum, type Values } from "../../oracle/attention.ts";
import { expF32 } from "../../oracle/twin.ts";

/** A part of the key row: `q` and `k` of decode; `nope`, then `rope` of prefill. */
export interface OperandPart {
  readonly name: string;
  readonly query: Values;
  /** The same part of key `j`. The array may be used again for the next key. */
  readonly key: (j: number) => Values;
}

/** The inputs of one output element. Keys are those that its row sees, counted from 0. */
export interface OperandSource {
  readonly keys: number;
  readonly parts: readonly OperandPart[];
  /** The element's dimension of value row `j`. */
  readonly value: (j: number) => number;
  readonly scale: number;
}

/** A figure in float64, and in f32 in index order. */
export interface Pair {
  readonly f64: number;
  readonly f32: number;
}

/** Arrays have one value for each key. */
export interface Operands {
  readonly keys: number;
  readonly scores: Float64Array;
  readonly scores32: Float32Array;
  /** softmax weights, normalised; 0 for a key with score -inf. */
  readonly weights: Float64Array;
  readonly weights32: Float32Array;
  /** The element's column of v. */
  readonly values: Float32Array;
  readonly max: Pair;
  readonly sum: Pair;
  readonly lse: Pair;
  /** sum_j weights[j] * values[j] in index order: the oracle's value, rebuilt. */
  readonly out: Pair;
  /** sum_j weights[j] * |values[j]|: how large the terms are that the output is a sum of. */
  readonly absolute: number;
}

/** What one key adds to the element. */
export interface Term {
  readonly key: number;
  readonly score: number;
  readonly weight: number;
  readonly value: number;
  /** weight * value. */
  readonly term: number;
}

function scoresOf({ keys, parts, scale }: OperandSource): Pick<Operands, "scores" | "scores32"> {
  const scores = new Float64Array(keys);
  const scores32 = new Float32Array(keys);
  const scale32 = Math.fround(scale);
  for (let j = 0; j < keys; j++) {
    let dot = 0;
    let dot32 = 0;
    for (const { query, key } of parts) {
      const row = key(j);
      for (let d = 0; d < query.length; d++) {
        const term = query[d]! * row[d]!;
        dot += term;
        dot32 = Math.fround(dot32 + Math.fround(term));
      }
    }
    scores[j] = scale * dot;
    scores32[j] = scale32 * dot32;
  }
  return { scores, scores32 };
}

/** Largest score in f32. NaN, which only rounding can make here (-inf + inf), does not count. */
function maximum32(scores: Float32Array): number {
  let m = Number.NEGATIVE_INFINITY;
  for (const score of scores) if (score > m) m = score;
  return m;
}

/**
 * Every operand of an element. Throws RangeError for a score that is NaN or +inf, which no softmax is defined for. A row
 * without a key, or with every score -inf, has maximum and lse -inf, sum 0 and output 0.
 */
export function operandsOf(source: OperandSource): Operands {
  const { keys } = source;
  const { scores, scores32 } = scoresOf(source);
  const weights = new Float64Array(keys);
  const weights32 = new Float32Array(keys);
  const values = new Float32Array(keys);
  const m = rowMaximum(scores, 0);
  const m32 = maximum32(scores32);
  let s = 0;
  let s32 = 0;
  for (let j = 0; j < keys; j++) {
    if (scores[j] !== Number.NEGATIVE_INFINITY) {
      weights[j] = Math.exp(scores[j]! - m);
      s += weights[j]!;
    }
    if (scores32[j] !== Number.NEGATIVE_INFINITY) {
      weights32[j] = expF32(Math.fround(scores32[j]! - m32));
      s32 = Math.fround(s32 + weights32[j]!);
    }
  }
  let out = 0;
  let out32 = 0;
  let absolute = 0;
  for (let j = 0; j < keys; j++) {
    const value = source.value(j);
    values[j] = value;
    if (scores[j] !== Number.NEGATIVE_INFINITY) {
      weights[j] = weights[j]! / s;
      const term = weights[j]! * value;
      out += term;
      absolute += Math.abs(term);
    }
    if (scores32[j] !== Number.NEGATIVE_INFINITY) {
      weights32[j] = weights32[j]! / s32;
      out32 = Math.fround(out32 + Math.fround(weights32[j]! * value));
    }
  }
  return {
    keys,
    scores,
    scores32,
    weights,
    weights32,
    values,
    max: { f64: m, f32: m32 },
    sum: { f64: s, f32: s32 },
    lse: { f64: s === 0 ? m : m + Math.log(s), f32: s32 === 0 ? m32 : Math.fround(m32 + Math.fround(Math.log(s32))) },
    out: { f64: out, f32: out32 },
    absolute,
  };
}

/** What key `j` adds. Throws RangeError for a key that the row does not see. */
export function termOf(operands: Operands, j: number): Term {
  if (!Number.isInteger(j) || j < 0 || j >= operands.keys) {
    throw new RangeError(`key is ${j}; the row sees ${operands.keys} keys`);
  }
  const weight = operands.weights[j]!;
  const value = operands.values[j]!;
  // A key without weight adds nothing, whatever its value holds.
  return { key: j, score: operands.scores[j]!, weight, value, term: weight === 0 ? 0 : weight * value };
}

/** The keys of largest weight, largest first, equal ones by index. */
export function topTerms(operands: Operands, count: number): readonly Term[] {
  const { weights } = operands;
  const top: number[] = [];
  for (let j = 0; j < operands.keys; j++) {
    if (top.length === count && !(weights[j]! > weights[top[count - 1]!]!)) continue;
    let at = top.length;
    while (at > 0 && weights[j]! > weights[top[at - 1]!]!) at--;
    top.splice(at, 0, j);
    if (top.length > count) top.pop();
  }
  return count === 0 ? [] : top.map((j) => termOf(operands, j));
}
