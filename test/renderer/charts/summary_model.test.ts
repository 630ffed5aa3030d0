import { describe, expect, it } from "vitest";
import {
  barScale,
  MOST_BARS,
  pooledBars,
  type SummaryBar,
  spacedLabels,
} from "../../../renderer/charts/summary_model.ts";

function bar(value: number, tone: SummaryBar["tone"] = "plain", label = String(value)): SummaryBar {
  return { key: label, label, value, tone, title: `bar ${label}` };
}

const LOG = { scale: "log", counts: false, limit: null } as const;

describe("pooled bars", () => {
  it("leave a few as they are", () => {
    const bars = [bar(1), bar(2)];
    expect(pooledBars(bars).map(({ value, index }) => [value, index])).toEqual([
      [1, 0],
      [2, 1],
    ]);
  });

  it("never lose the largest, and lead back to it", () => {
    const bars = Array.from({ length: 4 * MOST_BARS }, (_, i) => bar(i === 777 ? 9 : 1e-6, "plain", String(i)));
    const pooled = pooledBars(bars);
    expect(pooled).toHaveLength(MOST_BARS);
    const worst = pooled.find(({ value }) => value === 9);
    expect(worst?.index).toBe(777);
    expect(worst?.title).toBe("bar 777 (the largest of 4)");
  });

  it("keep what is not finite before any value, and the selection", () => {
    const pooled = pooledBars([bar(5), bar(0, "flagged"), bar(7, "over"), bar(1, "selected")], 2);
    expect(pooled.map(({ tone, index }) => [tone, index])).toEqual([
      ["flagged", 1],
      ["selected over", 2],
    ]);
  });
});

describe("the axis of bars", () => {
  it("a log axis has its ticks at the decades and room below the least bar", () => {
    const axis = barScale([bar(1e-3), bar(1e-1)], LOG);
    expect(axis.ticks.map(({ words }) => words)).toEqual(["1e−3", "1e−2", "1e−1"]);
    expect(axis.placeOf(bar(1e-3))).toBeGreaterThan(0);
    expect(axis.placeOf(bar(1e-1))).toBe(1);
    expect(axis.placeOf(bar(0))).toBe(0);
  });

  it("counts begin below 1, so that one element is seen", () => {
    const axis = barScale([bar(1), bar(1000)], { ...LOG, counts: true });
    expect(axis.placeOf(bar(1))).toBeGreaterThan(0.05);
    expect(axis.ticks[0]?.words).toBe("1");
  });

  it("a limit has its place, and widens the axis", () => {
    const axis = barScale([bar(1e-4)], { ...LOG, limit: 1e-2 });
    expect(axis.limit).toBe(1);
    expect(barScale([bar(1)], { ...LOG, limit: 0 }).limit).toBeNull();
    expect(barScale([bar(1)], { scale: "linear", counts: false, limit: 4 }).limit).toBeCloseTo(1 / 1.05);
  });

  it("what is not finite reaches the top", () => {
    expect(barScale([bar(1)], LOG).placeOf(bar(0, "flagged"))).toBe(1);
    expect(barScale([bar(1)], LOG).placeOf(bar(Number.NaN))).toBe(1);
  });
});

it("labels keep their distance; the chosen one is always there", () => {
  const bars = Array.from({ length: 32 }, (_, i) => bar(1, "plain", String(i)));
  const labels = spacedLabels(bars, 320, 13);
  expect(labels[13]).toBe("13");
  expect(labels[12]).toBe("");
  expect(labels.filter(Boolean).length).toBeLessThanOrEqual(9);
});
