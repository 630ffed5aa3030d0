/** How a run ends, computed from its results. */
import type { Outcome, ResultRecord } from "./record.ts";

/**
 * `passed` only if every planned result is there and passed. A crash outranks a time-out, which outranks a failed gate:
 * the first is what a reader must look at first.
 */
export function outcomeOf(planned: number, results: readonly ResultRecord[]): Outcome {
  const states = new Set(results.map((result) => result.state));
  if (states.has("crashed")) return "crashed";
  if (states.has("timed_out")) return "timed_out";
  if (states.has("cancelled")) return "cancelled";
  const passed = results.length === planned && planned > 0 && results.every((result) => result.verdict === "pass");
  return passed ? "passed" : "failed";
}
