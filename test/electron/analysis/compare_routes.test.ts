import { describe, expect, it } from "vitest";
import { compareRoutes, type RouteSide } from "../../../electron/analysis/compare_routes.ts";

const EXTENTS = { tokens: 1, heads: 2, width: 3 };
const REFERENCE = [1, 2, 3, 4, 5, 6];

function side(route: string, change: Readonly<Record<number, number>> = {}, verdict: RouteSide["verdict"] = "pass") {
  return { route, verdict, output: REFERENCE.map((value, i) => change[i] ?? value) };
}

function compared(a: RouteSide, b: RouteSide) {
  return compareRoutes(a, b, REFERENCE, EXTENTS, "f32");
}

describe("two routes", () => {
  it("that are equal", () => {
    const found = compared(side("naive", { 2: Number.NaN }), side("fused", { 2: Number.NaN }));
    expect(found).toMatchObject({
      word: "identical",
      sentence: "naive and fused are equal in all 6 elements",
      differing: 0,
      firstDiffering: null,
      maxAbsAt: null,
      equallyClose: 6,
    });
  });

  it("that differ by a unit in the last place, and both passed", () => {
    const found = compared(side("a", { 4: 5 + 2 ** -21 }), side("b", { 1: 2 - 2 ** -23 }));
    expect(found).toMatchObject({
      word: "within_gates",
      differing: 2,
      notFinite: 0,
      firstDiffering: 1,
      maxAbs: 2 ** -21,
      maxAbsAt: 4,
      maxUlp: 1,
      aCloser: 1,
      bCloser: 1,
      equallyClose: 4,
      heads: [
        { label: "head 0", differing: 1, maxAbs: 2 ** -23 },
        { label: "head 1", differing: 1, maxAbs: 2 ** -21 },
      ],
    });
    expect(found.sentence).toBe(
      "a and b differ in 2 of 6 elements, by 4.77e-7 or 1 ULP at most where both are finite. Both passed their gates",
    );
    expect([...found.difference]).toEqual([0, 2 ** -23, 0, 0, 2 ** -21, 0]);
  });

  it("of which one is wrong, by the verdict of its gates", () => {
    expect(compared(side("a", { 0: 9 }, "fail"), side("b"))).toMatchObject({ word: "a_wrong", bCloser: 1 });
    const b = compared(side("a"), side("b", { 0: 9 }, "not_run"));
    expect(b.word).toBe("b_wrong");
    expect(b.sentence).toContain("b did not pass, a passed");
    expect(compared(side("a", { 0: 8 }, "fail"), side("b", { 0: 9 }, "fail")).word).toBe("both_wrong");
  });

  it("of which one is NaN, and one infinite", () => {
    const found = compared(side("a", { 0: Number.NaN, 3: Number.POSITIVE_INFINITY }, "fail"), side("b"));
    expect(found).toMatchObject({
      differing: 2,
      notFinite: 2,
      maxAbs: 0,
      maxAbsAt: null,
      bCloser: 2,
      firstDiffering: 0,
    });
    expect(found.sentence).toBe(
      "a and b differ in 2 of 6 elements; in 2 of them one is not finite. a failed, b passed",
    );
    expect(found.difference[0]).toBeNaN();
  });

  it("of different sizes are refused", () => {
    expect(() => compared({ ...side("a"), output: [1] }, side("b"))).toThrow("a has 1 elements and the oracle 6");
  });
});
