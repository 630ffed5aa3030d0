/** The policy of verdicts: the checker first, lanes that exchange data pin a kernel, `fast` alone never passes. */
import { describe, expect, it } from "vitest";
import { isPinned, verdictOn } from "../../../electron/checker/judge.ts";
import { mergedReports } from "../../../electron/checker/merge.ts";
import type { CheckStage, FlavourOutcome } from "../../../electron/checker/messages.ts";
import type { CheckKind, CheckReport, CheckResult } from "../../../native/check.ts";

function report(
  kind: CheckKind,
  severity: CheckReport["severity"],
  line = 1,
  change: Partial<CheckReport> = {},
): CheckReport {
  const site = {
    access: "write",
    location: { path: "k.metal", line, column: 1 },
    threadgroup: [0, 0, 0],
    simdgroup: 0,
    lane: 0,
    thread: 0,
  } as const;
  return {
    kind,
    severity,
    dispatch: "k",
    message: "m",
    first: site,
    addressSpace: "device",
    buffer: { name: "out", index: 0, bytes: 64 },
    offset: 0,
    size: 4,
    count: 1,
    mechanism: "a",
    blindSpot: "b",
    ...change,
  };
}

function checked(reports: readonly CheckReport[], change: Partial<CheckResult> = {}): CheckResult {
  const traffic = { stage: "after optimisation", exact: true, exactReason: "", dispatches: [] } as const;
  return { reports, dropped: 0, complete: true, traffic, ...change };
}

function outcome(change: Partial<FlavourOutcome> = {}): FlavourOutcome {
  return {
    flavour: "fast",
    verdict: "pass",
    gates: [],
    leftOut: [],
    maxAbs: 0,
    nmse: 0,
    timings: [],
    padding: [],
    pipelines: [],
    check: null,
    rights: null,
    error: null,
    ...change,
  };
}

function stage(...checks: readonly CheckResult[]): CheckStage {
  return { outcomes: checks.map((check) => outcome({ flavour: "check", check })) };
}

const EXCHANGE = report("lockstep_exchange", "error");

describe("a verdict", () => {
  it("needs gates and checker", () => {
    expect(verdictOn(stage(checked([])), false, outcome()).verdict).toBe("pass");
    expect(verdictOn(stage(checked([report("race", "error")])), false, outcome())).toEqual({
      verdict: "fail",
      reason: "The gates held, but the checker reports 1 error",
    });
    expect(verdictOn(stage(checked([])), false, outcome({ verdict: "fail" })).verdict).toBe("fail");
    expect(verdictOn(stage(checked([report("written_twice", "warning")])), false, outcome()).verdict).toBe("pass");
  });

  it("is not given where the checker came to no end, or lost reports", () => {
    expect(verdictOn(stage(checked([], { complete: false })), false, outcome()).verdict).toBe("not_run");
    expect(verdictOn(stage(checked([], { dropped: 3 })), false, outcome()).verdict).toBe("not_run");
    const crashed = { outcomes: [outcome({ flavour: "check", error: { code: "crashed", message: "It crashed." } })] };
    expect(verdictOn(crashed, false, outcome())).toMatchObject({
      verdict: "not_run",
      reason: expect.stringContaining("It crashed."),
    });
  });

  it("of a run that crashed is none, or a fail where the checker saw why", () => {
    const crashed = outcome({ verdict: "not_run", error: { code: "crashed", message: "It crashed." } });
    expect(verdictOn(stage(checked([])), false, crashed).verdict).toBe("not_run");
    expect(verdictOn(stage(checked([report("out_of_bounds", "error")])), false, crashed).verdict).toBe("fail");
  });

  it("is null where nothing is compared and the checker is silent", () => {
    expect(verdictOn(stage(checked([])), false, outcome({ verdict: null })).verdict).toBeNull();
    expect(verdictOn(stage(checked([report("race", "error")])), false, outcome({ verdict: null })).verdict).toBe(
      "fail",
    );
  });

  it("of a pinned kernel is that of lockstep, whose exchanges are stated and do not fail it", () => {
    const both = stage(checked([EXCHANGE, report("uninitialized_threadgroup", "error")]), checked([EXCHANGE]));
    expect(isPinned(both)).toBe(true);
    expect(verdictOn(both, true, outcome({ flavour: "lockstep" }))).toEqual({
      verdict: "pass",
      reason:
        "Every gate that applies held in lockstep, to which it is pinned, and the checker reports 1 lockstep-dependent exchange and no other error",
    });
    const race = stage(checked([EXCHANGE]), checked([EXCHANGE, report("race", "error")]));
    expect(verdictOn(race, true, outcome({ flavour: "lockstep" })).verdict).toBe("fail");
    expect(isPinned(stage(checked([report("race", "error")])))).toBe(false);
  });
});

describe("merging", () => {
  it("makes reports of one place one, and keeps places apart", () => {
    const merged = mergedReports([
      report("written_twice", "warning", 3, { count: 4 }),
      report("written_twice", "warning", 3, { count: 5, offset: 8 }),
      report("written_twice", "warning", 4),
      report("race", "error", 3),
    ]);
    expect(merged.map(({ kind, count, offset }) => [kind, count, offset])).toEqual([
      ["written_twice", 9, 0],
      ["written_twice", 1, 0],
      ["race", 1, 0],
    ]);
  });
});
