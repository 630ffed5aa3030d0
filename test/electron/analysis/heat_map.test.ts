import { describe, expect, it } from "vitest";
import { binStart, cellsOf, matrixView, poolCells } from "../../../electron/analysis/cells.ts";
import { errorArrays } from "../../../electron/analysis/errors.ts";
import { autofit, heatMap, logHistogram } from "../../../electron/analysis/heat_map.ts";

const EXTENTS = { tokens: 2, heads: 3, width: 4 };
const COUNT = 24;
/** The value of an element is its flat index. */
const VALUES = Float64Array.from({ length: COUNT }, (_, i) => i);
const CLEAN = new Uint8Array(COUNT);

describe("views", () => {
  it("show two axes and pool over the third, or fix it", () => {
    const pooled = cellsOf(matrixView(EXTENTS, "head", "token"), VALUES, CLEAN);
    expect([...pooled.values]).toEqual([3, 15, 7, 19, 11, 23]);
    expect([...pooled.means]).toEqual([1.5, 13.5, 5.5, 17.5, 9.5, 21.5]);
    expect([...pooled.at]).toEqual([3, 15, 7, 19, 11, 23]);
    const fixed = cellsOf(matrixView(EXTENTS, "head", "token", { dim: 0 }), VALUES, CLEAN);
    expect([...fixed.values]).toEqual([0, 12, 4, 16, 8, 20]);
    const rowByDim = cellsOf(matrixView(EXTENTS, "token", "dim", { head: 1 }), VALUES, CLEAN);
    expect([...rowByDim.values]).toEqual([4, 5, 6, 7, 16, 17, 18, 19]);
    const line = cellsOf(matrixView(EXTENTS, null, "dim"), VALUES, CLEAN);
    expect([...line.values]).toEqual([20, 21, 22, 23]);
  });

  it("refuse axes and places that are not there", () => {
    expect(() => matrixView(EXTENTS, "dim", "dim")).toThrow("show two axes");
    expect(() => matrixView(EXTENTS, "head", "dim", { head: 1 })).toThrow("shown and fixed");
    expect(() => matrixView(EXTENTS, "head", "dim", { token: 2 })).toThrow("token is 2; it must be 0 to 1");
  });
});

describe("pooling", () => {
  it("covers every cell once, and never makes more cells than there are", () => {
    for (const length of [1, 7, 64, 65]) {
      for (const bins of [1, 3, length]) {
        const starts = Array.from({ length: bins + 1 }, (_, bin) => binStart(bin, bins, length));
        expect(starts[0]).toBe(0);
        expect(starts.at(-1)).toBe(length);
        expect(starts.every((start, i) => i === 0 || start >= starts[i - 1]!)).toBe(true);
      }
    }
    const cells = cellsOf(matrixView(EXTENTS, "head", "token"), VALUES, CLEAN);
    expect(poolCells(cells, 100, 100)).toMatchObject({ rows: 3, columns: 2 });
  });

  it("keeps the sign of the larger magnitude, and the first of equals", () => {
    const values = Float64Array.of(1, -5, 5, 2);
    const cells = cellsOf(
      matrixView({ tokens: 1, heads: 1, width: 4 }, "head", "dim"),
      values,
      Uint8Array.of(0, 0, 0, 0),
    );
    const pooled = poolCells(cells, 1, 1);
    expect(pooled.values[0]).toBe(-5);
    expect(pooled.at[0]).toBe(1);
  });

  it("shows the largest finite value, and leads to the flagged element", () => {
    const cells = cellsOf(
      matrixView({ tokens: 1, heads: 1, width: 2 }, "head", "dim"),
      Float64Array.of(Number.NaN, 0),
      Uint8Array.of(1, 0),
    );
    expect([...cells.at]).toEqual([0, 1]);
    const pooled = poolCells(cells, 1, 1);
    expect([pooled.values[0], pooled.at[0], pooled.flags[0]]).toEqual([0, 0, 1]);
  });
});

describe("the range", () => {
  it("ends at the largest and begins where a twentieth lies below; zeros do not count", () => {
    const values = Float64Array.from({ length: 100 }, (_, i) => (i + 1) / 100);
    expect(autofit(values)).toEqual({ low: 0.06, high: 1 });
    expect(autofit(Float64Array.of(...values, 0, 0, 0, Number.NaN, Number.POSITIVE_INFINITY))).toEqual({
      low: 0.06,
      high: 1,
    });
    expect(autofit(Float64Array.of(-3, 2))).toEqual({ low: 2, high: 3 });
    expect(autofit(Float64Array.of(0.5, 0.5))).toEqual({ low: 0.05, high: 0.5 });
    expect(autofit(Float64Array.of(0, Number.NaN))).toEqual({ low: 0, high: 0 });
  });
});

describe("the histogram", () => {
  it("has every cell, in whole decades", () => {
    const values = Float64Array.of(1e-5, 3e-3, -3e-3, 0.5, 0, Number.NaN, Number.POSITIVE_INFINITY);
    const histogram = logHistogram(values);
    expect(histogram).toMatchObject({ from: -5, to: 0, zeros: 1, infinite: 1, empty: 1 });
    expect(histogram.counts.reduce((a, b) => a + b)).toBe(4);
    expect(histogram.counts[0]).toBe(1);
    expect(histogram.counts[Math.floor(((Math.log10(3e-3) + 5) / 5) * 64)]).toBe(2);
    const one = logHistogram(Float64Array.of(1));
    expect([one.from, one.to, one.counts[0]]).toEqual([0, 1, 1]);
  });
});

describe("a heat map", () => {
  it("shows relative errors against zero as infinite, beside real infinities in the output", () => {
    const output = [1, 0, Number.POSITIVE_INFINITY];
    const errors = errorArrays(output, [0, 0, 1], "f32");
    const map = heatMap(
      errors,
      { tokens: 1, heads: 3, width: 1 },
      { measure: "relative", rowAxis: "head", columnAxis: "dim", rows: 3, columns: 1 },
    );
    expect([...map.values]).toEqual([Number.POSITIVE_INFINITY, 0, Number.NaN]);
    expect([...map.flags]).toEqual([0, 0, 2]);
    expect(map.notFinite).toEqual({ nan: 0, infinite: 1, firstNan: null, firstInfinite: 2 });
  });

  it("does not round a tiny error to none", () => {
    const errors = errorArrays([1e-60], [0], "f32");
    const map = heatMap(
      errors,
      { tokens: 1, heads: 1, width: 1 },
      { measure: "signed", rowAxis: "head", columnAxis: "dim", rows: 1, columns: 1 },
    );
    expect(map.values[0]).toBe(2 ** -149);
  });

  it("counts only what it shows", () => {
    const output = VALUES.slice();
    output[5] = Number.NaN;
    output[17] = Number.NaN;
    const errors = errorArrays(output, VALUES, "f32");
    const map = heatMap(errors, EXTENTS, {
      measure: "abs",
      rowAxis: "head",
      columnAxis: "dim",
      fixed: { token: 1 },
      rows: 3,
      columns: 4,
    });
    expect(map.notFinite).toMatchObject({ nan: 1, firstNan: 17 });
    expect(map).toMatchObject({ sourceRows: 3, sourceColumns: 4, rowAxis: "head", columnAxis: "dim" });
  });
});
