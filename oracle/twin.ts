/**
 * The naive low-precision twin: what plain attention in a dtype gives on the same inputs. Its error against the float64
 * reference scales the tolerance of a kernel in that dtype: a kernel may be off by twice as much, and no more.
 *
 * q, k and v are values of the dtype. Score, weight and output are each rounded to the dtype; sums are f32, in index
 * order, product and addition rounded apart. Plain softmax over the whole row, no tiling. Every step is stated in
 * operations that IEEE 754 defines, so the native twin gives the same bits.
 */
import { checkHeads, type DecodeInput, type PrefillInput, type Values, visibleKeys } from "./attention.ts";
import { type FloatDtype, roundTo } from "./tensor.ts";

/** ln 2 in two parts; the high one has 20 trailing zero bits, so that k * LN2_HIGH is exact for every k used. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
/** 1 / n! for n = 13 down to 2. */
const EXP_TERMS = [
  1.6059043836821613e-10, 2.08767569878681e-9, 2.505210838544172e-8, 2.755731922398589e-7, 2.7557319223985893e-6,
  2.48015873015873e-5, 1.984126984126984e-4, 1.3888888888888889e-3, 8.333333333333333e-3, 4.1666666666666664e-2,
  0.16666666666666666, 0.5,
] as const;

/**
 * exp(x) for x <= 0, in double to a few units of its last place, then rounded to f32. Stated step by step because the
 * exp of a runtime or libm is not the same everywhere.
 */
export function expF32(x: number): number {
  // Below, half the smallest f32 subnormal: the result rounds to 0.
  if (x < -104) return 0;
  const k = Math.floor(x * Math.LOG2E + 0.5);
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  let polynomial: number = EXP_TERMS[0];
  for (let n = 1; n < EXP_TERMS.length; n++) polynomial = polynomial * r + EXP_TERMS[n]!;
  polynomial = (polynomial * r + 1) * r + 1;
  return Math.fround(polynomial * 2 ** k);
}

/** Plain softmax and weighted mean of one row. `scores` are already rounded to the dtype. */
function twinRow(
  scores: Float32Array,
  out: Float32Array,
  at: number,
  v: Values,
  first: number,
  stride: number,
  width: number,
  dtype: FloatDtype,
): void {
  let m = Number.NEGATIVE_INFINITY;
  for (const score of scores) if (score > m) m = score;
  if (m === Number.NEGATIVE_INFINITY) return;
  const weights = new Float32Array(scores.length);
  let s = 0;
  for (let j = 0; j < scores.length; j++) {
    weights[j] = expF32(Math.fround(scores[j]! - m));
    s = Math.fround(s + weights[j]!);
  }
  const sums = new Float32Array(width);
  for (let j = 0; j < scores.length; j++) {
    const weight = roundTo(Math.fround(weights[j]! / s), dtype);
    const from = first + j * stride;
    for (let d = 0; d < width; d++) sums[d] = Math.fround(sums[d]! + Math.fround(weight * v[from + d]!));
  }
  for (let d = 0; d < width; d++) out[at + d] = roundTo(sums[d]!, dtype);
}

/** f32 dot product in index order, continued from `sum`. */
function dotF32(sum: number, a: Values, aFrom: number, b: Values, bFrom: number, width: number): number {
  for (let d = 0; d < width; d++) sum = Math.fround(sum + Math.fround(a[aFrom + d]! * b[bFrom + d]!));
  return sum;
}

/** The twin of `gqaDecode`: out `[heads, dim]`, every value exact in `dtype`. */
export function gqaDecodeTwin(input: DecodeInput, dtype: FloatDtype): Float32Array {
  const { q, k, v, heads, kvHeads, dim, live } = input;
  checkHeads(heads, kvHeads);
  const scale = Math.fround(input.scale);
  const out = new Float32Array(heads * dim);
  const scores = new Float32Array(live);
  for (let h = 0; h < heads; h++) {
    const kvHead = Math.floor(h / (heads / kvHeads));
    for (let t = 0; t < live; t++) {
      const dot = dotF32(0, q, h * dim, k, (t * kvHeads + kvHead) * dim, dim);
      scores[t] = roundTo(Math.fround(scale * dot), dtype);
    }
    twinRow(scores, out, h * dim, v, kvHead * dim, kvHeads * dim, dim, dtype);
  }
  return out;
}

/** The twin of `mlaPrefill`: out `[Tq, heads, value]`, every value exact in `dtype`. */
export function mlaPrefillTwin(input: PrefillInput, dtype: FloatDtype): Float32Array {
  const { qNope, qRope, kNope, kRope, v, heads, nope, rope, value, cuSeqlensQ, cuSeqlensK, qOffset } = input;
  const scale = Math.fround(input.scale);
  const sequences = cuSeqlensQ.length - 1;
  const out = new Float32Array(cuSeqlensQ[sequences]! * heads * value);
  for (let b = 0; b < sequences; b++) {
    const firstKey = cuSeqlensK[b]!;
    for (let query = cuSeqlensQ[b]!; query < cuSeqlensQ[b + 1]!; query++) {
      const visible = visibleKeys(qOffset[b]!, query - cuSeqlensQ[b]!, cuSeqlensK[b + 1]! - firstKey);
      for (let h = 0; h < heads; h++) {
        const row = query * heads + h;
        const scores = new Float32Array(visible);
        for (let j = 0; j < visible; j++) {
          const key = firstKey + j;
          const nopePart = dotF32(0, qNope, row * nope, kNope, (key * heads + h) * nope, nope);
          const dot = dotF32(nopePart, qRope, row * rope, kRope, key * rope, rope);
          scores[j] = roundTo(Math.fround(scale * dot), dtype);
        }
        twinRow(scores, out, row * value, v, (firstKey * heads + h) * value, heads * value, value, dtype);
      }
    }
  }
  return out;
}
