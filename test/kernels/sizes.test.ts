import { expect, test } from "vitest";
import { checkedProduct, checkedSum, MAX_BUFFER_BYTES, routeBuffer, scratchBytes } from "../../kernels/sizes.ts";

test("products and sums are exact or refused", () => {
  expect(checkedProduct("x", [2 ** 26, 2 ** 26])).toBe(2 ** 52);
  expect(checkedProduct("x", [0, 2 ** 52])).toBe(0);
  expect(() => checkedProduct("x", [2 ** 27, 2 ** 26])).toThrow("x: 134217728 x 67108864 overflows");
  expect(() => checkedProduct("x", [1.5])).toThrow("1.5 is not a non-negative integer");
  expect(() => checkedProduct("x", [-1])).toThrow(RangeError);
  expect(() => checkedSum("x", [Number.MAX_SAFE_INTEGER, 1])).toThrow("overflows");
});

test("a buffer has its exact size, at least one word, at most the limit", () => {
  expect(routeBuffer("k", "input", "bf16", [3, 5]).bytes).toBe(30);
  expect(routeBuffer("k", "input", "f32", [0, 4]).bytes).toBe(4);
  expect(routeBuffer("k", "input", "f32", [MAX_BUFFER_BYTES / 4]).bytes).toBe(MAX_BUFFER_BYTES);
  expect(() => routeBuffer("k", "input", "f32", [MAX_BUFFER_BYTES / 4 + 1])).toThrow(
    "buffer k is 17,179,869,188 bytes; the limit is 17,179,869,184",
  );
});

test("only scratch counts as scratch", () => {
  expect(scratchBytes([routeBuffer("a", "scratch", "f32", [3]), routeBuffer("b", "output", "f32", [5])])).toBe(12);
});
