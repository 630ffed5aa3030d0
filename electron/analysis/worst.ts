/**
 * Elements in order of badness: NaN, then infinite, then by magnitude of the measure, largest first; equal ones by index,
 * so that the order is total and the same every time.
 */
import { type ErrorArrays, FLAG, type Measure } from "./errors.ts";

/** A key that sorts elements: larger is worse. */
function badness(flag: number, value: number): number {
  if (flag & FLAG.nan) return Number.POSITIVE_INFINITY;
  if (flag & FLAG.infinite) return Number.MAX_VALUE;
  // A relative error against a zero reference is infinite and still better than an output that is.
  return Math.min(Math.abs(value), Number.MAX_VALUE / 2);
}

class Order {
  readonly #flags: Uint8Array;
  readonly #values: Float64Array;

  constructor(errors: ErrorArrays, measure: Measure) {
    this.#flags = errors.flags;
    this.#values = errors[measure];
  }

  get length(): number {
    return this.#flags.length;
  }

  /** True if element `a` comes before element `b`. */
  before(a: number, b: number): boolean {
    const x = badness(this.#flags[a]!, this.#values[a]!);
    const y = badness(this.#flags[b]!, this.#values[b]!);
    return x > y || (x === y && a < b);
  }
}

/** Flat indices of the `count` worst elements, worst first. */
export function worstElements(errors: ErrorArrays, measure: Measure, count: number): Int32Array {
  const order = new Order(errors, measure);
  const size = Math.min(count, order.length);
  // A heap whose root is the best of those kept: one pass, and memory for `count` only.
  const heap: number[] = [];
  const sink = (from: number): void => {
    for (let at = from; ; ) {
      let last = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && order.before(heap[last]!, heap[child]!)) last = child;
      }
      if (last === at) return;
      [heap[at], heap[last]] = [heap[last]!, heap[at]!];
      at = last;
    }
  };
  for (let i = 0; i < order.length && size > 0; i++) {
    if (heap.length < size) {
      heap.push(i);
      if (heap.length === size) for (let at = (size >> 1) - 1; at >= 0; at--) sink(at);
    } else if (order.before(i, heap[0]!)) {
      heap[0] = i;
      sink(0);
    }
  }
  return Int32Array.from(heap.sort((a, b) => (order.before(a, b) ? -1 : 1)));
}

/** The place of an element in the order, and its neighbours. */
export interface Rank {
  /** 1 for the worst. */
  readonly rank: number;
  readonly of: number;
  /** The next worse element; null for the worst. */
  readonly previous: number | null;
  /** The next less bad element; null for the last. */
  readonly next: number | null;
}

/** Throws RangeError outside the output. */
export function rankOf(errors: ErrorArrays, measure: Measure, index: number): Rank {
  const order = new Order(errors, measure);
  if (!Number.isInteger(index) || index < 0 || index >= order.length) {
    throw new RangeError(`index is ${index}; the output has ${order.length} elements`);
  }
  let worse = 0;
  let previous: number | null = null;
  let next: number | null = null;
  for (let i = 0; i < order.length; i++) {
    if (i === index) continue;
    if (order.before(i, index)) {
      worse++;
      if (previous === null || order.before(previous, i)) previous = i;
    } else if (next === null || order.before(i, next)) next = i;
  }
  return { rank: worse + 1, of: order.length, previous, next };
}
