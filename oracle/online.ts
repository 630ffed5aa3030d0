/**
 * The algebra of online softmax: a partition of the keys gives a state (m, s, o), states merge in any grouping, and the
 * finalised merge is the softmax over all keys. Fused split-KV kernels compute exactly this in f32.
 */

/**
 * State of one row over some keys: m the maximum score, s = sum exp(score - m), o = sum exp(score - m) v, unnormalised.
 * Without a live key: m = -inf, s = 0, o = 0.
 */
export interface PartialState {
  readonly m: number;
  readonly s: number;
  readonly o: Float64Array;
}

export type InvalidStateCode =
  | "m_nan"
  | "m_plus_infinity"
  | "s_nan"
  | "s_negative"
  | "s_infinite"
  | "s_zero_for_finite_m"
  | "s_not_zero_for_empty"
  | "o_not_zero_for_empty"
  | "o_not_finite"
  | "width_differs"
  | "no_states";

/** A state that no set of keys can produce. `code` says which rule it breaks. */
export class InvalidStateError extends Error {
  override readonly name = "InvalidStateError";
  readonly code: InvalidStateCode;
  constructor(code: InvalidStateCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The state over no keys: the neutral element of `merge`. */
export function emptyState(width: number): PartialState {
  return { m: Number.NEGATIVE_INFINITY, s: 0, o: new Float64Array(width) };
}

function refuse(code: InvalidStateCode, label: string, what: string): never {
  throw new InvalidStateError(code, `${label}: ${what}; the partition that wrote it is wrong or was never written`);
}

/** Throws `InvalidStateError` for a state that cannot come from any keys. `label` names it in the message. */
function checkState(state: PartialState, label = "state"): void {
  const { m, s, o } = state;
  if (Number.isNaN(m)) refuse("m_nan", label, "m is NaN");
  if (m === Number.POSITIVE_INFINITY) refuse("m_plus_infinity", label, "m is +inf and scores are finite or -inf");
  if (Number.isNaN(s)) refuse("s_nan", label, "s is NaN");
  if (s < 0) refuse("s_negative", label, `s is ${s} and a sum of exponentials is not negative`);
  if (s === Number.POSITIVE_INFINITY) refuse("s_infinite", label, "s is +inf and each exponential is at most 1");
  const empty = m === Number.NEGATIVE_INFINITY;
  if (empty && s !== 0) refuse("s_not_zero_for_empty", label, `m is -inf (no live key) and s is ${s} instead of 0`);
  if (!empty && s === 0) refuse("s_zero_for_finite_m", label, `m is ${m} and s is 0, but the maximum itself adds 1`);
  for (let d = 0; d < o.length; d++) {
    if (empty && o[d] !== 0) {
      refuse("o_not_zero_for_empty", label, `m is -inf (no live key) and o[${d}] is ${o[d]} instead of 0`);
    }
    if (!Number.isFinite(o[d]!)) refuse("o_not_finite", label, `o[${d}] is ${o[d]}`);
  }
}

/** State over keys [begin, end): `scores[j]` and the value row `values[j * width ...]`. */
export function partial(
  scores: ArrayLike<number>,
  values: ArrayLike<number>,
  width: number,
  begin = 0,
  end = scores.length,
): PartialState {
  let m = Number.NEGATIVE_INFINITY;
  for (let j = begin; j < end; j++) m = Math.max(m, scores[j]!);
  const o = new Float64Array(width);
  let s = 0;
  if (m !== Number.NEGATIVE_INFINITY) {
    for (let j = begin; j < end; j++) {
      if (scores[j] === Number.NEGATIVE_INFINITY) continue;
      const weight = Math.exp(scores[j]! - m);
      s += weight;
      for (let d = 0; d < width; d++) o[d]! += weight * values[j * width + d]!;
    }
  }
  const state = { m, s, o };
  checkState(state, `partial state of keys ${begin} to ${end}`);
  return state;
}

/** M = max m_p, S = sum s_p exp(m_p - M), O = sum o_p exp(m_p - M). Refuses invalid states and differing widths. */
export function merge(states: readonly PartialState[]): PartialState {
  const first = states[0];
  if (first === undefined) {
    throw new InvalidStateError("no_states", "merge needs at least one state: give emptyState(width) for no keys");
  }
  const width = first.o.length;
  let m = Number.NEGATIVE_INFINITY;
  for (const [p, state] of states.entries()) {
    checkState(state, `state ${p} of ${states.length}`);
    if (state.o.length !== width) {
      throw new InvalidStateError(
        "width_differs",
        `state ${p} has ${state.o.length} values and state 0 has ${width}: merge states of one row only`,
      );
    }
    m = Math.max(m, state.m);
  }
  const o = new Float64Array(width);
  let s = 0;
  for (const state of states) {
    // -inf minus -inf is NaN, and an empty state has nothing to add.
    if (state.m === Number.NEGATIVE_INFINITY) continue;
    const factor = Math.exp(state.m - m);
    s += state.s * factor;
    for (let d = 0; d < width; d++) o[d]! += state.o[d]! * factor;
  }
  return { m, s, o };
}

/** The row's output O / S and lse = m + ln S. An empty state gives output 0 and lse -inf. */
export function finalize(state: PartialState): { readonly out: Float64Array; readonly lse: number } {
  checkState(state, "state to finalise");
  if (state.m === Number.NEGATIVE_INFINITY) {
    return { out: new Float64Array(state.o.length), lse: Number.NEGATIVE_INFINITY };
  }
  return { out: state.o.map((value) => value / state.s), lse: state.m + Math.log(state.s) };
}

function checkPartitions(live: number, partitions: number): void {
  if (!(Number.isSafeInteger(live) && live >= 0)) {
    throw new RangeError(`the live length is ${live}; it must be a whole number from 0 up`);
  }
  if (!(Number.isSafeInteger(partitions) && partitions >= 1)) {
    throw new RangeError(`there are ${partitions} partitions; use a whole number from 1 up`);
  }
}

/** The *ceil* rule: bound i is min(L, i * ceil(L / P)). Later partitions may be empty. */
export function ceilBounds(live: number, partitions: number): readonly number[] {
  checkPartitions(live, partitions);
  const size = Math.ceil(live / partitions);
  return Array.from({ length: partitions + 1 }, (_, i) => Math.min(live, i * size));
}

/** The *floor* rule: bound i is floor(i * L / P). Sizes differ by at most one. */
export function floorBounds(live: number, partitions: number): readonly number[] {
  checkPartitions(live, partitions);
  return Array.from({ length: partitions + 1 }, (_, i) => Math.floor((i * live) / partitions));
}

/** Throws RangeError unless explicit bounds cover [0, live) without overlap. Empty partitions are legal. */
export function checkBounds(bounds: ArrayLike<number>, live: number): void {
  if (bounds.length < 2) throw new RangeError(`${bounds.length} bounds make no partition; P partitions need P + 1`);
  if (bounds[0] !== 0) throw new RangeError(`bound 0 is ${bounds[0]}; partitions start at token 0`);
  for (let i = 1; i < bounds.length; i++) {
    if (!(bounds[i]! >= bounds[i - 1]!)) {
      throw new RangeError(`bound ${i} is ${bounds[i]} after ${bounds[i - 1]}: bounds must not decrease`);
    }
  }
  const last = bounds[bounds.length - 1]!;
  if (last !== live) throw new RangeError(`the last bound is ${last} and ${live} tokens are live: they must be equal`);
}

/** The row's partial states under `bounds`. */
export function partition(
  scores: ArrayLike<number>,
  values: ArrayLike<number>,
  width: number,
  bounds: ArrayLike<number>,
): readonly PartialState[] {
  checkBounds(bounds, scores.length);
  return Array.from({ length: bounds.length - 1 }, (_, p) =>
    partial(scores, values, width, bounds[p]!, bounds[p + 1]!),
  );
}

/** Bytes of split-KV scratch: m and s `[partitions, heads]`, o `[partitions, heads, dim]`. */
export interface ScratchBytes {
  readonly m: number;
  readonly s: number;
  readonly o: number;
  readonly total: number;
}

/** Kernels index scratch with 32-bit byte offsets. */
export const SCRATCH_LIMIT_BYTES = 2 ** 32 - 1;

/** Throws RangeError naming the product that does not fit in `SCRATCH_LIMIT_BYTES`. */
export function scratchBytes(partitions: number, heads: number, dim: number, elementBytes = 4): ScratchBytes {
  const factors = { partitions, heads, dim, elementBytes };
  for (const [name, value] of Object.entries(factors)) {
    if (!(Number.isSafeInteger(value) && value >= 1)) {
      throw new RangeError(`${name} is ${value}; it must be a whole number from 1 up`);
    }
  }
  const product = (what: string, ...terms: readonly number[]) => {
    // Exact while below the limit: each step multiplies two numbers below 2^53 and is checked at once.
    let bytes = 1;
    for (const term of terms) {
      bytes *= term;
      if (bytes > SCRATCH_LIMIT_BYTES) {
        throw new RangeError(
          `${what} scratch of ${terms.join(" x ")} bytes exceeds the limit of ${SCRATCH_LIMIT_BYTES}: use fewer partitions`,
        );
      }
    }
    return bytes;
  };
  const m = product("m", partitions, heads, elementBytes);
  const o = product("o", partitions, heads, dim, elementBytes);
  const total = m + m + o;
  if (total > SCRATCH_LIMIT_BYTES) {
    throw new RangeError(
      `m, s and o scratch of ${m} + ${m} + ${o} bytes exceeds the limit of ${SCRATCH_LIMIT_BYTES}: use fewer partitions`,
    );
  }
  return { m, s: m, o, total };
}
