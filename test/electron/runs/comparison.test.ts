import { describe, expect, it } from "vitest";
import { compare, compareStored, type OracleRows } from "../../../electron/runs/comparison.ts";
import { countPoison, differingBytes } from "../../../electron/runs/execute.ts";
import { outcomeOf } from "../../../electron/runs/outcome.ts";
import type { ResultRecord } from "../../../electron/runs/record.ts";
import { POISON_WORD } from "../../../native/device.ts";

const shape = { heads: 2, width: 2, rowLabel: (row: number) => `row ${row}` };

const oracle: OracleRows = {
  out: Float64Array.of(1, 2, 3, 4, 0, 0, 5, 6),
  lse: Float64Array.of(0, 1, Number.NEGATIVE_INFINITY, 3),
  conditioning: Float64Array.of(1, 7, 0, 2),
  absolute: Float64Array.of(1, 2, 3, 4, 0, 0, 5, 6),
};

describe("compare", () => {
  it("sums per row, head and case", () => {
    const out = Float64Array.of(1, 2.5, 3, 4, 0, 0, 5, 5);
    const result = compare(shape, { out, lse: oracle.lse, unwritten: 0 }, oracle);
    expect(result.rows.map((row) => row.errorSquares)).toEqual([0.25, 0, 0, 1]);
    // Heads take every second row.
    expect(result.heads.map((head) => [head.errorSquares, head.conditioning])).toEqual([
      [0.25, 1],
      [1, 7],
    ]);
    expect(result.whole).toMatchObject({ maxError: 1, maxErrorIndex: 7, maxReference: 6, referenceSquares: 91 });
    expect(result.notFinite).toBe(0);
  });

  it("NaN outweighs every number and is found", () => {
    const out = Float64Array.of(1, 2, Number.NaN, 4, 0, 0, 5, 100);
    const { whole, notFinite } = compare(shape, { out, lse: undefined, unwritten: undefined }, oracle);
    expect([whole.maxError, whole.maxErrorIndex, whole.errorSquares, notFinite]).toEqual([
      Number.NaN,
      2,
      Number.NaN,
      1,
    ]);
  });

  it("refuses sides of different size", () => {
    const short = { out: new Float64Array(6), lse: undefined, unwritten: 0 };
    expect(() => compare(shape, short, oracle)).toThrow("The output has 6 elements; the oracle has 8");
    const lse = { out: oracle.out, lse: new Float64Array(3), unwritten: 0 };
    expect(() => compare(shape, lse, oracle)).toThrow("lse has 3 elements; the oracle has 4");
    expect(() => compare(shape, { ...lse, lse: undefined }, oracle, new Float64Array(1))).toThrow("The twin has 1");
    expect(() => compareStored(oracle.out, oracle, new Float64Array(1), false)).toThrow("The stored reference has 1");
  });
});

describe("facts of an execution", () => {
  it("poison is counted by element", () => {
    const words = Uint32Array.of(POISON_WORD, 0, POISON_WORD, 0x7fed0000);
    const bytes = new Uint8Array(words.buffer);
    expect(countPoison(bytes, "f32")).toBe(2);
    expect(countPoison(bytes, "bf16")).toBe(5);
  });

  it("differing bytes are counted, and a missing output counts whole", () => {
    const a = new Map([["out", Uint8Array.of(1, 2, 3)]]);
    expect(differingBytes(a, new Map([["out", Uint8Array.of(1, 2, 3)]]))).toBe(0);
    expect(differingBytes(a, new Map([["out", Uint8Array.of(1, 0, 0)]]))).toBe(2);
    expect(differingBytes(a, new Map())).toBe(3);
    expect(differingBytes(a, new Map([["out", Uint8Array.of(1)]]))).toBe(3);
  });
});

describe("outcome", () => {
  const result = (state: string, verdict: string) => ({ state, verdict }) as ResultRecord;

  it("is passed only if everything planned is there and passed", () => {
    const pass = result("completed", "pass");
    expect(outcomeOf(2, [pass, pass])).toBe("passed");
    expect(outcomeOf(3, [pass, pass])).toBe("failed");
    expect(outcomeOf(0, [])).toBe("failed");
    expect(outcomeOf(1, [result("completed", "not_run")])).toBe("failed");
    expect(outcomeOf(2, [pass, result("timed_out", "not_run")])).toBe("timed_out");
    expect(outcomeOf(2, [result("crashed", "not_run"), result("timed_out", "not_run")])).toBe("crashed");
  });
});
