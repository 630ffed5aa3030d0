import { describe, expect, it } from "vitest";
import { errorArrays, ulpSize } from "../../../electron/analysis/errors.ts";

describe("errors", () => {
  it("are absolute, relative, signed and in units of the last place", () => {
    const errors = errorArrays([1.5, -2, 0, 3], [1, -2, 0, 0], "f32");
    expect([...errors.abs]).toEqual([0.5, 0, 0, 3]);
    expect([...errors.signed]).toEqual([0.5, 0, 0, 3]);
    expect([...errors.relative]).toEqual([0.5, 0, 0, Number.POSITIVE_INFINITY]);
    expect([...errors.ulp.subarray(0, 3)]).toEqual([2 ** 22, 0, 0]);
    expect([...errorArrays([1 + 2 ** -7], [1], "bf16").ulp]).toEqual([1]);
    expect([...errorArrays([1 + 2 ** -10], [1], "f16").ulp]).toEqual([1]);
    expect([...errorArrays([-0], [0], "f32").ulp]).toEqual([0]);
  });

  it("flag what is not finite", () => {
    const errors = errorArrays([Number.NaN, Number.POSITIVE_INFINITY, 1], [1, 1, 1], "f32");
    expect([...errors.flags]).toEqual([1, 2, 0]);
  });

  it("refuse sides of different size", () => {
    expect(() => errorArrays([1], [1, 2], "f32")).toThrow("1 elements and the reference 2");
  });
});

describe("the size of a unit in the last place", () => {
  it("follows the binade, down to the smallest subnormal", () => {
    expect(ulpSize(1, "f32")).toBe(2 ** -23);
    expect(ulpSize(1.999, "f16")).toBe(2 ** -10);
    expect(ulpSize(-2, "f16")).toBe(2 ** -9);
    expect(ulpSize(0, "f32")).toBe(2 ** -149);
    expect(ulpSize(0, "f16")).toBe(2 ** -24);
    expect(ulpSize(0.20701193821, "f16")).toBe(2 ** -13);
    expect(ulpSize(1e39, "f32")).toBeNaN();
  });
});
