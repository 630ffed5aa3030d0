import { describe, expect, it } from "vitest";
import { boundarySet } from "../../../electron/cases/boundary.ts";
import { decodeShape } from "../../../electron/cases/case.ts";
import { generated } from "../../../electron/cases/file.ts";
import { type ClaimBasis, claimsOf } from "../../../electron/evidence/level.ts";
import { plannedCaseRecord } from "../../../electron/runs/case_record.ts";
import type { CaseRecord, GateVerdictRecord, ResultRecord } from "../../../electron/runs/record.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";

const CASES = [3, 5].map((live): CaseRecord => {
  const shape = decodeShape({ heads: 2, kvHeads: 1, dim: 32, live, scale: 1 });
  return plannedCaseRecord(generated(shape, "spread", 1));
});

function result(index: number, change: Partial<ResultRecord> = {}): ResultRecord {
  const gate = (id: GateVerdictRecord["id"]) => ({
    id,
    verdict: "pass" as const,
    value: 0,
    limit: 0,
    where: null,
    note: null,
  });
  return {
    case: CASES[index]!.key,
    route: "naive",
    state: "completed",
    error: null,
    verdict: "pass",
    metrics: null,
    gates: (["launched", "coverage", "finite"] as const).map(gate),
    ms: 1,
    timings: [],
    outputs: [],
    receipts: ["data/receipts/a.json"],
    metricsPath: null,
    ...change,
  };
}

function level(results: readonly ResultRecord[], change: Partial<ClaimBasis> = {}): string | undefined {
  const basis: ClaimBasis = {
    execution: "emulated",
    device: emulatedProfile(),
    producer: null,
    planned: CASES.map((entry) => ({ case: entry.key, route: "naive" })),
    cases: CASES,
    results: [...results],
    ...change,
  };
  return claimsOf(basis)[0]?.level;
}

describe("the ladder", () => {
  it("climbs with what was shown, and no further", () => {
    const failed = { verdict: "fail" as const };
    expect(level([])).toBe("source");
    expect(level([result(0, { ...failed, state: "compile_failed", gates: [], receipts: [] })])).toBe("source");
    expect(level([result(0, { ...failed, state: "refused", gates: [], receipts: [] })])).toBe("compiled");
    expect(level([result(0, { ...failed, state: "timed_out", gates: [] })])).toBe("pipeline");
    expect(level([result(0), result(1, failed)])).toBe("smoke");
    expect(level([result(0), result(1)])).toBe("parity");
    // One planned case is missing: what was not run is not shown.
    expect(level([result(0)])).toBe("pipeline");
  });

  it("reaches boundary only with the whole boundary set", () => {
    const wanted = boundarySet("gqa_decode", "f32");
    const cases = wanted.map((_, index) => ({ ...CASES[0]!, key: `${CASES[0]!.key}/${index}`, boundary: true }));
    const planned = cases.map((entry) => ({ case: entry.key, route: "naive" }));
    const results = cases.map((entry) => ({ ...result(0), case: entry.key }));
    expect(level(results, { cases, planned })).toBe("boundary");
    expect(level(results.slice(1), { cases: cases.slice(1), planned: planned.slice(1) })).toBe("parity");
    const oneFailed = results.map((entry, index) => (index === 0 ? { ...entry, verdict: "fail" as const } : entry));
    expect(level(oneFailed, { cases, planned })).toBe("smoke");
  });

  it("imported outputs reach parity at most", () => {
    const imported = { execution: "imported" as const, device: null };
    expect(level([result(0), result(1)], imported)).toBe("parity");
    const boundary = { ...imported, cases: CASES.map((entry) => ({ ...entry, boundary: true })) };
    expect(level([result(0), result(1)], boundary)).toBe("parity");
    expect(level([result(0), result(1, { verdict: "fail" })], imported)).toBe("smoke");
    expect(level([result(0)], imported)).toBe("source");
  });
});

describe("chips", () => {
  it("are supported by evidence of a Metal device alone", () => {
    const claim = (execution: ClaimBasis["execution"]) =>
      claimsOf({
        execution,
        device: emulatedProfile("M3 Max"),
        producer: null,
        planned: [{ case: CASES[0]!.key, route: "naive" }],
        cases: CASES,
        results: [result(0)],
      })[0]?.supportsChip;
    expect([claim("emulated"), claim("nvidia"), claim("imported"), claim("metal")]).toEqual([
      null,
      null,
      null,
      "M3 Max",
    ]);
  });
});
