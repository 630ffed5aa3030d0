/** Planted faults show up in every summary, at the right index. */
import { describe, expect, it } from "vitest";
import type { Axis } from "../../../electron/analysis/cells.ts";
import { errorArrays, FLAG } from "../../../electron/analysis/errors.ts";
import { outputEdges, planOf } from "../../../electron/analysis/geometry.ts";
import { heatMap, notFiniteOf } from "../../../electron/analysis/heat_map.ts";
import { laneErrors } from "../../../electron/analysis/lanes.ts";
import { positionProfile } from "../../../electron/analysis/position_profile.ts";
import { headSummaries, sequenceSummaries, ulpSummary, wholeSummary } from "../../../electron/analysis/summaries.ts";
import { rankOf, worstElements } from "../../../electron/analysis/worst.ts";
import { FRAGMENT_8X8, ownerOf } from "../../../kernels/fragments.ts";
import { at, ELEMENTS, EXTENTS, PREFILL, planted } from "./planted.ts";

function analysed(change: (output: Float64Array) => void) {
  const { reference, output } = planted(change);
  const errors = errorArrays(output, reference, "f32");
  const profile = (axis: Axis) => positionProfile(errors, EXTENTS, axis, "abs");
  return {
    errors,
    whole: wholeSummary(errors, reference),
    heads: headSummaries(errors, reference, EXTENTS),
    sequences: sequenceSummaries(errors, reference, EXTENTS, PREFILL),
    ulp: ulpSummary(output, reference, errors, "f32"),
    token: profile("token"),
    head: profile("head"),
    dim: profile("dim"),
    map: (rows: number, columns: number) =>
      heatMap(errors, EXTENTS, { measure: "abs", rowAxis: "head", columnAxis: "token", rows, columns }),
    worst: (count: number) => [...worstElements(errors, "abs", count)],
    lanes: laneErrors(errors, PREFILL, FRAGMENT_8X8, "abs"),
  };
}

/** Places of an array that hold something other than 0. */
function places(values: ArrayLike<number>): readonly number[] {
  return Array.from({ length: values.length }, (_, i) => i).filter((i) => values[i] !== 0);
}

describe("an output without a fault", () => {
  it("has no error anywhere", () => {
    const found = analysed(() => undefined);
    expect(found.whole).toEqual({
      label: "case",
      elements: ELEMENTS,
      maxAbs: 0,
      meanAbs: 0,
      maxUlp: 0,
      at: 0,
      nmse: 0,
      nan: 0,
      infinite: 0,
      identical: ELEMENTS,
    });
    expect(found.ulp).toMatchObject({ identical: ELEMENTS, nan: 0, p50: 0, p999: 0, max: 0 });
    expect(places(found.token.max)).toEqual([]);
    const map = found.map(3, 70);
    expect(map.range).toEqual({ low: 0, high: 0 });
    expect(map.histogram).toMatchObject({ zeros: 3 * 70, infinite: 0, empty: 0 });
    expect(map.notFinite).toEqual({ nan: 0, infinite: 0, firstNan: null, firstInfinite: null });
  });
});

describe.each([
  ["NaN", Number.NaN, FLAG.nan],
  ["Inf", Number.NEGATIVE_INFINITY, FLAG.infinite],
] as const)("one %s", (_name, value, flag) => {
  const index = at(33, 1, 5);
  const found = analysed((output) => {
    output[index] = value;
  });

  it("is counted, with its first index", () => {
    const counts = flag === FLAG.nan ? { nan: 1, infinite: 0 } : { nan: 0, infinite: 1 };
    expect(found.whole).toMatchObject({ ...counts, maxAbs: 0 });
    expect(notFiniteOf(found.errors.flags)).toEqual({
      ...counts,
      firstNan: flag === FLAG.nan ? index : null,
      firstInfinite: flag === FLAG.nan ? null : index,
    });
    expect(found.heads.map((head) => head.nan + head.infinite)).toEqual([0, 1, 0]);
    expect(found.sequences.map((sequence) => sequence.nan + sequence.infinite)).toEqual([1, 0]);
    expect(found.ulp.nan).toBe(counts.nan);
    expect(found.ulp.max).toBe(flag === FLAG.nan ? Number.POSITIVE_INFINITY : found.errors.ulp[index]);
  });

  it("is flagged at its place along every axis, and leaves the finite values alone", () => {
    expect(places(found.token.flags)).toEqual([33]);
    expect(places(found.head.flags)).toEqual([1]);
    expect(places(found.dim.flags)).toEqual([5]);
    expect(found.token.flags[33]).toBe(flag);
    expect(places(found.token.max)).toEqual([]);
  });

  it("never disappears from the heat map, whatever the size", () => {
    for (const [rows, columns, cell] of [
      [3, 70, 70 + 33],
      [2, 7, 7 + 3],
      [1, 1, 0],
    ] as const) {
      const map = found.map(rows, columns);
      expect(places(map.flags)).toEqual([cell]);
      expect(map.flags[cell]).toBe(flag);
      expect(map.notFinite.nan + map.notFinite.infinite).toBe(1);
      expect(map.values.every((shown) => shown === 0)).toBe(true);
    }
  });

  it("is the worst element, and belongs to its lane", () => {
    expect(found.worst(2)).toEqual([index, 0]);
    expect(rankOf(found.errors, "abs", index)).toEqual({ rank: 1, of: ELEMENTS, previous: null, next: 0 });
    const { lane, element } = ownerOf(FRAGMENT_8X8, { row: 33 % 8, column: 5 });
    expect(places(found.lanes.flags)).toEqual([lane * 2 + element]);
  });
});

describe("one element wrong", () => {
  const index = at(65, 2, 31);
  const found = analysed((output) => {
    output[index] = output[index]! + 2 ** -10;
  });

  it("is the largest error everywhere, at its index", () => {
    const error = 2 ** -10;
    expect(found.whole).toMatchObject({ maxAbs: error, at: index, identical: ELEMENTS - 1, maxUlp: 2 ** 13 });
    expect(found.heads.map((head) => head.maxAbs)).toEqual([0, 0, error]);
    expect(found.heads[2]!.at).toBe(index);
    expect(found.sequences.map((sequence) => sequence.maxAbs)).toEqual([0, error]);
    expect(found.sequences[1]).toMatchObject({ label: "sequence 1", queries: 30, keys: 30, at: index });
    for (const [profile, place] of [
      [found.token, 65],
      [found.head, 2],
      [found.dim, 31],
    ] as const) {
      expect(places(profile.max)).toEqual([place]);
      expect(profile.at[place]).toBe(index);
      expect(profile.max[place]).toBe(error);
      expect(profile.mean[place]).toBeCloseTo((error * profile.length) / ELEMENTS, 12);
    }
    expect(found.ulp.above.reduce((a, b) => a + b)).toBe(1);
    expect(found.ulp.above[found.ulp.limits.indexOf(2 ** 16)]).toBe(1);
    expect(found.ulp.below.every((count) => count === 0)).toBe(true);
    expect(found.worst(3)).toEqual([index, 0, 1]);
    expect(places(found.lanes.max)).toHaveLength(1);
  });

  it("stays in the heat map when 210 cells are pooled to one", () => {
    for (const [rows, columns] of [
      [3, 70],
      [3, 11],
      [1, 1],
    ] as const) {
      const map = found.map(rows, columns);
      const cells = places(map.values);
      expect(cells).toHaveLength(1);
      expect(map.at[cells[0]!]).toBe(index);
      expect(map.values[cells[0]!]).toBe(2 ** -10);
      expect(map.range).toEqual({ low: 2 ** -10 / 10, high: 2 ** -10 });
      expect(map.histogram.counts.reduce((a, b) => a + b)).toBe(1);
      expect(map.histogram.zeros).toBe(209);
    }
  });
});

describe("a whole head wrong", () => {
  const found = analysed((output) => {
    for (let token = 0; token < EXTENTS.tokens; token++) {
      for (let dim = 0; dim < EXTENTS.width; dim++) output[at(token, 1, dim)]! *= 1 - 2 ** -8;
    }
  });

  it("is seen as that head and no other", () => {
    expect(places(found.head.max)).toEqual([1]);
    expect(found.heads.map((head) => head.identical)).toEqual([2240, 0, 2240]);
    expect(found.heads[1]!.nmse).toBeCloseTo(2 ** -16, 9);
    expect(places(found.map(3, 5).values)).toEqual([5, 6, 7, 8, 9]);
    expect(found.ulp.below.reduce((a, b) => a + b)).toBe(2240);
    expect(found.worst(100).every((index) => Math.floor(index / EXTENTS.width) % 3 === 1)).toBe(true);
  });
});

describe("the rows at an edge wrong", () => {
  const edges = outputEdges(PREFILL, planOf(PREFILL, "simdgroup_8x8"), "token");
  const block = edges.find((set) => set.kind === "block")!;

  it("lies on a line that the chart draws, with its name", () => {
    // Token 72 does not exist: the second sequence has 30 tokens, so its only block edge would lie at 40 + 32.
    expect([...block.edges]).toEqual([32]);
    expect(block.labels).toEqual(["query block 1"]);
    const found = analysed((output) => {
      for (let head = 0; head < 3; head++) output[at(32, head, 0)]! += 2 ** -4;
    });
    expect(places(found.token.max)).toEqual([...block.edges]);
    expect(found.worst(3)).toEqual([at(32, 0, 0), at(32, 1, 0), at(32, 2, 0)]);
  });

  it("tiles restart at every sequence, and the sequence has its own line", () => {
    expect(edges.map((set) => set.kind)).toEqual(["tile", "block", "sequence"]);
    expect([...edges[0]!.edges]).toEqual([8, 16, 24, 32, 48, 56, 64]);
    expect([...edges[2]!.edges]).toEqual([40]);
    expect(edges[2]!.labels).toEqual(["sequence 1"]);
  });
});
