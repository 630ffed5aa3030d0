/** The operands of an element make the oracle's value, bit for bit, whatever the route's schedule. */
import { describe, expect, it } from "vitest";
import { keySchedule, planOf } from "../../../electron/analysis/geometry.ts";
import { type OperandSource, operandsOf, termOf, topTerms } from "../../../electron/analysis/operands.ts";
import { softmaxTrace } from "../../../electron/analysis/softmax_trace.ts";
import { decodeShape } from "../../../electron/cases/case.ts";
import { gqaDecode } from "../../../oracle/attention.ts";
import { generateDecode } from "../../../oracle/generator.ts";
import { ceilBounds, finalize, merge, partition } from "../../../oracle/online.ts";
import { gqaDecodeTwin } from "../../../oracle/twin.ts";

const SHAPE = { heads: 8, kvHeads: 1, dim: 512, live: 131, scale: 1 } as const;
const INPUTS = generateDecode({ seed: 7, variant: "mid", ...SHAPE });
const ORACLE = gqaDecode({ ...INPUTS, ...SHAPE });
const HEAD = 5;
const DIM = 77;

function decodeSource(head: number, dim: number, live: number = SHAPE.live): OperandSource {
  const width = SHAPE.dim;
  return {
    keys: live,
    scale: SHAPE.scale,
    parts: [
      {
        name: "",
        query: INPUTS.q.subarray(head * width, (head + 1) * width),
        key: (j) => INPUTS.k.subarray(j * width, (j + 1) * width),
      },
    ],
    value: (j) => INPUTS.v[j * width + dim]!,
  };
}

/** A row with given scores: one key dimension, query 1. */
function scored(scores: readonly number[], values: readonly number[]): OperandSource {
  return {
    keys: scores.length,
    scale: 1,
    parts: [{ name: "", query: Float32Array.of(1), key: (j) => Float32Array.of(scores[j]!) }],
    value: (j) => values[j]!,
  };
}

const OPERANDS = operandsOf(decodeSource(HEAD, DIM));

describe("operands of a real case", () => {
  it("make the oracle's bits: out, m, s, lse and sum p|v|", () => {
    const index = HEAD * SHAPE.dim + DIM;
    expect(OPERANDS.out.f64).toBe(ORACLE.out[index]);
    expect(OPERANDS.max.f64).toBe(ORACLE.m[HEAD]);
    expect(OPERANDS.sum.f64).toBe(ORACLE.s[HEAD]);
    expect(OPERANDS.lse.f64).toBe(ORACLE.lse[HEAD]);
    expect(OPERANDS.absolute).toBe(ORACLE.absolute[index]);
  });

  it("show f32 beside it: the twin's bits", () => {
    const twin = gqaDecodeTwin({ ...INPUTS, ...SHAPE }, "f32");
    expect(OPERANDS.out.f32).toBe(twin[HEAD * SHAPE.dim + DIM]);
    expect(OPERANDS.out.f32).not.toBe(OPERANDS.out.f64);
    expect(OPERANDS.out.f32).toBeCloseTo(OPERANDS.out.f64, 5);
    expect(OPERANDS.lse.f32).toBeCloseTo(OPERANDS.lse.f64, 4);
  });

  it("hold every term", () => {
    let sum = 0;
    for (let j = 0; j < OPERANDS.keys; j++) {
      const term = termOf(OPERANDS, j);
      expect(term.weight).toBe(Math.exp(term.score - OPERANDS.max.f64) / OPERANDS.sum.f64);
      expect(term.value).toBe(INPUTS.v[j * SHAPE.dim + DIM]);
      sum += term.term;
    }
    expect(sum).toBe(OPERANDS.out.f64);
    expect(() => termOf(OPERANDS, 131)).toThrow("key is 131; the row sees 131 keys");
  });

  it("name the heaviest keys, equal ones by index", () => {
    const sorted = [...OPERANDS.weights.keys()].sort((a, b) => OPERANDS.weights[b]! - OPERANDS.weights[a]! || a - b);
    expect(topTerms(OPERANDS, 9).map((term) => term.key)).toEqual(sorted.slice(0, 9));
    expect(topTerms(operandsOf(scored([0, 1, 1, 0], [1, 2, 3, 4])), 3).map((term) => term.key)).toEqual([1, 2, 0]);
    expect(topTerms(OPERANDS, 0)).toEqual([]);
  });

  it("are read a key at a time", () => {
    const reads: number[] = [];
    const values: number[] = [];
    const source = decodeSource(HEAD, DIM);
    const part = source.parts[0]!;
    operandsOf({
      ...source,
      parts: [
        {
          ...part,
          key: (j) => {
            reads.push(j);
            return part.key(j);
          },
        },
      ],
      value: (j) => {
        values.push(j);
        return source.value(j);
      },
    });
    const once = Array.from({ length: SHAPE.live }, (_, j) => j);
    expect([reads, values]).toEqual([once, once]);
  });
});

describe("rows out of the ordinary", () => {
  it("without a key give 0 and -inf", () => {
    const none = operandsOf(scored([], []));
    expect(none).toMatchObject({ keys: 0, max: { f64: Number.NEGATIVE_INFINITY, f32: Number.NEGATIVE_INFINITY } });
    expect([none.out.f64, none.sum.f64, none.lse.f64, none.out.f32]).toEqual([0, 0, Number.NEGATIVE_INFINITY, 0]);
    expect(softmaxTrace(none, keySchedule(undefined, 0)).merged.out).toEqual({ f64: 0, f32: 0 });
  });

  it("fully masked give 0, and a masked key has no weight whatever its value", () => {
    const masked = Number.NEGATIVE_INFINITY;
    const all = operandsOf(scored([masked, masked], [1, 2]));
    expect([all.out.f64, all.out.f32, all.lse.f64]).toEqual([0, 0, masked]);
    const some = operandsOf(scored([0, masked], [3, Number.POSITIVE_INFINITY]));
    expect([some.out.f64, some.out.f32, some.weights[1]]).toEqual([3, 3, 0]);
    expect(termOf(some, 1).term).toBe(0);
    const trace = softmaxTrace(all, { online: true, bounds: [0, 1, 2], tile: 1, words: "" });
    expect([...trace.s, ...trace.o, ...trace.s32]).toEqual([0, 0, 0, 0, 0, 0]);
    expect(trace.merged.out).toEqual({ f64: 0, f32: 0 });
  });

  it("with a score that no softmax is defined for are refused", () => {
    expect(() => operandsOf(scored([0, Number.NaN], [1, 1]))).toThrow("key 1: the score is NaN");
  });
});

describe("the trace", () => {
  const shape = decodeShape(SHAPE);

  it("of the fused route is the algebra of online softmax: partitions of the plan, tiles of 4", () => {
    const schedule = keySchedule(planOf(shape, "fused_split_kv_p32"), SHAPE.live);
    expect(schedule).toMatchObject({ online: true, tile: 4 });
    const bounds = ceilBounds(SHAPE.live, 32);
    expect(schedule.bounds).toEqual(bounds);
    const trace = softmaxTrace(OPERANDS, schedule);
    const states = partition(OPERANDS.scores, OPERANDS.values, 1, bounds);
    for (const [p, state] of states.entries()) {
      expect(trace.partitions.m[p]).toBe(state.m);
      expect(trace.partitions.s[p]).toBeCloseTo(state.s, 12);
      expect(trace.partitions.o[p]).toBeCloseTo(state.o[0]!, 12);
      expect([trace.partitions.begin[p], trace.partitions.end[p]]).toEqual([bounds[p], bounds[p + 1]]);
    }
    const whole = finalize(merge(states));
    expect(trace.merged.out.f64).toBeCloseTo(whole.out[0]!, 14);
    expect(trace.merged.lse.f64).toBeCloseTo(whole.lse, 13);
    expect(trace.merged.out.f64).toBeCloseTo(OPERANDS.out.f64, 14);
    expect(trace.merged.out.f32).toBeCloseTo(OPERANDS.out.f64, 5);
    // ceil(131 / 32) = 5 keys a partition: a tile of 4 and one of 1; 27 partitions have keys, the last one 1.
    expect(trace.begin).toHaveLength(53);
    expect([...trace.end.subarray(0, 4)]).toEqual([4, 5, 9, 10]);
    expect([...trace.partition.subarray(0, 4)]).toEqual([0, 0, 1, 1]);
    expect(trace.partitions.m[31]).toBe(Number.NEGATIVE_INFINITY);
    expect(trace.partitions.factor[31]).toBe(0);
  });

  it("raises the maximum and rescales within a partition, and only there", () => {
    const operands = operandsOf(scored([0, 2, 1, 3], [1, 1, 1, 1]));
    const trace = softmaxTrace(operands, { online: true, bounds: [0, 4], tile: 1, words: "" });
    expect([...trace.m]).toEqual([0, 2, 2, 3]);
    expect(trace.s[1]).toBeCloseTo(Math.exp(-2) + 1, 14);
    expect(trace.s[3]).toBeCloseTo((Math.exp(-2) + 1 + Math.exp(-1)) * Math.exp(-1) + 1, 14);
    expect(trace.merged.out.f64).toBeCloseTo(1, 14);
  });

  it("of a plain softmax has the row's maximum in every step", () => {
    const schedule = keySchedule(planOf(shape, "three_stage"), SHAPE.live);
    expect(schedule).toMatchObject({ online: false, tile: null });
    expect(schedule.bounds).toEqual(ceilBounds(SHAPE.live, 16));
    const trace = softmaxTrace(OPERANDS, schedule);
    expect(new Set(trace.m)).toEqual(new Set([OPERANDS.max.f64]));
    expect(trace.merged.out.f64).toBeCloseTo(OPERANDS.out.f64, 14);
    expect(trace.merged.s.f64).toBeCloseTo(OPERANDS.sum.f64, 11);
  });
});
