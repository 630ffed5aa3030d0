/** Axes of the charts: zeros lie on the base line. */
import { describe, expect, it } from "vitest";
import {
  decadeText,
  decadeTicks,
  indexTicks,
  logPlace,
  logScaleOf,
  rangePlace,
} from "../../../renderer/charts/scale.ts";

describe("a log axis", () => {
  it("takes whole decades around the magnitudes, at most eight", () => {
    expect(logScaleOf([3e-4, -2e-2, 0, Number.NaN, Number.POSITIVE_INFINITY])).toEqual({ from: -4, to: -1 });
    expect(logScaleOf([1e-20, 1])).toEqual({ from: -8, to: 0 });
    expect(logScaleOf([0, Number.NaN])).toEqual({ from: -1, to: 0 });
    expect(logScaleOf([0.1])).toEqual({ from: -2, to: -1 });
  });

  it("places zeros at the base line and what is beyond at the ends", () => {
    const scale = { from: -4, to: 0 };
    expect([0, 1e-9, 1e-2, -1e-2, 5].map((value) => logPlace(scale, value))).toEqual([0, 0, 0.5, 0.5, 1]);
  });

  it("has at most six ticks", () => {
    expect(decadeTicks({ from: -4, to: -1 })).toEqual([-4, -3, -2, -1]);
    expect(decadeTicks({ from: -8, to: 0 }).length).toBeLessThanOrEqual(6);
    expect([-3, 0, 2, 5].map(decadeText)).toEqual(["1e−3", "1", "100", "1e5"]);
  });
});

it("ticks of places are round and end at the last", () => {
  expect(indexTicks(512, 5)).toEqual([0, 128, 256, 384, 511]);
  expect(indexTicks(1, 5)).toEqual([0]);
  expect(indexTicks(77, 5)).toEqual([0, 16, 32, 48, 64, 76]);
});

it("a colour range clamps, over decades or evenly", () => {
  const log = { low: 1e-4, high: 1, log: true };
  expect([0, 1e-5, 1e-2, -1e-2, 2].map((value) => rangePlace(log, value))).toEqual([
    0,
    0,
    expect.closeTo(0.5),
    expect.closeTo(0.5),
    1,
  ]);
  expect(rangePlace({ low: 0, high: 4, log: false }, 1)).toBe(0.25);
});
