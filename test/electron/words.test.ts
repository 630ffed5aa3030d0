/** What a reader in a hurry is told about a result that is no pass. */
import { describe, expect, it } from "vitest";
import type { GateResult } from "../../electron/gates/evaluate.ts";
import type { ResultRecord } from "../../electron/runs/record.ts";
import { counted, gateText, missText } from "../../electron/words.ts";

function failing(...ids: readonly GateResult["id"][]): ResultRecord {
  const gates = ids.map((id) => ({ id, verdict: "fail" as const, value: 2, limit: 1, where: "case", note: null }));
  const nothing = { metrics: null, ms: null, timings: [], outputs: [], receipts: [], metricsPath: null };
  return { case: "c", route: "naive", state: "completed", error: null, verdict: "fail", gates, ...nothing };
}

describe("missText", () => {
  it("names the first gate that failed", () => {
    expect(missText(failing("max_abs", "nmse_row"))).toMatch(/^largest error is 2, limit 1/);
  });

  it("does not blame the output for a file that disagrees with the oracle", () => {
    expect(missText(failing("stored_reference", "oracle_agreement"))).toContain("oracle and file disagree");
    expect(missText(failing("stored_reference"))).toContain("the file's float64 output disagrees");
    expect(missText(failing("max_abs", "stored_reference", "oracle_agreement"))).toMatch(/^largest error/);
  });
});

describe("gateText", () => {
  const gate = (id: GateResult["id"], value: number, over: Partial<GateResult> = {}): string =>
    gateText({ id, verdict: "fail", value, limit: 0, where: "all", note: null, ...over });

  it("says what a counting gate found, and of how many", () => {
    const of = { where: "16384 elements" };
    expect(gate("finite", 1, of)).toBe("finite: 1 of 16,384 elements is NaN or Inf, limit 0");
    expect(gate("finite", 1200, of)).toBe("finite: 1,200 of 16,384 elements are NaN or Inf, limit 0");
    expect(gate("coverage", 1, of)).toBe("full coverage: 1 of 16,384 elements was never written, limit 0");
    expect(gate("repeat", 12, { where: "second run" })).toBe(
      "bit-equal repeat: 12 bytes differ between two runs, limit 0",
    );
    expect(gate("lockstep", 1)).toBe("lockstep agreement: 1 byte differs in the flavour lockstep, limit 0");
    expect(gate("sentinels", 2, { where: "out, lse" })).toBe(
      "sentinels intact: 2 buffers are written past the end, limit 0 (out, lse)",
    );
    expect(gate("resources", 1, { where: "mla_prefill_8x8", note: "launches 128 threads" })).toBe(
      "resource contract: 1 pipeline does not keep the contract, limit 0 (mla_prefill_8x8; launches 128 threads)",
    );
  });

  it("says where an error lies that is measured against a limit", () => {
    expect(gate("nmse_row", 3.91e-2, { limit: 1e-10, where: "token 3 head 1" })).toBe(
      "NMSE of the worst row is 3.91e-2, limit 1.00e-10 (token 3 head 1)",
    );
    expect(gate("slope", 2e-3, { limit: 1e-4, where: "head 2" })).toBe(
      "slope: the slope is 2.00e-3 away from 1, limit 1.00e-4 (head 2)",
    );
    expect(gate("stored_reference", 2e-3, { limit: 1e-4, where: "NMSE of the case" })).toBe(
      "stored reference: NMSE of the case is 2.00e-3, limit 1.00e-4",
    );
  });

  it("keeps a figure that is no number, and a note", () => {
    expect(gate("max_abs", Number.NaN, { limit: 1e-3, where: "head 0" })).toBe(
      "largest error is NaN, limit 1.00e-3 (head 0)",
    );
    expect(gate("finite", 3, { where: "8 elements", note: "beyond f32" })).toBe(
      "finite: 3 of 8 elements are NaN or Inf, limit 0 (beyond f32)",
    );
  });
});

it("counts with a noun", () => {
  expect([counted(1, "case"), counted(1200, "result")]).toEqual(["1 case", "1,200 results"]);
});
