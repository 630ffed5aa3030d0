import { describe, expect, it } from "vitest";
import { blindCases } from "../../../electron/cases/blind.ts";
import { boundarySet } from "../../../electron/cases/boundary.ts";
import { DEFAULT_SEED, decodeShape } from "../../../electron/cases/case.ts";
import { generated } from "../../../electron/cases/file.ts";
import { type ClaimBasis, claimsOf } from "../../../electron/evidence/level.ts";
import { verdictReasons } from "../../../electron/evidence/verify_verdicts.ts";
import { gatesDigest } from "../../../electron/gates/digest.ts";
import { plannedCaseRecord } from "../../../electron/runs/case_record.ts";
import type { CaseRecord, GateVerdictRecord, ResultRecord } from "../../../electron/runs/record.ts";
import { readValidation } from "../../../electron/validation/lines.ts";
import { recordValidation } from "../../../electron/validation/report.ts";
import type { DeviceProfile } from "../../../native/device.ts";
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

  it("of an earlier bundle counts by the boundary set of its time, and stands in verification; a new one needs the whole set", () => {
    const { shape } = plannedCaseRecord(blindCases(DEFAULT_SEED)[0]!);
    const wanted = boundarySet("mla_prefill", "f32", 1);
    const cases = wanted.map((_, index) => ({ ...CASES[0]!, key: `${CASES[0]!.key}/${index}`, shape, boundary: true }));
    const planned = cases.map((entry) => ({ case: entry.key, route: "naive" }));
    const results = cases.map((entry) => ({ ...result(0), case: entry.key }));
    const basis: ClaimBasis = {
      execution: "emulated",
      device: emulatedProfile(),
      producer: null,
      planned,
      cases,
      results,
    };
    expect(boundarySet("mla_prefill", "f32").length).toBe(wanted.length + 2);
    expect([claimsOf(basis, 1)[0]?.level, claimsOf(basis)[0]?.level]).toEqual(["boundary", "parity"]);
    const reasons = (claims: unknown, sha256 = ""): readonly string[] =>
      verdictReasons({
        record: { ...basis, claims, outcome: "passed", gates: { sha256 } },
      } as unknown as Parameters<typeof verdictReasons>[0]);
    const words = "the claims do not follow from the results";
    expect(reasons(claimsOf(basis, 1)).some((reason) => reason.includes(words))).toBe(false);
    // With today's gates no bundle is an earlier one.
    expect(reasons(claimsOf(basis, 1), gatesDigest()).some((reason) => reason.includes(words))).toBe(true);
    expect(reasons(claimsOf({ ...basis, results: [] })).some((reason) => reason.includes(words))).toBe(true);
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
  const known = <T>(value: T, by: "api" | "inferred" | "assumed" = "api") => ({ value, by, source: "test" });
  const metal = (change: Partial<DeviceProfile> = {}): DeviceProfile => ({
    ...emulatedProfile("M3 Max"),
    id: "metal:0",
    execution: "metal",
    chip: known("M3 Max"),
    virtualGpu: known(false),
    ...change,
  });
  const claimOn = (execution: ClaimBasis["execution"], device: DeviceProfile, change: Partial<ClaimBasis> = {}) =>
    claimsOf({
      execution,
      device,
      producer: null,
      planned: [{ case: CASES[0]!.key, route: "naive" }],
      cases: CASES,
      results: [result(0)],
      ...change,
    })[0]!;

  it("are supported by evidence of a real Metal device alone", () => {
    const supported = (["emulated", "nvidia", "imported", "metal"] as const).map(
      (execution) => claimOn(execution, metal()).supportsChip,
    );
    expect(supported).toEqual([null, null, null, "M3 Max"]);
    expect(claimOn("metal", metal()).doesNotProvide).not.toContain("chip");
  });

  it("a virtual GPU supports none, and the claim says so", () => {
    const claim = claimOn("metal", metal({ virtualGpu: known(true) }));
    expect(claim).toMatchObject({ level: "parity", supportsChip: null });
    expect(claim.doesNotProvide).toMatch(/; anything about a chip: the GPU is a virtual one/);
  });

  it("nor does one of which that is not said, or only inferred, nor a chip that is", () => {
    const { virtualGpu: _virtual, ...silent } = metal();
    const soft = [
      [silent, "does not say whether"],
      [metal({ virtualGpu: known(false, "inferred") }), "that the GPU is no virtual one is inferred"],
      [metal({ chip: known("M3 Max", "inferred") }), "the chip is inferred"],
      [metal({ chip: known("M3 Max", "assumed") }), "the chip is assumed"],
    ] as const;
    for (const [device, why] of soft) {
      const claim = claimOn("metal", device);
      expect(claim.supportsChip, why).toBeNull();
      expect(claim.doesNotProvide).toContain(why);
    }
  });

  it("a run under validation shows parity and no timing", () => {
    const validation = recordValidation(readValidation("Metal API Validation Enabled\n"), {});
    const claim = claimOn("metal", metal(), { validation });
    expect(claim).toMatchObject({ level: "parity", supportsChip: "M3 Max" });
    expect(claim.doesNotProvide).toContain("any timing");
  });
});
