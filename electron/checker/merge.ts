/** Reports of one place as one: an unrolled loop has many instructions for one line of the source. */
import type { CheckReport, CheckResult, SiteAccess } from "../../native/check.ts";

function placeKey(site: SiteAccess | undefined): readonly unknown[] {
  return site === undefined ? [] : [site.access, site.location?.path, site.location?.line, site.location?.column];
}

/** What makes two reports the same to a reader: kind, dispatch, both places, the memory. */
export function reportKey({ kind, severity, dispatch, first, second, buffer }: CheckReport): string {
  const memory = buffer === null ? [] : [buffer.name, buffer.index];
  return JSON.stringify([kind, severity, dispatch, placeKey(first), placeKey(second), memory]);
}

/** The first report of every place with the count of all; the order stays. */
export function mergedReports(reports: readonly CheckReport[]): readonly CheckReport[] {
  const merged = new Map<string, CheckReport>();
  for (const report of reports) {
    const key = reportKey(report);
    const known = merged.get(key);
    merged.set(key, known === undefined ? report : { ...known, count: known.count + report.count });
  }
  return [...merged.values()];
}

export function mergedResult(result: CheckResult): CheckResult {
  return { ...result, reports: mergedReports(result.reports) };
}
