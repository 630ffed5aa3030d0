/** Elements by index and by address; what names no element is refused. */
import { describe, expect, it } from "vitest";
import { addressOf, addressText, parseElement, ratioText } from "../../../../renderer/pages/parity/address.ts";

const DECODE = { tokens: 1, heads: 32, width: 512 };
const PREFILL = { tokens: 77, heads: 4, width: 128 };

describe("an element", () => {
  it("is written as head, query and dimension, and found again", () => {
    expect(addressText(DECODE, addressOf(DECODE, 5000))).toBe("h 9, d 392");
    for (const index of [0, 1234, 77 * 4 * 128 - 1]) {
      expect(parseElement(PREFILL, addressText(PREFILL, addressOf(PREFILL, index)))).toBe(index);
    }
  });

  it("is taken as an index or as an address in several forms", () => {
    expect(parseElement(DECODE, "5,000")).toBe(5000);
    expect(parseElement(DECODE, "h9 d392")).toBe(5000);
    expect(parseElement(PREFILL, "q=2, head 3")).toBe((2 * 4 + 3) * 128);
  });

  it("outside the output, or of other words, is none", () => {
    for (const text of ["16384", "h 32", "d 512", "q 1", "", "h", "row 4", "h 1 x", "-1"]) {
      expect([text, parseElement(DECODE, text)]).toEqual([text, undefined]);
    }
  });
});

it("a share of a limit says when it is no number", () => {
  expect([0.4078, 20.06, 12345, 3e7, Number.NaN].map((value) => ratioText(value, 1))).toEqual([
    "0.41",
    "20.1",
    "12,300",
    "3.0e+7",
    "not finite",
  ]);
});
