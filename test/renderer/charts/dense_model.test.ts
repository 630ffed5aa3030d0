import { describe, expect, it } from "vitest";
import { cursorAfter } from "../../../renderer/charts/chart_frame.tsx";
import {
  columnsOf,
  type DenseData,
  linearTicks,
  pointCount,
  xRange,
  yRange,
} from "../../../renderer/charts/dense_model.ts";

function dataOf(values: readonly number[], more: Partial<DenseData> = {}): DenseData {
  const series = [{ label: "max", values, color: "--cat-1", look: "line" }] as const;
  return { title: "error", xTitle: "dim", scale: "log", series, ...more };
}

describe("the columns of a dense chart", () => {
  it("are logarithms of magnitudes; 0 lies on the base line and what is infinite at the top", () => {
    const data = dataOf([1e-3, -1e-2, 0, Number.POSITIVE_INFINITY, Number.NaN]);
    expect(yRange(data)).toEqual({ from: -3, to: -2 });
    const [x, y] = columnsOf(data);
    expect(x).toEqual([0, 1, 2, 3, 4]);
    expect(y?.[0]).toBeCloseTo(-3);
    expect(y?.slice(1)).toEqual([-2, -3, -2, null]);
  });

  it("keep every one of 131,072 points, so that a single bad one is there", () => {
    const values = new Float64Array(131_072).fill(1e-7);
    values[99_999] = 0.5;
    const data = dataOf([], { series: [{ label: "max", values, color: "--cat-1", look: "line" }] });
    const [x, y] = columnsOf(data);
    expect(x).toHaveLength(131_072);
    expect(y?.[99_999]).toBeCloseTo(Math.log10(0.5));
    expect(yRange(data)).toEqual({ from: -7, to: 0 });
  });

  it("of a linear axis keep their sign, and begin at 0 where nothing is below it", () => {
    expect(yRange(dataOf([2, 4], { scale: "linear" })).from).toBeGreaterThan(0);
    expect(yRange(dataOf([0, 4], { scale: "linear" })).from).toBe(0);
    expect(columnsOf(dataOf([-2, 4], { scale: "linear" }))[1]).toEqual([-2, 4]);
    expect(yRange(dataOf([Number.NaN], { scale: "linear" }))).toEqual({ from: 0, to: 1 });
  });

  it("a limit is inside the axis", () => {
    const limits = [{ value: 10, label: "limit" }];
    expect(yRange(dataOf([1e-3], { limits }))).toEqual({ from: -3, to: 1 });
  });

  it("places have half a place of room on both sides, measured x a little", () => {
    expect(xRange(dataOf([1, 2, 3]))).toEqual({ from: -0.5, to: 2.5 });
    const measured = dataOf([1, 2], { x: [10, 110] });
    expect(xRange(measured)).toEqual({ from: 8, to: 112 });
    expect(pointCount(measured)).toBe(2);
  });
});

describe("ticks and keys", () => {
  it("round steps within the ends", () => {
    expect(linearTicks({ from: 0, to: 10 }, 5)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(linearTicks({ from: 0.31, to: 0.58 }, 5)).toEqual([0.4, 0.5]);
    expect(linearTicks({ from: 1, to: 1 }, 5)).toEqual([1]);
  });

  it("the cursor stays on the points", () => {
    expect(cursorAfter("ArrowRight", 4, 5)).toBe(4);
    expect(cursorAfter("ArrowLeft", 0, 5)).toBe(0);
    expect(cursorAfter("PageDown", 10, 1000)).toBe(110);
    expect(cursorAfter("End", 0, 5)).toBe(4);
    expect(cursorAfter("Tab", 0, 5)).toBeUndefined();
  });
});
