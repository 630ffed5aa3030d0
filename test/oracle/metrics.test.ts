import { describe, expect, test } from "vitest";
import { gqaDecode } from "../../oracle/attention.ts";
import { generateDecode } from "../../oracle/generator.ts";
import {
  caseError,
  headErrors,
  rowErrors,
  ULP_BUCKETS,
  ulpDistance,
  ulpHistogram,
  worstGroup,
  writtenCount,
} from "../../oracle/metrics.ts";

const reference = Float64Array.from({ length: 4 * 8 }, (_, i) => Math.sin(i + 1));
const exact = () => Float64Array.from(reference);

test("an exact output has no error", () => {
  const error = caseError(exact(), reference);
  expect(error).toMatchObject({ nonFinite: 0, errorSquares: 0, nmse: 0, zeroReference: false, zeroOutput: false });
  expect(error.maxAbs).toEqual({ value: 0, index: 0 });
  expect(error.correlation).toBeCloseTo(1, 15);
  expect(error.slope).toBe(1);
});

describe("what each metric shows", () => {
  test("one wrong element: max abs and the row's NMSE, and hardly the NMSE of a large case", () => {
    const big = Float64Array.from({ length: 2 ** 16 }, (_, i) => Math.sin(i + 1));
    const wrong = Float64Array.from(big);
    wrong[777] = wrong[777]! + 0.5;
    const error = caseError(wrong, big);
    expect(error.maxAbs).toEqual({ value: 0.5, index: 777 });
    expect(error.nmse).toBeLessThan(1e-5);
    expect(error.correlation).toBeGreaterThan(0.9999);
    const worst = worstGroup(rowErrors(wrong, big, 128))!;
    expect(worst.group).toBe(6);
    expect(worst.nmse).toBeGreaterThan(1e-3);
  });

  test("a scale error of 0.5 %: the slope, not the correlation", () => {
    const error = caseError(
      reference.map((r) => r * 1.005),
      reference,
    );
    expect(error.slope).toBeCloseTo(1.005, 12);
    expect(error.correlation).toBeCloseTo(1, 12);
    expect(error.nmse).toBeCloseTo(2.5e-5, 10);
  });

  test("two heads swapped: each head's NMSE", () => {
    const swapped = exact();
    swapped.set(reference.subarray(8, 16), 0);
    swapped.set(reference.subarray(0, 8), 8);
    const heads = headErrors(swapped, reference, 4, 8);
    expect(heads.map((head) => head.nmse! > 0.1)).toEqual([true, true, false, false]);
    // The same elements as 2 rows of 2 heads.
    const byTwo = headErrors(swapped, reference, 2, 8);
    expect(byTwo.map((head) => head.count)).toEqual([16, 16]);
    expect(byTwo[0]!.nmse).toBeGreaterThan(0);
  });

  test("an offset: the correlation does not see it, max abs does", () => {
    const shifted = reference.map((r) => r + 1);
    expect(caseError(shifted, reference).correlation).toBeCloseTo(1, 12);
    expect(caseError(shifted, reference).maxAbs.value).toBeCloseTo(1, 12);
  });

  test("NaN and infinities are counted and spoil every figure", () => {
    const bad = exact();
    bad[3] = Number.NaN;
    bad[9] = Number.POSITIVE_INFINITY;
    const error = caseError(bad, reference);
    expect(error.nonFinite).toBe(2);
    expect(error.maxAbs).toEqual({ value: Number.NaN, index: 3 });
    expect(error.nmse).toBeNaN();
    expect(error.slope).toBeNaN();
    expect(error.correlation).toBeNaN();
    expect(worstGroup(rowErrors(bad, reference, 8))).toEqual({ group: 0, nmse: Number.NaN });
    const ulp = ulpHistogram(bad, reference, "f32");
    expect(ulp.max).toBe(Number.POSITIVE_INFINITY);
    expect(ulp.counts.at(-1)).toBe(2);
  });

  test("an infinite output where the reference is finite", () => {
    const bad = exact();
    bad[5] = Number.NEGATIVE_INFINITY;
    expect(caseError(bad, reference).maxAbs).toEqual({ value: Number.POSITIVE_INFINITY, index: 5 });
  });
});

describe("an all-zero reference", () => {
  const zeros = new Float64Array(16);

  test("has no ratios", () => {
    const error = caseError(zeros, zeros);
    expect(error).toMatchObject({ nmse: undefined, slope: undefined, correlation: undefined, zeroReference: true });
    expect(error.zeroOutput).toBe(true);
    expect(worstGroup(rowErrors(zeros, zeros, 4))).toBeUndefined();
  });

  test("shows an output that is not exactly 0", () => {
    const output = new Float64Array(16);
    output[5] = 1e-40;
    const error = caseError(output, zeros);
    expect(error.nmse).toBeUndefined();
    expect(error.zeroOutput).toBe(false);
    expect(error.maxAbs).toEqual({ value: 1e-40, index: 5 });
    expect(rowErrors(output, zeros, 4).map((row) => row.zeroOutput)).toEqual([true, false, true, true]);
    output[5] = -0;
    expect(caseError(output, zeros).zeroOutput).toBe(true);
  });

  test("a constant reference has no correlation", () => {
    const ones = new Float64Array(4).fill(1);
    expect(caseError([1, 1, 1, 2], ones).correlation).toBeUndefined();
    expect(caseError([1, 1, 1, 2], ones).nmse).toBe(0.25);
  });
});

test("figures of values near 1e30 and 1e-40 are finite", () => {
  for (const size of [1e30, 1e-40]) {
    const r = reference.map((x) => x * size);
    const error = caseError(
      r.map((x) => x * 1.01),
      r,
    );
    expect(error.nmse! / 1e-4).toBeCloseTo(1, 6);
    expect(error.correlation).toBeCloseTo(1, 9);
    expect(error.slope).toBeCloseTo(1.01, 9);
  }
});

test("a last token dropped at L = 1023 shows in the NMSE and in no correlation gate of 0.99", () => {
  const shape = { heads: 32, kvHeads: 4, dim: 64, live: 1023, scale: 1 };
  const inputs = generateDecode({ seed: 0x5eed0001, variant: "spread", ...shape });
  const whole = gqaDecode({ ...inputs, ...shape });
  const dropped = gqaDecode({ ...inputs, ...shape, live: 1022 });
  const error = caseError(dropped.out, whole.out);
  expect(error.correlation).toBeGreaterThan(0.99);
  expect(error.nmse).toBeGreaterThan(1e-5);
});

describe("ULP", () => {
  test("distances in each dtype", () => {
    expect(ulpDistance(1, 1, "f32")).toBe(0);
    expect(ulpDistance(1 + 2 ** -23, 1, "f32")).toBe(1);
    expect(ulpDistance(1 - 2 ** -24, 1, "f32")).toBe(1);
    expect(ulpDistance(2, 1, "f32")).toBe(2 ** 23);
    expect(ulpDistance(1 + 2 ** -10, 1, "f16")).toBe(1);
    expect(ulpDistance(2, 1, "f16")).toBe(1024);
    expect(ulpDistance(2 ** -24, -(2 ** -24), "f16")).toBe(2);
    expect(ulpDistance(2 ** -14, 2 ** -14 - 2 ** -24, "f16")).toBe(1);
    expect(ulpDistance(Number.POSITIVE_INFINITY, 65504, "f16")).toBe(1);
    expect(ulpDistance(1 + 2 ** -7, 1, "bf16")).toBe(1);
    expect(ulpDistance(-1, 1, "bf16")).toBe(2 * 0x3f80);
    // The reference is rounded to the dtype first.
    expect(ulpDistance(1, 1 + 2 ** -30, "f32")).toBe(0);
    expect(ulpDistance(Number.NaN, 1, "f32")).toBe(Number.POSITIVE_INFINITY);
  });

  test("histogram and percentiles", () => {
    const r = new Float64Array(2000).fill(1);
    const o = new Float64Array(2000).fill(1);
    o[0] = 1 + 3 * 2 ** -23;
    o[1] = 1 + 2 ** -23;
    o[2] = 1 + 100 * 2 ** -23;
    const { counts, p50, p999, max } = ulpHistogram(o, r, "f32");
    expect(counts[0]).toBe(1997);
    expect(counts[ULP_BUCKETS.indexOf(1)]).toBe(1);
    expect(counts[ULP_BUCKETS.indexOf(4)]).toBe(1);
    expect(counts[ULP_BUCKETS.indexOf(256)]).toBe(1);
    expect([p50, p999, max]).toEqual([0, 1, 100]);
    expect(ulpHistogram([], [], "f32")).toMatchObject({ p50: 0, max: 0 });
  });
});

describe("coverage", () => {
  test("elements that still hold the poison are unwritten", () => {
    const f32 = new Uint32Array(8).fill(0x7fed7fed);
    f32[0] = 0;
    f32[3] = 0x7fc00000;
    expect(writtenCount(f32, 0x7fed7fed)).toEqual({ count: 8, written: 2, firstUnwritten: 1 });
    const f16 = new Uint16Array(4).fill(0x7fed);
    f16[1] = 0x3c00;
    expect(writtenCount(f16, 0x7fed7fed)).toEqual({ count: 4, written: 1, firstUnwritten: 0 });
    expect(writtenCount(new Uint32Array(3), 0x7fed7fed)).toEqual({ count: 3, written: 3, firstUnwritten: undefined });
  });
});

test("different lengths are refused", () => {
  expect(() => caseError([1], [1, 2])).toThrow(/1 elements and the reference 2/);
  expect(() => headErrors([1, 2, 3], [1, 2, 3], 2, 1)).toThrow(/no whole number of rows/);
});
