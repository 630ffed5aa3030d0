import { describe, expect, test } from "vitest";
import { softmaxRows } from "../../oracle/attention.ts";
import {
  ceilBounds,
  checkBounds,
  emptyState,
  finalize,
  floorBounds,
  type InvalidStateCode,
  InvalidStateError,
  merge,
  type PartialState,
  partial,
  partition,
  SCRATCH_LIMIT_BYTES,
  scratchBytes,
} from "../../oracle/online.ts";
import { readTensor, type SafetensorsFile } from "../../oracle/safetensors.ts";
import { largest, openGolden, softmaxCases, values, worstDifference } from "./golden.ts";

/** Scores of query head h and the values of its KV head, contiguous. */
function headOf(file: SafetensorsFile, h: number) {
  const [heads, dim] = file.entries.get("q")!.shape as [number, number];
  const [live, kvHeads] = file.entries.get("k")!.shape as [number, number];
  const q = values(file, "q");
  const k = values(file, "k");
  const v = values(file, "v");
  const kvHead = Math.floor(h / (heads / kvHeads));
  const scores = new Float64Array(live);
  const rows = new Float64Array(live * dim);
  for (let t = 0; t < live; t++) {
    const from = (t * kvHeads + kvHead) * dim;
    for (let d = 0; d < dim; d++) scores[t]! += q[h * dim + d]! * k[from + d]!;
    rows.set(v.subarray(from, from + dim), t * dim);
  }
  return { scores, rows, dim, heads, live };
}

function expectPartials(file: SafetensorsFile, set: string, heads: readonly number[]) {
  const bounds = readTensor(file, `${set}.bounds`).data;
  const m = values(file, `${set}.m`);
  const s = values(file, `${set}.s`);
  const o = file.entries.has(`${set}.o`) ? values(file, `${set}.o`) : undefined;
  const out = values(file, "out_f64");
  const lse = values(file, file.entries.has("lse_f64") ? "lse_f64" : "m_f64");
  for (const h of heads) {
    const head = headOf(file, h);
    const states = partition(head.scores, head.rows, head.dim, bounds);
    for (const [p, state] of states.entries()) {
      const at = p * head.heads + h;
      expect(worstDifference([state.m], [m[at]!]), `${set} m ${p}`).toBeLessThanOrEqual(1e-13);
      expect(worstDifference([state.s], [s[at]!], () => Math.max(1, state.s))).toBeLessThanOrEqual(1e-13);
      if (o === undefined) continue;
      const stored = o.subarray(at * head.dim, (at + 1) * head.dim);
      expect(worstDifference(state.o, stored, () => Math.max(1, state.s))).toBeLessThanOrEqual(
        1e-13 * Math.max(1, largest(head.rows)),
      );
    }
    const row = finalize(merge(states));
    expect(worstDifference(row.out, out.subarray(h * head.dim, (h + 1) * head.dim))).toBeLessThanOrEqual(
      1e-13 * Math.max(1, largest(head.rows)),
    );
    if (file.entries.has("lse_f64")) expect(Math.abs(row.lse - lse[h]!)).toBeLessThanOrEqual(1e-13);
  }
}

describe("13 tokens of 17 dimensions", () => {
  const file = openGolden("gqa_merge_L13_d17");
  const sets = ["ceil", "floor"].flatMap((rule) => [1, 2, 3, 4, 7, 16].map((p) => [rule, p] as const));

  test.each(sets)("%s rule, %i-way", (rule, p) => {
    const bounds = rule === "ceil" ? ceilBounds(13, p) : floorBounds(13, p);
    expect(bounds).toEqual([...readTensor(file, `part_${rule}_P${p}.bounds`).data]);
    expectPartials(file, `part_${rule}_P${p}`, [0, 1, 2, 3]);
  });

  test("16 ways leave empty partitions", () => {
    const { scores, rows } = headOf(file, 0);
    const states = partition(scores, rows, 17, ceilBounds(13, 16));
    expect(states.slice(13)).toEqual([emptyState(17), emptyState(17), emptyState(17)]);
  });

  test("merging does not depend on the grouping", () => {
    const { scores, rows } = headOf(file, 3);
    const states = partition(scores, rows, 17, floorBounds(13, 7));
    const flat = finalize(merge(states));
    const left = finalize(states.reduce((a, b) => merge([a, b]), emptyState(17)));
    const tree = finalize(merge([merge(states.slice(0, 4)), merge(states.slice(4))]));
    const reverse = finalize(merge(states.toReversed()));
    for (const other of [left, tree, reverse]) {
      expect(worstDifference(other.out, flat.out)).toBeLessThanOrEqual(1e-15);
      expect(Math.abs(other.lse - flat.lse)).toBeLessThanOrEqual(1e-15);
    }
  });
});

describe("captured and generated decode", () => {
  test.each(["part_P4", "part_P7", "part_P16", "part_uneven"])("L127 %s", (set) => {
    expectPartials(openGolden("gqa_decode_d512_L127_h32kv4_gemma4_f32"), set, [0, 13, 31]);
  });
  test.each(["part_P4", "part_P7", "part_P16", "part_uneven"])("L1023 %s", (set) => {
    expectPartials(openGolden("gqa_decode_d512_L1023_h8kv1_bf16"), set, [0, 7]);
  });
});

test("every softmax stress case is the same in 5 partitions", () => {
  for (const { rows, v, width } of softmaxCases(openGolden("softmax_stress"))) {
    const whole = softmaxRows(rows, v, width);
    for (const [r, scores] of rows.entries()) {
      const row = finalize(merge(partition(scores, v, width, ceilBounds(scores.length, 5))));
      const size = Math.max(largest(v), Number.MIN_VALUE);
      expect(worstDifference(row.out, whole.out.subarray(r * width, (r + 1) * width)) / size).toBeLessThanOrEqual(
        1e-14,
      );
      expect(worstDifference([row.lse], [whole.lse[r]!])).toBeLessThanOrEqual(1e-12);
    }
  }
});

test("a row without live keys finalises to zeros", () => {
  const masked = partial([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY], [1, 2, 3, 4], 2);
  expect(masked).toEqual(emptyState(2));
  expect(finalize(merge([masked, emptyState(2)]))).toEqual({
    out: new Float64Array(2),
    lse: Number.NEGATIVE_INFINITY,
  });
  expect(partial([], [], 3)).toEqual(emptyState(3));
});

describe("invalid states are refused with their reason", () => {
  const good: PartialState = { m: 1, s: 1.5, o: Float64Array.of(1, 2) };
  const empty = emptyState(2);
  const bad: readonly (readonly [InvalidStateCode, PartialState])[] = [
    ["m_nan", { ...good, m: Number.NaN }],
    ["m_plus_infinity", { ...good, m: Number.POSITIVE_INFINITY }],
    ["s_nan", { ...good, s: Number.NaN }],
    ["s_negative", { ...good, s: -1 }],
    ["s_negative", { ...empty, s: -1 }],
    ["s_infinite", { ...good, s: Number.POSITIVE_INFINITY }],
    ["s_zero_for_finite_m", { ...good, s: 0 }],
    ["s_not_zero_for_empty", { ...empty, s: 1 }],
    ["o_not_zero_for_empty", { ...empty, o: Float64Array.of(0, 1) }],
    ["o_not_zero_for_empty", { ...empty, o: Float64Array.of(0, Number.NaN) }],
    ["o_not_finite", { ...good, o: Float64Array.of(Number.NaN, 1) }],
    ["o_not_finite", { ...good, o: Float64Array.of(0, Number.NEGATIVE_INFINITY) }],
    ["width_differs", { ...good, o: Float64Array.of(1) }],
  ];

  test.each(bad)("%s", (code, state) => {
    const attempt = () => merge([good, state]);
    expect(attempt).toThrow(InvalidStateError);
    expect(attempt).toThrow(expect.objectContaining({ code }));
    expect(attempt).toThrow(/state 1/);
    if (code !== "width_differs") expect(() => finalize(state)).toThrow(expect.objectContaining({ code }));
  });

  test("nothing to merge, and a score of NaN", () => {
    expect(() => merge([])).toThrow(expect.objectContaining({ code: "no_states" }));
    expect(() => partial([Number.NaN, 1], [1, 2], 1)).toThrow(InvalidStateError);
    expect(() => partial([Number.POSITIVE_INFINITY], [1], 1)).toThrow(
      expect.objectContaining({ code: "m_plus_infinity" }),
    );
  });
});

test("bounds must cover the live tokens", () => {
  checkBounds([0, 0, 4, 4, 9], 9);
  expect(() => checkBounds([0], 0)).toThrow(/make no partition/);
  expect(() => checkBounds([1, 9], 9)).toThrow(/bound 0 is 1/);
  expect(() => checkBounds([0, 5, 4, 9], 9)).toThrow(/bound 2 is 4 after 5/);
  expect(() => checkBounds([0, 8], 9)).toThrow(/last bound is 8 and 9 tokens/);
  expect(() => ceilBounds(-1, 4)).toThrow(/live length is -1/);
  expect(() => floorBounds(8, 0)).toThrow(/0 partitions/);
});

describe("scratch", () => {
  test("of 32 partitions is exactly what the design states, linear in P", () => {
    expect(scratchBytes(32, 32, 512)).toEqual({ m: 4096, s: 4096, o: 2_097_152, total: 2_105_344 });
    for (const p of [64, 128, 256]) expect(scratchBytes(p, 32, 512).total).toBe((2_105_344 * p) / 32);
  });

  test("overflow is refused by product", () => {
    expect(() => scratchBytes(2 ** 17, 32, 512)).toThrow(/o scratch of 131072 x 32 x 512 x 4 bytes exceeds/);
    expect(() => scratchBytes(2 ** 40, 2 ** 40, 1)).toThrow(/m scratch/);
    expect(() => scratchBytes(2 ** 52, 2 ** 52, 2 ** 52)).toThrow(String(SCRATCH_LIMIT_BYTES));
    // Each product fits and the sum does not.
    expect(() => scratchBytes(2 ** 15 - 1, 2 ** 15, 1)).toThrow(/m, s and o scratch/);
    expect(() => scratchBytes(0, 32, 512)).toThrow(/partitions is 0/);
    expect(() => scratchBytes(32, 1.5, 512)).toThrow(/heads is 1.5/);
  });
});
