import { describe, expect, it } from "vitest";
import type { LengthPoint } from "../../../../electron/analysis/lengths.ts";
import { headBars, lengthBars, sequenceBars, ulpBars } from "../../../../renderer/pages/parity/groups.ts";

const GROUP = {
  label: "head 0",
  elements: 8,
  maxAbs: 1e-3,
  meanAbs: 1e-4,
  maxUlp: 12,
  at: 5,
  nmse: 1e-9,
  nan: 0,
  infinite: 0,
  identical: 2,
};

const POINT: LengthPoint = {
  case: "a",
  route: "naive",
  dtype: "f32",
  origin: "spread",
  length: 33,
  verdict: "pass",
  maxAbs: 1e-6,
  nmse: 1e-12,
  limit: 1e-5,
};

describe("bars of groups", () => {
  it("say what is over the limit, selected, or not finite, and lead to the worst element", () => {
    const heads = [GROUP, { ...GROUP, maxAbs: 1e-6, at: 9 }, { ...GROUP, nan: 3, at: 17 }];
    const { bars, at } = headBars(heads, 1e-4, 0);
    expect(bars.map(({ tone }) => tone)).toEqual(["selected over", "plain", "flagged"]);
    expect(at).toEqual([5, 9, 17]);
    expect(bars[2]?.title).toContain("3 NaN, 0 Inf");
    expect(headBars(heads, null, null).bars[0]?.tone).toBe("plain");
  });

  it("of sequences are named by their keys", () => {
    const sequences = [{ ...GROUP, queries: 8, keys: 1000 }];
    expect(sequenceBars(sequences, null, 5).bars[0]).toMatchObject({ label: "1,000", tone: "selected" });
  });
});

describe("bars over lengths", () => {
  it("lead to their cases; each has its own limit", () => {
    const { bars, at } = lengthBars([POINT, { ...POINT, case: "b", length: 8192, verdict: "fail", maxAbs: 1e-3 }], "a");
    expect(at).toEqual(["a", "b"]);
    expect(bars.map(({ label, tone, limit }) => [label, tone, limit])).toEqual([
      ["33", "selected", 1e-5],
      ["8,192", "over", 1e-5],
    ]);
  });

  it("what did not run has no height and says so; what is not finite reaches the top", () => {
    const none = { ...POINT, verdict: "not_run", maxAbs: null, limit: null } as const;
    const bad = { ...POINT, verdict: "fail", maxAbs: Number.NaN } as const;
    const { bars } = lengthBars([none, bad], "z");
    expect(bars[0]).toMatchObject({ value: 0, tone: "plain" });
    expect(bars[0]?.title).toMatch(/no output, not run$/);
    expect(bars[1]?.tone).toBe("flagged");
  });
});

it("bars of ULP distances stand on both sides of the identical ones, out to the last that holds one", () => {
  const bars = ulpBars({
    limits: [0, 1, 4, Number.POSITIVE_INFINITY],
    above: [0, 3, 0, 0],
    below: [0, 0, 7, 0],
    identical: 5,
    nan: 0,
    p50: 1,
    p999: 4,
    max: 4,
  });
  expect(bars.map(({ label, value }) => [label, value])).toEqual([
    ["−4", 7],
    ["−1", 0],
    ["0", 5],
    ["1", 3],
    ["4", 0],
  ]);
});
