/** Each known mistake is made here by a small kernel of its own, in f32, and must be found; what is none must not be. */
import { describe, expect, it } from "vitest";
import { type DiagnosisInput, diagnose, type OtherRow } from "../../../electron/analysis/diagnosis.ts";
import type { KeySchedule } from "../../../electron/analysis/geometry.ts";

const WIDTH = 8;
const SCALE = 0.25;

/** A generator of its own: values in [-1, 1). */
function noise(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

interface Row {
  readonly keys: number;
  readonly scores: Float64Array;
  readonly columns: readonly Float64Array[];
  readonly schedule: KeySchedule;
}

/** A row whose scores rise here and there, so that an online softmax must rescale. One more key follows that is not seen. */
function rowOf(keys: number, schedule: Partial<KeySchedule> = {}): Row {
  const next = noise(keys);
  return {
    keys,
    scores: Float64Array.from({ length: keys + 1 }, (_, j) => 2 * next() + (2 * j) / keys),
    columns: Array.from({ length: WIDTH }, () => Float64Array.from({ length: keys + 1 }, next)),
    schedule: { online: true, bounds: [0, keys], tile: 4, words: "", ...schedule },
  };
}

const PARTS = { bounds: [0, 13, 26, 40] } as const;

/** Softmax over some keys, each with a factor on its weight. */
function attend(row: Row, column: Float64Array, factor: (key: number) => number, end = row.keys): number {
  let [s, o] = [0, 0];
  for (let j = 0; j < end; j++) {
    const weight = Math.exp(row.scores[j]! - 3) * factor(j);
    s += weight;
    o += weight * column[j]!;
  }
  return o / s;
}

const right = (row: Row, column: Float64Array): number => attend(row, column, () => 1);

type Kernel = (row: Row, column: Float64Array) => number;

/** An online softmax in tiles that may forget to rescale. */
function online(row: Row, column: Float64Array, rescaleS: boolean, rescaleO: boolean): number {
  let [m, s, o] = [Number.NEGATIVE_INFINITY, 0, 0];
  for (let begin = 0; begin < row.keys; begin += 4) {
    const end = Math.min(row.keys, begin + 4);
    const before = m;
    for (let j = begin; j < end; j++) m = Math.max(m, row.scores[j]!);
    if (rescaleS) s *= Math.exp(before - m);
    if (rescaleO) o *= Math.exp(before - m);
    for (let j = begin; j < end; j++) {
      s += Math.exp(row.scores[j]! - m);
      o += Math.exp(row.scores[j]! - m) * column[j]!;
    }
  }
  return o / s;
}

/** Partial states of the partitions, put together by `merge`. */
function split(
  row: Row,
  column: Float64Array,
  merge: (states: readonly { m: number; s: number; o: number }[]) => number,
): number {
  const { bounds } = row.schedule;
  return merge(
    bounds.slice(0, -1).map((begin, p) => {
      const end = bounds[p + 1]!;
      const m = Math.max(...row.scores.subarray(begin, end));
      let [s, o] = [0, 0];
      for (let j = begin; j < end; j++) {
        s += Math.exp(row.scores[j]! - m);
        o += Math.exp(row.scores[j]! - m) * column[j]!;
      }
      return { m, s, o };
    }),
  );
}

const sumOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

function diagnosisOf(row: Row, kernel: Kernel, more: Partial<DiagnosisInput> = {}): ReturnType<typeof diagnose> {
  const probes = row.columns.map((column) => ({
    output: Math.fround(kernel(row, column)),
    reference: right(row, column),
    column,
    absolute: attend(
      row,
      column.map((value) => Math.abs(value)),
      () => 1,
    ),
  }));
  return diagnose({
    dtype: "f32",
    probes,
    row: { keys: row.keys, scores: row.scores, scale: SCALE, width: 512, schedule: row.schedule },
    limit: 1e-6,
    drift: 1e-8,
    places: { count: 8, of: 4096, words: null },
    others: [],
    otherKeys: [],
    ...more,
  });
}

const WRONG: readonly (readonly [name: string, row: Row, kernel: Kernel, says: string])[] = [
  ["the last key", rowOf(41), (r, v) => attend(r, v, (j) => (j < 40 ? 1 : 0)), "the last key (40) were left out"],
  ["the first key", rowOf(41), (r, v) => attend(r, v, (j) => (j > 0 ? 1 : 0)), "the first key (0) were left out"],
  [
    "the last key twice",
    rowOf(41),
    (r, v) => attend(r, v, (j) => (j < 40 ? 1 : 2)),
    "the last key (40) were counted twice",
  ],
  [
    "a partial tile",
    rowOf(43),
    (r, v) => attend(r, v, (j) => (j < 40 ? 1 : 0)),
    "the last, partial tile (keys 40 to 42) were left out",
  ],
  [
    "a mask by one",
    rowOf(40),
    (r, v) => attend(r, v, () => 1, 41),
    "key 40, which the row must not see, were taken in",
  ],
  [
    "a partition",
    rowOf(40, PARTS),
    (r, v) => attend(r, v, (j) => (j < 13 || j >= 26 ? 1 : 0)),
    "partition 1 (keys 13 to 25) were left out",
  ],
  [
    "one partition alone",
    rowOf(40, PARTS),
    (r, v) => attend(r, v, (j) => (j >= 26 ? 1 : 0)),
    "partition 2 (keys 26 to 39) alone were taken",
  ],
  ["any key", rowOf(40), (r, v) => attend(r, v, (j) => (j === 17 ? 0 : 1)), "key 17 were left out"],
  [
    "any tile",
    rowOf(40),
    (r, v) => attend(r, v, (j) => (j >= 8 && j < 12 ? 0 : 1)),
    "the tile of keys 8 to 11 were left out",
  ],
  ["no rescale", rowOf(40), (r, v) => online(r, v, false, false), "sum and output were not rescaled"],
  ["no rescale of o", rowOf(40), (r, v) => online(r, v, true, false), "the output were not rescaled"],
  ["no rescale of s", rowOf(40), (r, v) => online(r, v, false, true), "the sum were not rescaled"],
  [
    "a merge without factors",
    rowOf(40, PARTS),
    (r, v) => split(r, v, (all) => sumOf(all.map(({ o }) => o)) / sumOf(all.map(({ s }) => s))),
    "without the factors exp(m − M)",
  ],
  [
    "a mean of partitions",
    rowOf(40, PARTS),
    (r, v) => split(r, v, (all) => sumOf(all.map(({ o, s }) => o / s)) / all.length),
    "averaged, not weighted by their sums",
  ],
  [
    "no division",
    rowOf(40),
    (r, v) =>
      right(r, v) *
      sumOf([...r.scores.subarray(0, 40)].map((s) => Math.exp(s - Math.max(...r.scores.subarray(0, 40))))),
    "not divided by the sum",
  ],
  [
    "exp2",
    rowOf(40),
    (r, v) => attend(r, v, (j) => 2 ** r.scores[j]! / Math.exp(r.scores[j]!)),
    "2^x were taken for exp(x)",
  ],
  [
    "no scale",
    rowOf(40),
    (r, v) => attend(r, v, (j) => Math.exp(r.scores[j]! / SCALE - r.scores[j]!)),
    "the softmax scale were left out",
  ],
  [
    "scale twice",
    rowOf(40),
    (r, v) => attend(r, v, (j) => Math.exp(r.scores[j]! * SCALE - r.scores[j]!)),
    "the softmax scale were applied twice",
  ],
  [
    "a scale of its own",
    rowOf(40),
    (r, v) => attend(r, v, (j) => Math.exp(r.scores[j]! / Math.sqrt(512) - r.scores[j]!)),
    "scaled by 512^−0.5 besides",
  ],
  [
    "sums without factors",
    rowOf(40, PARTS),
    (r, v) =>
      split(r, v, (all) => {
        const m = Math.max(...all.map((state) => state.m));
        return sumOf(all.map((state) => state.o * Math.exp(state.m - m))) / sumOf(all.map((state) => state.s));
      }),
    "the partitions' sums were added up without the factors",
  ],
  [
    "an edge of a partition",
    rowOf(40, PARTS),
    (r, v) => attend(r, v, (j) => (j === 25 ? 0 : 1)),
    "the last key of partition 1 (25) were left out",
  ],
  ["no weights", rowOf(40), (r, v) => attend(r, v, (j) => Math.exp(-r.scores[j]!)), "every key had the same weight"],
];

describe("a known mistake", () => {
  it.each(WRONG)("is found: %s", (_, row, kernel, says) => {
    const { kind, sentence } = diagnosisOf(row, kernel);
    expect(sentence).toContain(says);
    expect(kind).toBe("pattern");
    expect(sentence).toContain("8 probed elements of the row");
  });

  it("is found where another head's row was written", () => {
    const row = rowOf(40);
    const references = row.columns.map((_, dim) => 0.1 * dim - 0.3);
    const others: readonly OtherRow[] = [
      { words: "head 2", references: references.map((value) => value + 1) },
      { words: "head 3", references },
    ];
    const kernel: Kernel = (r, column) => references[r.columns.indexOf(column)]!;
    expect(diagnosisOf(row, kernel, { others }).sentence).toContain("the output of head 3 were written here");
    expect(diagnosisOf(row, kernel).kind).toBe("none");
  });
});

it("other keys that were read are named", () => {
  const row = rowOf(40);
  const other = rowOf(41);
  const keys = { scores: other.scores.subarray(0, 40), keys: 40, scale: SCALE, width: 512, schedule: row.schedule };
  const otherKeys = [{ words: "the keys of KV head 2 were read", row: keys, columns: other.columns }];
  const kernel: Kernel = (r, column) =>
    attend({ ...other, keys: 40 }, other.columns[r.columns.indexOf(column)]!, () => 1);
  expect(diagnosisOf(row, kernel, { otherKeys }).sentence).toContain("the keys of KV head 2 were read");
});

describe("what is no known mistake", () => {
  it("is said to be none, and what was tried", () => {
    const next = noise(7);
    const { kind, sentence } = diagnosisOf(rowOf(200), (r, v) => right(r, v) + 0.05 * next());
    expect(kind).toBe("none");
    expect(sentence).toMatch(/^No pattern found \(tried: .*\); 8 elements of 4,096 beyond the limit$/);
  });

  it("is a matter of this element where the rest of the row is right", () => {
    const row = rowOf(40);
    const kernel: Kernel = (r, v) => right(r, v) + (v === r.columns[0] ? 0.01 : 0);
    const { kind, sentence } = diagnosisOf(row, kernel, { places: { count: 2, of: 4096, words: "all in lane 13" } });
    expect(kind).toBe("place");
    expect(sentence).toContain("The other probed elements of its row are right");
    expect(sentence).toContain("2 elements beyond the limit, all in lane 13");
  });

  it("names the part that all wrong elements share", () => {
    const next = noise(9);
    const { kind, sentence } = diagnosisOf(rowOf(40), (r, v) => right(r, v) + 0.05 * next(), {
      places: { count: 8, of: 4096, words: "all in head 5" },
    });
    expect([kind, sentence]).toEqual([
      "place",
      "No known mistake of the softmax gives this output; 8 elements beyond the limit, all in head 5",
    ]);
  });

  it("needs no explanation within the limit", () => {
    expect(diagnosisOf(rowOf(40), right).kind).toBe("within");
    expect(diagnosisOf(rowOf(40), right, { limit: null }).sentence).toMatch(/^Within rounding/);
  });

  it("one number is not enough to name one key of many", () => {
    const row = { ...rowOf(40), columns: rowOf(40).columns.slice(0, 1) };
    expect(diagnosisOf(row, (r, v) => attend(r, v, (j) => (j === 17 ? 0 : 1))).kind).not.toBe("pattern");
  });
});

describe("an output that is no number, or was not written", () => {
  it("is told apart", () => {
    const nan = diagnosisOf(rowOf(40), () => Number.NaN);
    expect(nan.kind).toBe("not_finite");
    expect(nan.sentence).toContain("The output is NaN");
    expect(diagnosisOf(rowOf(40), () => Number.POSITIVE_INFINITY).sentence).toContain("infinite");
    expect(diagnosisOf(rowOf(40), () => 0).kind).toBe("unwritten");
  });
});
