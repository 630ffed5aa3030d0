/**
 * The softmax of one output element in the steps of a route: state (m, s, o) of each partition after each of its tiles, and
 * the merge of the partitions. In float64, and in f32 with every operation rounded in index order; a device adds in another
 * order, so that its last bits differ.
 */
import { expF32 } from "../../oracle/twin.ts";
import type { KeySchedule } from "./geometry.ts";
import type { Operands, Pair } from "./operands.ts";

/** States, one for each step. `o` is the sum of exp(score - m) * v of the element's dimension, not normalised. */
export interface States {
  readonly m: Float64Array;
  readonly s: Float64Array;
  readonly o: Float64Array;
  readonly m32: Float32Array;
  readonly s32: Float32Array;
  readonly o32: Float32Array;
}

export interface SoftmaxTrace extends States {
  /** False where the route takes the maximum of the whole row before it begins: then every m is that maximum. */
  readonly online: boolean;
  readonly words: string;
  /** Keys of a step: begin to end. */
  readonly begin: Int32Array;
  readonly end: Int32Array;
  /** Partition that a step belongs to. Its state starts empty at its first step. */
  readonly partition: Int32Array;
  /** Final states of the partitions, and the factor exp(m_p - M) that each enters the merge with. */
  readonly partitions: States & {
    readonly begin: Int32Array;
    readonly end: Int32Array;
    readonly factor: Float64Array;
    readonly factor32: Float32Array;
  };
  readonly merged: { readonly m: Pair; readonly s: Pair; readonly o: Pair; readonly out: Pair; readonly lse: Pair };
}

interface Step {
  readonly begin: number;
  readonly end: number;
  readonly partition: number;
}

function stepsOf({ bounds, tile }: KeySchedule): readonly Step[] {
  const steps: Step[] = [];
  for (let partition = 0; partition + 1 < bounds.length; partition++) {
    const end = bounds[partition + 1]!;
    const size = tile ?? Math.max(1, end - bounds[partition]!);
    for (let begin = bounds[partition]!; begin < end; begin += size) {
      steps.push({ begin, end: Math.min(end, begin + size), partition });
    }
  }
  return steps;
}

function emptyStates(count: number): States {
  return {
    m: new Float64Array(count).fill(Number.NEGATIVE_INFINITY),
    s: new Float64Array(count),
    o: new Float64Array(count),
    m32: new Float32Array(count).fill(Number.NEGATIVE_INFINITY),
    s32: new Float32Array(count),
    o32: new Float32Array(count),
  };
}

/** With no finite score yet there is nothing to subtract: every weight is then exp(-inf) = 0. */
function base(m: number): number {
  return m === Number.NEGATIVE_INFINITY ? 0 : m;
}

function exp32(score: number, m: number): number {
  return score === Number.NEGATIVE_INFINITY ? 0 : expF32(Math.fround(score - base(m)));
}

const fround = Math.fround;

/** The running state of one row. `m` and `m32` are those of the whole row for a plain softmax. */
class State {
  readonly #online: boolean;
  m: number;
  s = 0;
  o = 0;
  m32: number;
  s32 = 0;
  o32 = 0;

  constructor(operands: Operands, online: boolean) {
    this.#online = online;
    this.m = online ? Number.NEGATIVE_INFINITY : operands.max.f64;
    this.m32 = online ? Number.NEGATIVE_INFINITY : operands.max.f32;
  }

  add({ scores, scores32, values }: Operands, begin: number, end: number): void {
    if (this.#online) this.#raise(scores, scores32, begin, end);
    for (let j = begin; j < end; j++) {
      const score = scores[j]!;
      if (score !== Number.NEGATIVE_INFINITY) {
        const weight = Math.exp(score - base(this.m));
        this.s += weight;
        this.o += weight * values[j]!;
      }
      if (scores32[j] !== Number.NEGATIVE_INFINITY) {
        const weight32 = exp32(scores32[j]!, this.m32);
        this.s32 = fround(this.s32 + weight32);
        this.o32 = fround(this.o32 + fround(weight32 * values[j]!));
      }
    }
  }

  /** Takes the maximum of a tile in and rescales what is there. */
  #raise(scores: Float64Array, scores32: Float32Array, begin: number, end: number): void {
    let m = this.m;
    let m32 = this.m32;
    for (let j = begin; j < end; j++) {
      if (scores[j]! > m) m = scores[j]!;
      if (scores32[j]! > m32) m32 = scores32[j]!;
    }
    const rescale = Math.exp(this.m - base(m));
    const rescale32 = exp32(this.m32, m32);
    this.s *= rescale;
    this.o *= rescale;
    this.s32 = fround(this.s32 * rescale32);
    this.o32 = fround(this.o32 * rescale32);
    this.m = m;
    this.m32 = m32;
  }

  writeTo(states: States, at: number): void {
    states.m[at] = this.m;
    states.s[at] = this.s;
    states.o[at] = this.o;
    states.m32[at] = this.m32;
    states.s32[at] = this.s32;
    states.o32[at] = this.o32;
  }
}

/** The trace of an element. Partitions without a key keep the empty state: m -inf, s 0, o 0. */
export function softmaxTrace(operands: Operands, schedule: KeySchedule): SoftmaxTrace {
  const steps = stepsOf(schedule);
  const states = emptyStates(steps.length);
  const count = schedule.bounds.length - 1;
  const final = emptyStates(count);
  let state = new State(operands, schedule.online);
  for (const [at, step] of steps.entries()) {
    if (at === 0 || steps[at - 1]!.partition !== step.partition) state = new State(operands, schedule.online);
    state.add(operands, step.begin, step.end);
    state.writeTo(states, at);
    state.writeTo(final, step.partition);
  }
  return {
    online: schedule.online,
    words: schedule.words,
    begin: Int32Array.from(steps, (step) => step.begin),
    end: Int32Array.from(steps, (step) => step.end),
    partition: Int32Array.from(steps, (step) => step.partition),
    ...states,
    ...mergeStates(final, schedule.bounds),
  };
}

function mergeStates(final: States, bounds: readonly number[]): Pick<SoftmaxTrace, "partitions" | "merged"> {
  const count = final.m.length;
  const factor = new Float64Array(count);
  const factor32 = new Float32Array(count);
  const m = final.m.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const m32 = final.m32.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let [s, o, s32, o32] = [0, 0, 0, 0];
  for (let p = 0; p < count; p++) {
    if (final.m[p] !== Number.NEGATIVE_INFINITY) {
      factor[p] = Math.exp(final.m[p]! - m);
      s += final.s[p]! * factor[p]!;
      o += final.o[p]! * factor[p]!;
    }
    factor32[p] = exp32(final.m32[p]!, m32);
    s32 = fround(s32 + fround(final.s32[p]! * factor32[p]!));
    o32 = fround(o32 + fround(final.o32[p]! * factor32[p]!));
  }
  return {
    partitions: {
      begin: Int32Array.from(bounds.slice(0, -1)),
      end: Int32Array.from(bounds.slice(1)),
      ...final,
      factor,
      factor32,
    },
    merged: {
      m: { f64: m, f32: m32 },
      s: { f64: s, f32: s32 },
      o: { f64: o, f32: o32 },
      out: { f64: s === 0 ? 0 : o / s, f32: s32 === 0 ? 0 : fround(o32 / s32) },
      lse: { f64: s === 0 ? m : m + Math.log(s), f32: s32 === 0 ? m32 : fround(m32 + fround(Math.log(s32))) },
    },
  };
}
