/** Results of the suite in a few words. Apart from the checks, so that a reader of records does not bring them along. */
import type { ConformanceResult } from "./check.ts";

/** How many of each outcome: `80 passed, 0 failed, 2 not run`. */
export function conformanceSummary(results: readonly ConformanceResult[]): string {
  const count = (state: ConformanceResult["outcome"]): number =>
    results.filter((result) => result.outcome === state).length;
  return `${count("passed")} passed, ${count("failed")} failed, ${count("not_run")} not run`;
}
