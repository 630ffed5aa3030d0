/** What a reader in a hurry is told about a result that is no pass. */
import { describe, expect, it } from "vitest";
import type { GateResult } from "../../electron/gates/evaluate.ts";
import type { ResultRecord } from "../../electron/runs/record.ts";
import { counted, missText } from "../../electron/words.ts";

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

it("counts with a noun", () => {
  expect([counted(1, "case"), counted(1200, "result")]).toEqual(["1 case", "1,200 results"]);
});
