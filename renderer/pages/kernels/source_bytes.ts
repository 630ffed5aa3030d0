/** The bytes beside a source: of which set of pipelines of a run, and why there are none. Pure. */
import type { RoutePlan } from "../../../kernels/route.ts";
import type { CheckResult } from "../../../native/check.ts";
import type { RunCheck, RunChecks } from "./report_rows.ts";
import { bytesByLine, type LineBytes, trafficNote } from "./source_marks.ts";

export type SourceBytes =
  | { readonly lines: ReadonlyMap<number, LineBytes>; readonly note: string; readonly reason?: undefined }
  | { readonly lines?: undefined; readonly note?: undefined; readonly reason: string };

/** Sets of pipelines of a route; names of routes repeat over the operators. */
export function checksOf(checks: readonly RunCheck[], operator: string, route: string): readonly RunCheck[] {
  return checks.filter((check) => check.operator === operator && check.route === route);
}

function sameDefines(a: RunCheck["defines"], b: RoutePlan["defines"]): boolean {
  const text = (defines: Readonly<Record<string, string | number>>): string =>
    JSON.stringify(Object.entries(defines).sort());
  return a !== null && text(a) === text(b);
}

/** The set that was compiled as the plan asks; the first of the route where none was. */
export function checkFor(checks: readonly RunCheck[], plan: RoutePlan | undefined): RunCheck | undefined {
  return checks.find(({ defines }) => plan !== undefined && sameDefines(defines, plan.defines)) ?? checks[0];
}

/** Bytes of each line of `path`, whose present text is `text`. */
export function sourceBytes(
  { texts }: Pick<RunChecks, "texts">,
  check: RunCheck | undefined,
  path: string,
  text: string,
): SourceBytes {
  if (check === undefined) return { reason: "the run did not have this route checked" };
  const compiled = texts.find((each) => each.path === path.toLowerCase())?.text;
  if (compiled === undefined) return { reason: "the run did not compile this file" };
  if (compiled !== text) return { reason: "the file has changed since the run: its lines are others" };
  const result = check.result as CheckResult;
  const lines = bytesByLine(result, path);
  if (lines.size === 0)
    return { reason: "no line of this file reads or writes memory; see the other files of the route" };
  return { lines, note: trafficNote(result, check.case) };
}
