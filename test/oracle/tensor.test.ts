import { describe, expect, test } from "vitest";
import {
  bf16ToNumber,
  convertExactly,
  elementCount,
  f16ToNumber,
  isExactIn,
  isX16,
  narrow,
  numberToBf16,
  numberToF16,
  roundTo,
  tensorBytes,
  tensorFromBytes,
  widenToF32,
  widenToF64,
} from "../../oracle/tensor.ts";

describe("f16", () => {
  test("known patterns", () => {
    const known: readonly (readonly [number, number])[] = [
      [0x0000, 0],
      [0x3c00, 1],
      [0xc000, -2],
      [0x7bff, 65504],
      [0x0400, 2 ** -14],
      [0x0001, 2 ** -24],
      [0x03ff, 1023 * 2 ** -24],
      [0x3555, 0.333251953125],
      [0x7c00, Number.POSITIVE_INFINITY],
      [0xfc00, Number.NEGATIVE_INFINITY],
    ];
    for (const [bits, value] of known) {
      expect(f16ToNumber(bits)).toBe(value);
      expect(numberToF16(value)).toBe(bits);
    }
    expect(Object.is(f16ToNumber(0x8000), -0)).toBe(true);
    expect(numberToF16(-0)).toBe(0x8000);
    expect(f16ToNumber(0x7e01)).toBeNaN();
  });

  test("every pattern that is no NaN survives the round trip", () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      if ((bits & 0x7c00) === 0x7c00 && (bits & 0x3ff) !== 0) continue;
      if (numberToF16(f16ToNumber(bits)) !== bits) expect(numberToF16(f16ToNumber(bits))).toBe(bits);
    }
  });

  test("ties go to even, once, from double", () => {
    expect(numberToF16(1 + 2 ** -11)).toBe(0x3c00);
    expect(numberToF16(1 + 3 * 2 ** -11)).toBe(0x3c02);
    // An f32 in between would lose the last bit, and the tie would go down.
    expect(numberToF16(1 + 2 ** -11 + 2 ** -40)).toBe(0x3c01);
    expect(numberToF16(65519.999)).toBe(0x7bff);
    expect(numberToF16(65520)).toBe(0x7c00);
    expect(numberToF16(2 ** -25)).toBe(0);
    expect(numberToF16(2 ** -25 + 2 ** -60)).toBe(1);
  });
});

describe("bf16", () => {
  test("every pattern that is no NaN survives the round trip", () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      if ((bits & 0x7f80) === 0x7f80 && (bits & 0x7f) !== 0) continue;
      if (numberToBf16(bf16ToNumber(bits)) !== bits) expect(numberToBf16(bf16ToNumber(bits))).toBe(bits);
    }
  });

  test("rounds to nearest even", () => {
    expect(bf16ToNumber(0x3f80)).toBe(1);
    expect(numberToBf16(1 + 2 ** -8)).toBe(0x3f80);
    expect(numberToBf16(1 + 3 * 2 ** -8)).toBe(0x3f82);
    expect(numberToBf16(3.4e38)).toBe(0x7f80);
    expect(numberToBf16(-3.38e38)).toBe(0xff7e);
    expect(numberToBf16(Number.NaN) & 0x7fff).toBeGreaterThan(0x7f80);
  });
});

test("x16 values are exact in f16, bf16 and f32", () => {
  expect(isX16([1, -0.5, 0, -0, 127 / 128])).toBe(true);
  expect(isX16([1 + 2 ** -10])).toBe(false);
  expect(isX16([2 ** -30])).toBe(false);
  expect(isExactIn([1 + 2 ** -10], "f16")).toBe(true);
  expect(isExactIn([2 ** -30], "bf16")).toBe(true);
  expect(isExactIn([0.1], "f32")).toBe(false);
  expect(isExactIn([Math.fround(0.1), Number.NaN, Number.NEGATIVE_INFINITY], "f32")).toBe(true);
  expect(roundTo(0.1, "f32")).toBe(Math.fround(0.1));
});

test("conversion is exact or refused by element", () => {
  const f16 = narrow([1, -2, 0.5], "f16", [3]);
  expect([...widenToF32(f16)]).toEqual([1, -2, 0.5]);
  expect([...widenToF64(convertExactly(f16, "bf16"))]).toEqual([1, -2, 0.5]);
  const f32 = narrow([1, 1 + 2 ** -20], "f32", [2]);
  expect(() => convertExactly(f32, "bf16")).toThrow(/element 1 is .* would become 1 in bf16/);
  expect(() => widenToF32({ dtype: "f64", shape: [1], data: new Float64Array(1) })).toThrow(/does not widen/);
});

test("tensors and bytes", () => {
  const tensor = tensorFromBytes("f32", [2], new Uint8Array([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]));
  expect([...widenToF64(tensor)]).toEqual([1, -2]);
  expect(tensorBytes(tensor)).toEqual(new Uint8Array([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]));
  expect(() => tensorFromBytes("f16", [3], new Uint8Array(5))).toThrow(/needs 6 bytes and 5 were given/);
  expect(() => narrow([1, 2], "f32", [3])).toThrow(/3 elements and 2 values/);
  expect(elementCount([])).toBe(1);
  expect(() => elementCount([2 ** 30, 2 ** 30])).toThrow(/more than 2\^53/);
  expect(() => elementCount([-1])).toThrow(/holds -1/);
});
