/**
 * The definition of both operators in float64, written to be read. It shares no code with any kernel and does no tiling
 * and no online softmax: scores of a row, their maximum, exponentials, sum, weighted mean.
 */

/** Values of a tensor, already widened. */
export type Values = Float64Array | Float32Array;

/**
 * Results. Rows are query heads (decode) or `queryRow * heads + head` (prefill).
 *
 * `m` is the row maximum of the scaled scores, `s` the sum of exp(score - m), `lse` = m + ln s (natural).
 * `conditioning` is the largest finite scale * sum_d |q_d k_d| over the live keys of the row: how large the terms are
 * that a score is a sum of. `absolute` is sum_j p_j |v_j|, the same for the output. A row without a live key, or with
 * every score -inf, has m = lse = -inf, s = 0 and output 0.
 */
export interface AttentionResult {
  readonly out: Float64Array;
  readonly m: Float64Array;
  readonly s: Float64Array;
  readonly lse: Float64Array;
  readonly conditioning: Float64Array;
  readonly absolute: Float64Array;
}

/** q `[heads, dim]`, k and v `[tokens >= live, kvHeads, dim]`. Query head h reads KV head floor(h / (heads / kvHeads)). */
export interface DecodeInput {
  readonly q: Values;
  readonly k: Values;
  readonly v: Values;
  readonly heads: number;
  readonly kvHeads: number;
  readonly dim: number;
  readonly live: number;
  readonly scale: number;
}

/**
 * qNope `[Tq, heads, nope]`, qRope `[Tq, heads, rope]`, kNope `[Tk, heads, nope]`, kRope `[Tk, rope]` (one head, shared),
 * v `[Tk, heads, value]`. Sequence b owns query rows cuSeqlensQ[b] to cuSeqlensQ[b + 1] and keys cuSeqlensK[b] to
 * cuSeqlensK[b + 1]; its query row i stands at position qOffset[b] + i of its keys and sees keys up to that position.
 */
export interface PrefillInput {
  readonly qNope: Values;
  readonly qRope: Values;
  readonly kNope: Values;
  readonly kRope: Values;
  readonly v: Values;
  readonly heads: number;
  readonly nope: number;
  readonly rope: number;
  readonly value: number;
  readonly cuSeqlensQ: ArrayLike<number>;
  readonly cuSeqlensK: ArrayLike<number>;
  readonly qOffset: ArrayLike<number>;
  readonly scale: number;
}

/** Room for the results of `rows` rows of `width` values. */
function emptyResult(rows: number, width: number): AttentionResult {
  const column = () => new Float64Array(rows);
  return {
    out: new Float64Array(rows * width),
    m: column(),
    s: column(),
    lse: column(),
    conditioning: column(),
    absolute: new Float64Array(rows * width),
  };
}

/** The largest score; -inf for none. Throws RangeError for NaN and +inf, which no softmax is defined for. */
export function rowMaximum(scores: Float64Array, row: number): number {
  let m = Number.NEGATIVE_INFINITY;
  for (let j = 0; j < scores.length; j++) {
    const score = scores[j]!;
    if (Number.isNaN(score) || score === Number.POSITIVE_INFINITY) {
      throw new RangeError(`row ${row}, key ${j}: the score is ${score}; scores are finite or -inf: mend the inputs`);
    }
    if (score > m) m = score;
  }
  return m;
}

/**
 * Softmax of `scores` and the weighted mean of values, written to row `row` of `result`. The value row of key j starts
 * at v[first + j * stride]. A key with score -inf has no weight, whatever its value holds.
 */
function attendRow(
  result: AttentionResult,
  row: number,
  scores: Float64Array,
  v: Values,
  first: number,
  stride: number,
  width: number,
): void {
  const m = rowMaximum(scores, row);
  result.m[row] = m;
  if (m === Number.NEGATIVE_INFINITY) {
    result.lse[row] = Number.NEGATIVE_INFINITY;
    return;
  }
  let s = 0;
  for (const score of scores) s += Math.exp(score - m);
  const at = row * width;
  const { out, absolute } = result;
  for (let j = 0; j < scores.length; j++) {
    if (scores[j] === Number.NEGATIVE_INFINITY) continue;
    const weight = Math.exp(scores[j]! - m) / s;
    const from = first + j * stride;
    for (let d = 0; d < width; d++) {
      const term = weight * v[from + d]!;
      out[at + d]! += term;
      absolute[at + d]! += Math.abs(term);
    }
  }
  result.s[row] = s;
  result.lse[row] = m + Math.log(s);
}

/** Softmax rows over given scores: `scores[rows][n]` and v `[n, width]`. What the stress fixtures are stated in. */
export function softmaxRows(scores: readonly Float64Array[], v: Values, width: number): AttentionResult {
  const result = emptyResult(scores.length, width);
  for (const [row, rowScores] of scores.entries()) attendRow(result, row, rowScores, v, 0, width, width);
  return result;
}

function checkLength(name: string, values: Values, atLeast: number): void {
  if (values.length < atLeast) {
    throw new RangeError(`${name} holds ${values.length} values and the shape needs ${atLeast}: correct one of them`);
  }
}

/** The heads of a decode shape. Throws RangeError where they do not divide. */
export function checkHeads(heads: number, kvHeads: number): void {
  if (!(kvHeads >= 1 && heads >= 1 && heads % kvHeads === 0)) {
    throw new RangeError(
      `${heads} query heads do not divide among ${kvHeads} KV heads: use a multiple of the KV heads as query heads`,
    );
  }
}

/** GQA decode: `score[h, t] = scale * q[h] . k[t, kv(h)]`, `out[h] = sum_t softmax_t(score) v[t, kv(h)]`. */
export function gqaDecode(input: DecodeInput): AttentionResult {
  const { q, k, v, heads, kvHeads, dim, live, scale } = input;
  checkHeads(heads, kvHeads);
  checkLength("q", q, heads * dim);
  checkLength("k", k, live * kvHeads * dim);
  checkLength("v", v, live * kvHeads * dim);
  const result = emptyResult(heads, dim);
  const scores = new Float64Array(live);
  for (let h = 0; h < heads; h++) {
    const kvHead = Math.floor(h / (heads / kvHeads));
    for (let t = 0; t < live; t++) {
      const key = (t * kvHeads + kvHead) * dim;
      let dot = 0;
      let size = 0;
      for (let d = 0; d < dim; d++) {
        const term = q[h * dim + d]! * k[key + d]!;
        dot += term;
        size += Math.abs(term);
      }
      scores[t] = scale * dot;
      noteConditioning(result, h, Math.abs(scale) * size);
    }
    attendRow(result, h, scores, v, kvHead * dim, kvHeads * dim, dim);
  }
  return result;
}

function noteConditioning(result: AttentionResult, row: number, size: number): void {
  if (size > result.conditioning[row]! && size < Number.POSITIVE_INFINITY) result.conditioning[row] = size;
}

/** Sequence bounds: start at 0, never decrease, end at `rows`. Throws RangeError naming the offending entry. */
function checkCuSeqlens(name: string, bounds: ArrayLike<number>, rows?: number): void {
  if (bounds.length < 2) {
    throw new RangeError(`${name} has ${bounds.length} entries; B sequences need B + 1, so at least 2`);
  }
  if (bounds[0] !== 0) throw new RangeError(`${name}[0] is ${bounds[0]}; the first sequence starts at 0`);
  for (let b = 1; b < bounds.length; b++) {
    if (!(Number.isSafeInteger(bounds[b]!) && bounds[b]! >= bounds[b - 1]!)) {
      throw new RangeError(`${name}[${b}] is ${bounds[b]} after ${bounds[b - 1]}: bounds must not decrease`);
    }
  }
  const last = bounds[bounds.length - 1]!;
  if (rows !== undefined && last !== rows) {
    throw new RangeError(`${name} ends at ${last} and there are ${rows} rows: the last bound is the number of rows`);
  }
}

/** Number of keys that query row `i` of a sequence sees: those up to its own position, at most all of them. */
export function visibleKeys(offset: number, i: number, keys: number): number {
  return Math.max(0, Math.min(keys, offset + i + 1));
}

/**
 * MLA prefill, causal: `score = scale * (qNope . kNope + qRope . kRope)`, softmax over the visible keys, weighted mean of
 * v. Out is `[Tq, heads, value]`; m, s, lse and conditioning are `[Tq, heads]`.
 */
export function mlaPrefill(input: PrefillInput): AttentionResult {
  const { qNope, qRope, kNope, kRope, v, heads, nope, rope, value, cuSeqlensQ, cuSeqlensK, qOffset, scale } = input;
  checkCuSeqlens("cu_seqlens_q", cuSeqlensQ);
  checkCuSeqlens("cu_seqlens_k", cuSeqlensK);
  const sequences = cuSeqlensQ.length - 1;
  if (cuSeqlensK.length !== cuSeqlensQ.length || qOffset.length !== sequences) {
    throw new RangeError(
      `cu_seqlens_q, cu_seqlens_k and q_offset have ${cuSeqlensQ.length}, ${cuSeqlensK.length} and ${qOffset.length} ` +
        "entries; B sequences need B + 1, B + 1 and B",
    );
  }
  const queries = cuSeqlensQ[sequences]!;
  const keys = cuSeqlensK[sequences]!;
  checkLength("q_nope", qNope, queries * heads * nope);
  checkLength("q_rope", qRope, queries * heads * rope);
  checkLength("k_nope", kNope, keys * heads * nope);
  checkLength("k_rope", kRope, keys * rope);
  checkLength("v", v, keys * heads * value);

  const result = emptyResult(queries * heads, value);
  for (let b = 0; b < sequences; b++) {
    const firstQuery = cuSeqlensQ[b]!;
    const firstKey = cuSeqlensK[b]!;
    for (let i = 0; firstQuery + i < cuSeqlensQ[b + 1]!; i++) {
      const scores = new Float64Array(visibleKeys(qOffset[b]!, i, cuSeqlensK[b + 1]! - firstKey));
      for (let h = 0; h < heads; h++) {
        const row = (firstQuery + i) * heads + h;
        for (let j = 0; j < scores.length; j++) {
          const key = firstKey + j;
          let dot = 0;
          let size = 0;
          for (let d = 0; d < nope; d++) {
            const term = qNope[row * nope + d]! * kNope[(key * heads + h) * nope + d]!;
            dot += term;
            size += Math.abs(term);
          }
          for (let d = 0; d < rope; d++) {
            const term = qRope[row * rope + d]! * kRope[key * rope + d]!;
            dot += term;
            size += Math.abs(term);
          }
          scores[j] = scale * dot;
          noteConditioning(result, row, Math.abs(scale) * size);
        }
        attendRow(result, row, scores, v, (firstKey * heads + h) * value, heads * value, value);
      }
    }
  }
  return result;
}
