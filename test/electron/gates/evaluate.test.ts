/** Every gate has a case here in which it fails, and one in which it holds. */
import { describe, expect, it } from "vitest";
import { gatesDigest } from "../../../electron/gates/digest.ts";
import {
  type Evaluation,
  evaluate,
  type GateResult,
  nmseLimitF32,
  type RunFacts,
  verdictOf,
} from "../../../electron/gates/evaluate.ts";
import { GATE_CONSTANTS, GATES, type GateId, gatesJson } from "../../../electron/gates/gates.ts";
import { compare, compareStored, type OracleRows } from "../../../electron/runs/comparison.ts";
import { generateSlice } from "../../../oracle/generator.ts";

const HEADS = 4;
const WIDTH = 32;
const SHAPE = { heads: HEADS, width: WIDTH, rowLabel: (row: number) => `head ${row}` };

const GOOD_RUN: RunFacts = {
  failure: null,
  brokenSentinels: [],
  repeatDifference: 0,
  lockstep: { expected: true, difference: 0 },
  checker: { expected: true, errors: 0 },
  resources: [{ kernel: "k", miss: null }],
};

function numbers(tensor: number, count: number): Float64Array {
  return Float64Array.from(generateSlice({ seed: 7, tensor, bits: 24, multiplier: 1, start: 0, count }));
}

function oracle(change: Partial<OracleRows> = {}): OracleRows {
  return {
    out: numbers(0, HEADS * WIDTH),
    lse: numbers(1, HEADS),
    conditioning: new Float64Array(HEADS).fill(16),
    absolute: new Float64Array(HEADS * WIDTH).fill(1),
    ...change,
  };
}

interface Change {
  readonly reference?: OracleRows;
  readonly edit?: (out: Float64Array, lse: Float64Array) => void;
  readonly unwritten?: number;
  readonly run?: Partial<RunFacts>;
  readonly dtype?: Evaluation["dtype"];
  readonly twin?: Float64Array;
  readonly stored?: Float64Array;
}

function gates(change: Change = {}): readonly GateResult[] {
  const reference = change.reference ?? oracle();
  const out = reference.out.slice();
  const lse = reference.lse.slice();
  change.edit?.(out, lse);
  const comparison = compare(SHAPE, { out, lse, unwritten: change.unwritten ?? 0 }, reference, change.twin);
  return evaluate({
    dtype: change.dtype ?? "f32",
    comparison,
    hasStored: change.stored !== undefined,
    stored: change.stored && compareStored(out, reference, change.stored, false),
    run: { ...GOOD_RUN, ...change.run },
  });
}

function verdict(results: readonly GateResult[], id: GateId): GateResult["verdict"] | undefined {
  return results.find((result) => result.id === id)?.verdict;
}

/** The gates that are not a pass. */
function misses(change: Change): readonly string[] {
  return gates(change)
    .filter((result) => result.verdict !== "pass")
    .map((result) => `${result.id}:${result.verdict}`);
}

describe("a perfect output", () => {
  it("passes every gate that applies", () => {
    expect(misses({})).toEqual([]);
    expect(gates({ stored: oracle().out }).map((result) => result.id)).toEqual([
      "launched",
      "coverage",
      "finite",
      "max_abs",
      "nmse_case",
      "nmse_head",
      "nmse_row",
      "slope",
      "lse",
      "stored_reference",
      "oracle_agreement",
      "sentinels",
      "repeat",
      "lockstep",
      "checker",
      "resources",
    ]);
  });

  it("passes with float32 rounding", () => {
    expect(misses({ edit: (out, lse) => [out, lse].map((part) => part.set(part.map(Math.fround))) })).toEqual([]);
  });
});

describe("each gate fails", () => {
  it("launched: a refused route fails, a stopped one did not run", () => {
    const failed = evaluate({
      dtype: "f32",
      comparison: undefined,
      hasStored: true,
      stored: undefined,
      run: { ...GOOD_RUN, failure: { verdict: "fail", reason: "832 threads at most" }, repeatDifference: undefined },
    });
    expect(verdict(failed, "launched")).toBe("fail");
    expect(verdictOf(failed)).toBe("fail");
    const stopped = evaluate({
      dtype: "f32",
      comparison: undefined,
      hasStored: false,
      stored: undefined,
      run: { ...GOOD_RUN, failure: { verdict: "not_run", reason: "timed out" }, repeatDifference: undefined },
    });
    expect(verdictOf(stopped)).toBe("not_run");
    expect(stopped.filter((result) => result.verdict === "pass").map((result) => result.id)).toEqual([
      "sentinels",
      "lockstep",
      "checker",
      "resources",
    ]);
  });

  it("coverage: one element still poisoned", () => {
    expect(misses({ unwritten: 1 })).toEqual(["coverage:fail"]);
  });

  it("finite: NaN and infinity, in out and lse", () => {
    const nan = { edit: (out: Float64Array) => out.fill(Number.NaN, 5, 6) };
    expect(misses(nan)).toEqual([
      "finite:fail",
      "max_abs:fail",
      "nmse_case:fail",
      "nmse_head:fail",
      "nmse_row:fail",
      "slope:fail",
    ]);
    expect(misses({ edit: (_, lse) => lse.fill(Number.NaN, 1, 2) })).toEqual(["finite:fail", "lse:fail"]);
    expect(misses({ edit: (out) => out.fill(Number.POSITIVE_INFINITY, 0, 1) })).toContain("finite:fail");
    const noteOf = (change: Change) => gates(change).find((result) => result.id === "finite")?.note;
    expect(noteOf(nan)).toBeNull();
    const reference = oracle();
    reference.conditioning.fill(7e77);
    expect(noteOf({ ...nan, reference })).toBe(
      "the terms of a score add up to 7.00e+77, beyond f32: use smaller inputs",
    );
    expect(noteOf({ reference })).toBeNull();
  });

  it("exact_zero: anything but 0 where the reference is 0", () => {
    const reference = oracle();
    reference.out.fill(0, WIDTH, 2 * WIDTH);
    reference.absolute.fill(0, WIDTH, 2 * WIDTH);
    expect(verdict(gates({ reference }), "exact_zero")).toBe("pass");
    const tiny = { reference, edit: (out: Float64Array) => out.fill(1e-45, WIDTH, WIDTH + 1) };
    expect(misses(tiny)).toEqual(["exact_zero:fail"]);
    expect(misses({ reference, edit: (out) => out.fill(Number.NaN, WIDTH, WIDTH + 1) })).toContain("exact_zero:fail");
  });

  it("exact_zero: ratios are not computed where the whole reference is 0", () => {
    const zero = new Float64Array(HEADS * WIDTH);
    const reference = oracle({ out: zero, absolute: zero });
    const ids = gates({ reference }).map((result) => result.id);
    expect(ids).toContain("exact_zero");
    for (const id of ["nmse_case", "nmse_head", "nmse_row", "max_abs", "slope"]) expect(ids).not.toContain(id);
  });

  it("subnormal: 1.2e-38 is the limit, and flushing to zero is allowed", () => {
    const reference = oracle();
    const scaled = reference.out.map((value) => value * 1e-39);
    const tiny = oracle({ out: scaled, absolute: new Float64Array(HEADS * WIDTH).fill(1e-39) });
    expect(misses({ reference: tiny, edit: (out) => out.fill(0) })).toEqual([]);
    expect(misses({ reference: tiny, edit: (out) => out.fill(1.3e-38, 3, 4) })).toEqual(["subnormal:fail"]);
  });

  it("max_abs: one element of 32 x 512 that is wrong by 0.5, which a loose NMSE lets pass", () => {
    const heads = 32;
    const width = 512;
    const count = heads * width;
    const reference = {
      out: numbers(0, count),
      lse: numbers(1, heads),
      conditioning: new Float64Array(heads).fill(16),
      absolute: new Float64Array(count).fill(1),
    };
    const out = reference.out.slice();
    out[1000] = reference.out[1000]! + 0.5;
    const shape = { heads, width, rowLabel: (row: number) => `head ${row}` };
    const comparison = compare(shape, { out, lse: reference.lse, unwritten: 0 }, reference);
    expect(comparison.whole.errorSquares / comparison.whole.referenceSquares).toBeLessThan(1e-4);
    const facts = { dtype: "f32", comparison, hasStored: false, stored: undefined, run: GOOD_RUN } as const;
    const result = evaluate(facts).find((entry) => entry.id === "max_abs")!;
    expect(result).toMatchObject({ verdict: "fail", where: "head 1" });
  });

  it("max_abs: also where the scores are as badly conditioned as they may be", () => {
    const reference = oracle({ conditioning: new Float64Array(HEADS).fill(3e38) });
    expect(misses({ reference, edit: (out) => out.fill(out[3]! + 0.5, 3, 4) })).toContain("max_abs:fail");
  });

  it("nmse_case, nmse_head, nmse_row: errors that only the finer ones see", () => {
    // A head whose values are small against the others: its relative error is 1e-3, the case's 1e-9.
    const reference = oracle();
    reference.out.set(reference.out.subarray(0, WIDTH).map((value) => value * 1e-6));
    reference.absolute.fill(1e-6, 0, WIDTH);
    expect(misses({ reference, edit: (out) => out.set(out.subarray(0, WIDTH).map((v) => v * 1.0009)) })).toEqual([
      "max_abs:fail",
      "nmse_head:fail",
      "nmse_row:fail",
    ]);
    const all = { edit: (out: Float64Array) => out.set(out.map((v, i) => v * (1 + (i % 2 ? 2e-5 : -2e-5)))) };
    expect(misses(all)).toEqual(["max_abs:fail", "nmse_case:fail", "nmse_head:fail", "nmse_row:fail"]);
  });

  it("nmse_row: one row of a head, too small to show in the head", () => {
    const reference = oracle();
    reference.out.set(reference.out.subarray(0, WIDTH).map((value) => value * 1e-6));
    reference.absolute.fill(1e-6, 0, WIDTH);
    const out = reference.out.slice();
    out.set(out.subarray(0, WIDTH).map((value) => value * 1.001));
    const shape = { heads: 1, width: WIDTH, rowLabel: (row: number) => `token ${row} head 0` };
    const comparison = compare(shape, { out, lse: reference.lse, unwritten: 0 }, reference);
    const results = evaluate({ dtype: "f32", comparison, hasStored: false, stored: undefined, run: GOOD_RUN });
    const missed = results.filter((result) => result.verdict !== "pass");
    expect(missed.map((result) => `${result.id} ${result.where}`)).toEqual(["nmse_row token 0 head 0"]);
  });

  it("slope: a scale error of 0.5 % that the NMSE ceiling would pass", () => {
    const reference = oracle({ conditioning: new Float64Array(HEADS).fill(1000) });
    const scaled = (factor: number) => ({
      reference,
      edit: (out: Float64Array) => out.set(out.map((v) => v * factor)),
    });
    expect(misses(scaled(1.002))).toContain("slope:fail");
    expect(misses(scaled(1 + 2e-4))).toEqual([]);
  });

  it("lse: an absolute error, and -inf exactly", () => {
    expect(misses({ edit: (_, lse) => lse.fill(lse[2]! + 2e-5, 2, 3) })).toEqual(["lse:fail"]);
    const reference = oracle();
    reference.lse[1] = Number.NEGATIVE_INFINITY;
    expect(misses({ reference })).toEqual([]);
    expect(misses({ reference, edit: (_, lse) => lse.fill(-3e38, 1, 2) })).toEqual(["lse:fail"]);
    const finite = { edit: (_: Float64Array, lse: Float64Array) => lse.fill(Number.NEGATIVE_INFINITY, 0, 1) };
    expect(misses(finite)).toEqual(["lse:fail"]);
  });

  it("stored_reference and oracle_agreement: the file's output differs", () => {
    const stored = oracle().out;
    stored[0] = stored[0]! + 0.1;
    expect(misses({ stored })).toEqual(["stored_reference:fail", "oracle_agreement:fail"]);
  });

  it("sentinels, repeat, lockstep and resources", () => {
    expect(misses({ run: { brokenSentinels: ["out"] } })).toEqual(["sentinels:fail"]);
    expect(misses({ run: { repeatDifference: 1 } })).toEqual(["repeat:fail"]);
    expect(misses({ run: { repeatDifference: undefined } })).toEqual(["repeat:not_run"]);
    expect(misses({ run: { lockstep: { expected: true, difference: 4 } } })).toEqual(["lockstep:fail"]);
    expect(misses({ run: { lockstep: { expected: true, difference: undefined } } })).toEqual(["lockstep:not_run"]);
    expect(
      gates({ run: { lockstep: { expected: false, difference: undefined } } }).map((gate) => gate.id),
    ).not.toContain("lockstep");
    expect(misses({ run: { checker: { expected: true, errors: 1 } } })).toEqual(["checker:fail"]);
    expect(misses({ run: { checker: { expected: true, errors: undefined } } })).toEqual(["checker:not_run"]);
    expect(gates({ run: { checker: { expected: false, errors: undefined } } }).map((gate) => gate.id)).not.toContain(
      "checker",
    );
    const short = [{ kernel: "k", miss: "224 threads at most, required 256" }];
    expect(misses({ run: { resources: short } })).toEqual(["resources:fail"]);
    expect(misses({ run: { resources: undefined } })).toEqual(["resources:not_run"]);
  });
});

describe("f16 and bf16", () => {
  const twinOf = (error: number) => oracle().out.map((value, i) => value + (i % 2 ? error : -error));

  it("max_abs is twice the twin's, for the case and every head", () => {
    const within = {
      dtype: "f16",
      twin: twinOf(1e-3),
      edit: (out: Float64Array) => out.fill(out[9]! + 1.9e-3, 9, 10),
    } as const;
    expect(misses(within)).toEqual([]);
    expect(misses({ ...within, edit: (out) => out.fill(out[9]! + 2.1e-3, 9, 10) })).toEqual(["max_abs:fail"]);
    const oneBadHead = twinOf(1e-5);
    oneBadHead[0] = oneBadHead[0]! + 1;
    expect(verdict(gates({ ...within, twin: oneBadHead, edit: () => undefined }), "max_abs")).toBe("pass");
    expect(misses({ ...within, twin: oneBadHead, edit: (out) => out.fill(out[40]! + 1e-3, 40, 41) })).toContain(
      "max_abs:fail",
    );
  });

  it("nmse is four times the twin's, and never below the rounding of the output", () => {
    const uniform = (error: number) => (out: Float64Array) => out.set(out.map((v, i) => v + (i % 2 ? error : -error)));
    expect(misses({ dtype: "bf16", twin: twinOf(1e-2), edit: uniform(1.9e-2) })).toEqual([]);
    expect(misses({ dtype: "bf16", twin: twinOf(1e-2), edit: uniform(2.1e-2) })).toEqual([
      "max_abs:fail",
      "nmse_case:fail",
      "nmse_head:fail",
      "nmse_row:fail",
    ]);
    expect(misses({ dtype: "f16", twin: twinOf(0), edit: (out) => out.fill(out[0]! + 1e-6, 0, 1) })).toEqual([
      "max_abs:fail",
    ]);
  });
});

describe("values that cancel", () => {
  const absolute = new Float64Array(HEADS * WIDTH).fill(1e6);

  it("are judged by sum p|v|, not by what is left of them", () => {
    const reference = oracle({ absolute });
    expect(misses({ reference, edit: (out) => out.set(out.map((v, i) => v + (i % 2 ? 0.1 : -0.1))) })).toEqual([]);
    const ids = gates({ reference }).map((gate) => gate.id);
    expect(ids).not.toContain("slope");
    expect(misses({ reference, edit: (out) => out.fill(out[0]! + 11, 0, 1) })).toEqual(["max_abs:fail"]);
    expect(misses({ reference, edit: (out) => out.set(out.map((v) => v + 20)) })).toContain("nmse_case:fail");
  });

  it("begin above 1,024 times the reference, not below", () => {
    const reference = oracle({ absolute: new Float64Array(HEADS * WIDTH).fill(300) });
    expect(misses({ reference, edit: (out) => out.set(out.map((v) => v + 1e-3)) })).toContain("nmse_case:fail");
  });
});

describe("limits", () => {
  it("follow the conditioning between floor and ceiling", () => {
    expect(nmseLimitF32(0)).toBe(1e-10);
    expect(nmseLimitF32(1000)).toBeCloseTo((8 * 2 ** -24 * 1000) ** 2, 12);
    expect(nmseLimitF32(1e6)).toBe(2e-5);
    expect(nmseLimitF32(3.4e38)).toBe(2e-5);
  });
});

describe("verdict", () => {
  it("a required gate that did not run is not a pass, and a failed one outranks it", () => {
    const notRun = gates({ run: { repeatDifference: undefined } });
    expect(verdictOf(notRun)).toBe("not_run");
    const both = gates({ run: { repeatDifference: undefined, brokenSentinels: ["k"] } });
    expect(verdictOf(both)).toBe("fail");
    expect(verdictOf([])).toBe("not_run");
  });
});

describe("the table", () => {
  it("names every gate once, all of them required, and is digested as written", () => {
    expect(new Set(GATES.map((gate) => gate.id)).size).toBe(GATES.length);
    expect(GATES.every((gate) => gate.required)).toBe(true);
    expect(gatesDigest()).toMatch(/^[0-9a-f]{64}$/);
    expect(gatesJson()).toContain("max(1e-10, min(2e-5, (8 * 2^-24 * C)^2))");
    expect(GATE_CONSTANTS.unitRoundoff).toBe(1 / 16_777_216);
  });
});
