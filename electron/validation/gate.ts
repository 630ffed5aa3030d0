/**
 * The gate `validation`: what Metal's validation said while a result was computed. The door adds it when the host has ended,
 * for its words come over another channel than the results and may come later.
 */
import { type GateResult, verdictOf, withGate } from "../gates/evaluate.ts";
import type { ResultRecord } from "../runs/record.ts";
import { counted } from "../words.ts";
import { concerns, type ValidationLog, type ValidationReport } from "./report.ts";

function timesOf(reports: readonly ValidationReport[]): number {
  return reports.reduce((sum, { times }) => sum + times, 0);
}

function firstLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").slice(0, 300);
}

/** Verdict on one result. Errors fail; where anything keeps silence from being heard, the gate did not run. */
export function validationGate(log: ValidationLog, result: Pick<ResultRecord, "case" | "route">): GateResult {
  const own = log.reports.filter((report) => concerns(report, result));
  const errors = own.filter(({ severity }) => severity === "error");
  const [first] = errors;
  const base = { id: "validation", limit: null, value: null, where: null } as const;
  if (first !== undefined) {
    const value = timesOf(errors);
    const where = first.kernel ?? (first.at === null ? "outside any result" : "no kernel named");
    return { id: "validation", verdict: "fail", value, limit: 0, where, note: firstLine(first.text) };
  }
  const { api, shader } = log.enabled;
  if (!api || !shader) {
    const which = !api && !shader ? "API and shader validation are" : `${api ? "shader" : "API"} validation is`;
    return { ...base, verdict: "not_run", note: `Metal never said that ${which} on: silence proves nothing` };
  }
  if (log.counts.dropped > 0) {
    const words = `${counted(log.counts.dropped, "line")} of the log found no room`;
    return { ...base, verdict: "not_run", note: `${words}: take fewer cases` };
  }
  const unclear = own.filter(({ severity }) => severity === "unclear");
  if (unclear.length > 0) {
    const words = `${counted(timesOf(unclear), "line")} of Metal's of no known form, such as: ${firstLine(unclear[0]!.text)}`;
    return { ...base, verdict: "not_run", note: words };
  }
  return { ...base, verdict: "pass", value: 0, limit: 0, where: "both layers", note: null };
}

/** Results with the gate, and with the verdicts and marks that follow: their times are those of instrumented pipelines. */
export function withValidation(results: readonly ResultRecord[], log: ValidationLog): readonly ResultRecord[] {
  return results.map((result) => {
    const gates = withGate(result.gates, validationGate(log, result));
    const timings = result.timings.map((timing) => ({ ...timing, instrumented: true as const }));
    return { ...result, gates: [...gates], verdict: verdictOf(gates), timings };
  });
}
