/** What the strip says: the first failing gate with both numbers, what to do next, and the ladder. */
import { describe, expect, it } from "vitest";
import { ulpBars } from "../../../../renderer/pages/parity/groups.ts";
import { errorLimit, errorShare, ladderOf, wordsOf } from "../../../../renderer/pages/parity/verdict.ts";
import type { Result } from "../../../../renderer/state/run_model.ts";

function gate(id: Result["gates"][number]["id"], verdict: "pass" | "fail" | "not_run", value: number, limit: number) {
  return { id, verdict, value, limit, where: "head 3", note: null };
}

function resultOf(verdict: Result["verdict"], gates: Result["gates"]): Result {
  return {
    case: "c",
    route: "r",
    state: "completed",
    error: null,
    verdict,
    metrics: null,
    gates,
    ms: null,
    timings: [],
    outputs: [],
    receipts: [],
    metricsPath: null,
  };
}

const FAILED = resultOf("fail", [gate("finite", "pass", 0, 0), gate("max_abs", "fail", 0.02, 0.001)]);

describe("the strip", () => {
  it("names the first failing gate with value and limit, how far over, and the next step", () => {
    const { sentence, over, next } = wordsOf(FAILED);
    expect(sentence).toContain("2.00e-2, limit 1.00e-3");
    expect(over).toBe("20.0 times the limit");
    expect(next).toBe("the inspector has the worst element, its operands and a diagnosis");
  });

  it("counts the gates that held, and claims no ratio where there is none", () => {
    expect(wordsOf(resultOf("pass", [gate("finite", "pass", 0, 0)])).sentence).toBe("1 of 1 gates held");
    expect(wordsOf(resultOf("fail", [gate("finite", "fail", 1, 0)])).over).toBeNull();
    expect(wordsOf(resultOf("fail", [gate("max_abs", "fail", Number.NaN, 1)])).over).toBeNull();
  });

  it("the limit of the errors is that of max_abs", () => {
    expect(errorLimit(FAILED)).toEqual({ value: 0.001, where: "head 3" });
    expect(errorShare(FAILED)).toBe("20.0");
    expect(errorShare(resultOf("fail", []))).toBeNull();
  });
});

describe("the ladder", () => {
  const states = (...given: Parameters<typeof ladderOf>) => ladderOf(...given).map(({ state }) => state);

  it("fails at parity, and no emulated result is screened or promoted", () => {
    expect(states(FAILED, "smoke", "emulated")).toEqual(["on", "on", "on", "on", "at", "open", "off", "off"]);
  });

  it("has no timing levels on a virtual GPU either", () => {
    const rungs = ladderOf(FAILED, null, "virtual");
    expect(rungs.at(-1)).toMatchObject({ state: "off", title: expect.stringContaining("a virtual GPU has no timing") });
  });

  it("shows nothing as reached where there is no claim", () => {
    expect(states(FAILED, null, "chip")).toEqual(["open", "open", "open", "open", "at", "open", "open", "open"]);
  });
});

it("ULP bars have both sides alike around the identical ones, and lose no element", () => {
  const bars = ulpBars({
    limits: [0, 1, 2, 4, Number.POSITIVE_INFINITY],
    above: [0, 5, 0, 1, 0],
    below: [0, 3, 2, 0, 0],
    identical: 9,
    nan: 0,
    p50: 0,
    p999: 4,
    max: 4,
  });
  expect(bars.map(({ label }) => label)).toEqual(["−4", "−2", "−1", "0", "1", "2", "4"]);
  expect(bars.reduce((sum, { value }) => sum + value, 0)).toBe(20);
});
