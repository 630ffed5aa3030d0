import { describe, expect, it } from "vitest";
import { FRAGMENT_MAPS } from "../../../../kernels/fragments.ts";
import {
  barsOf,
  type LaneErrors,
  laneVerdict,
  stopOf,
  worstOf,
} from "../../../../renderer/pages/fragments/lane_errors.ts";

/** Errors of 32 lanes of two elements, 1e-3 but where `planted` says otherwise. */
function errorsWith(planted: Readonly<Record<number, number>>, flags: Uint8Array = new Uint8Array(64)): LaneErrors {
  const max = Float64Array.from({ length: 64 }, (_, slot) => planted[slot] ?? 1e-3);
  const at = Int32Array.from({ length: 64 }, (_, slot) => 100 + slot);
  return { map: "8x8", elementsPerLane: 2, max, mean: max, at, flags };
}

describe("bars", () => {
  it("take the worst element of each lane, and where it is", () => {
    const bars = barsOf(errorsWith({ 27: 0.5 }));
    expect(bars).toHaveLength(32);
    expect(bars[13]).toEqual({ lane: 13, max: 0.5, at: 127, flagged: false });
    expect(bars[12]).toEqual({ lane: 12, max: 1e-3, at: 124, flagged: false });
  });

  it("say which lane owns a NaN", () => {
    const flags = new Uint8Array(64);
    flags[11] = 1;
    const bars = barsOf(errorsWith({ 11: 0 }, flags));
    expect(bars.filter(({ flagged }) => flagged).map(({ lane }) => lane)).toEqual([5]);
    expect(bars[5]?.at).toBe(111);
    expect(laneVerdict(bars, 1)).toBe("NaN or Inf in 1 of 32 lanes");
  });
});

describe("the worst of the place at hand", () => {
  const errors = errorsWith({ 27: 0.5 });
  const [small, large] = FRAGMENT_MAPS;

  it("is that of its element in the map of the errors, that of its lane in the other", () => {
    expect(worstOf(errors, { map: small!, lane: 13, element: 0 })).toBe(126);
    expect(worstOf(errors, { map: large!, lane: 13, element: 0 })).toBe(127);
  });
});

describe("the words about lanes", () => {
  const words = (planted: Readonly<Record<number, number>>, limit: number | null): string =>
    laneVerdict(barsOf(errorsWith(planted)), limit);

  it("tell a fault of one lane from one of all", () => {
    expect(words({ 27: 0.5 }, 1e-2)).toBe("over the limit: only lane 13");
    expect(words({ 0: 0.5, 27: 0.5 }, 1e-2)).toBe("over the limit: only lanes 0, 13");
    expect(words({ 0: 1, 2: 1, 4: 1, 6: 1, 8: 1 }, 1e-2)).toBe("5 of 32 lanes over the limit");
    expect(words({}, 1e-4)).toBe("all 32 lanes over the limit: not a fault of one lane");
  });

  it("hold a value at the limit for within it", () => {
    expect(words({}, 1e-3)).toBe("no lane over the limit");
    expect(words({}, null)).toBe("no limit to compare with");
  });
});

describe("the colours of errors", () => {
  it("go from low to high, and stay at the ends beyond them", () => {
    const scale = { from: -3, to: -1 };
    expect([0, 1e-9, 1e-3, 1e-2, 0.99e-1, 5].map((value) => stopOf(scale, value))).toEqual([0, 0, 0, 4, 8, 8]);
  });
});
