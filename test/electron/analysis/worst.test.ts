import { describe, expect, it } from "vitest";
import { errorArrays } from "../../../electron/analysis/errors.ts";
import {
  addressOf,
  addressWords,
  elementsOf,
  extentsOf,
  indexOf,
  sequenceOf,
} from "../../../electron/analysis/layout.ts";
import { rankOf, worstElements } from "../../../electron/analysis/worst.ts";
import { decodeShape } from "../../../electron/cases/case.ts";
import { PREFILL } from "./planted.ts";

const REFERENCE = [0, 0, 0, 0, 0, 0];
const ERRORS = errorArrays([1, -2, 2, Number.NaN, Number.NEGATIVE_INFINITY, 0], REFERENCE, "f32");

describe("the worst elements", () => {
  it("are NaN, infinite, then by size, equal ones by index", () => {
    expect([...worstElements(ERRORS, "abs", 6)]).toEqual([3, 4, 1, 2, 0, 5]);
    expect([...worstElements(ERRORS, "signed", 3)]).toEqual([3, 4, 1]);
    expect([...worstElements(ERRORS, "abs", 100)]).toHaveLength(6);
    expect([...worstElements(ERRORS, "abs", 0)]).toEqual([]);
    // Every finite error relative to 0 is infinite: what is not finite itself still comes first.
    expect([...worstElements(ERRORS, "relative", 6)]).toEqual([3, 4, 0, 1, 2, 5]);
  });

  it("agree with a full sort, whatever the count", () => {
    const output = Array.from({ length: 500 }, (_, i) => ((i * 7919) % 50) / 50);
    const errors = errorArrays(output, new Array<number>(500).fill(0), "f32");
    const sorted = [...output.keys()].sort((a, b) => output[b]! - output[a]! || a - b);
    for (const count of [1, 2, 63, 64, 499, 500]) {
      expect([...worstElements(errors, "abs", count)]).toEqual(sorted.slice(0, count));
    }
  });

  it("have neighbours: up and down visits each once", () => {
    const order = [3, 4, 1, 2, 0, 5];
    for (const [place, index] of order.entries()) {
      expect(rankOf(ERRORS, "abs", index)).toEqual({
        rank: place + 1,
        of: 6,
        previous: order[place - 1] ?? null,
        next: order[place + 1] ?? null,
      });
    }
    expect(() => rankOf(ERRORS, "abs", 6)).toThrow("index is 6; the output has 6 elements");
  });
});

describe("addresses", () => {
  it("go both ways", () => {
    const extents = extentsOf(PREFILL);
    for (let index = 0; index < elementsOf(extents); index++) {
      expect(indexOf(extents, addressOf(extents, index))).toBe(index);
    }
    expect(addressOf(extents, 3 * 32 + 32 + 5)).toEqual({ token: 1, head: 1, dim: 5 });
    expect(() => addressOf(extents, elementsOf(extents))).toThrow("it must be 0 to 6719");
    expect(() => indexOf(extents, { token: 0, head: 3, dim: 0 })).toThrow("head is 3; it must be 0 to 2");
    expect(() => indexOf(extents, { token: 0, head: 0, dim: 0.5 })).toThrow("dim is 0.5");
    expect(() => addressOf({ tokens: 0, heads: 1, width: 1 }, 0)).toThrow("the output is empty");
  });

  it("have the words of the record", () => {
    const decode = decodeShape({ heads: 4, kvHeads: 2, dim: 32, live: 7, scale: 1 });
    expect(extentsOf(decode)).toEqual({ tokens: 1, heads: 4, width: 32 });
    expect(addressWords(decode, { token: 0, head: 3, dim: 31 })).toBe("head 3 dim 31");
    expect(addressWords(PREFILL, { token: 69, head: 2, dim: 0 })).toBe("token 69 head 2 dim 0");
  });

  it("know the sequence of a token", () => {
    expect(sequenceOf([0, 40, 40, 70], 39)).toEqual({ sequence: 0, row: 39 });
    expect(sequenceOf([0, 40, 40, 70], 40)).toEqual({ sequence: 2, row: 0 });
    expect(() => sequenceOf([0, 40], 40)).toThrow("lies in no sequence");
  });
});
