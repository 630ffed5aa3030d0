import { expect, it } from "vitest";
import { indexWords, isX16 } from "../../../electron/cases/values.ts";
import { isX16 as slowIsX16 } from "../../../oracle/tensor.ts";

it("tells from bits what is exact in f16 and bf16", () => {
  const values = [
    0,
    -0,
    1,
    -3.5,
    2 ** -14,
    2 ** -24,
    3 * 2 ** -24,
    2 ** -25,
    65280,
    65536,
    2 ** 16,
    1 / 3,
    257,
    2 ** -20 * 1.5,
  ];
  values.push(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** -149, 1e-40, 3e38);
  for (const value of values) {
    const one = Float32Array.of(value);
    expect([value, isX16(one)]).toEqual([value, slowIsX16(one)]);
  }
  for (let bits = 0; bits < 0x10000; bits += 7) {
    const one = new Float32Array(Uint32Array.of(bits << 16).buffer);
    expect([bits, isX16(one)]).toEqual([bits, slowIsX16(one) || Number.isNaN(one[0])]);
  }
});

it("names an element", () => {
  expect(indexWords([3, 4, 5], 2 * 20 + 3 * 5 + 1)).toBe("[2, 3, 1]");
});
