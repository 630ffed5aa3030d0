/** Which case and routes of a run the page is about: from the URL, or a sensible first choice. Pure. */
import { type CaseRecord, itemKey, type Result, type RunModel, splitKey } from "../../state/run_model.ts";

export interface Selected {
  readonly record: CaseRecord;
  /** Routes of the case in the order of the plan. */
  readonly routes: readonly string[];
  /** Series A, and the route whose contract is shown. */
  readonly route: string;
  /** Series B; null where the case has one route. */
  readonly other: string | null;
  readonly result: Result | undefined;
}

/** What is looked at of a run. */
export type Planned = Pick<RunModel, "planned" | "cases" | "results">;

/** Cases that were planned and materialised, in the order of the plan. */
export function casesOf(run: Planned): readonly CaseRecord[] {
  const keys = [...new Set(run.planned.map((item) => item.case))];
  return keys.flatMap((key) => run.cases.get(key) ?? []);
}

/** What a candidate is compared with first: the strong baseline. */
const STRONGEST = "three_stage_staged";

/** `sel` is how Parity names a result: a link from there finds its case and route. */
export function selectIn(run: Planned, params: Readonly<Record<string, string>>): Selected | null {
  const sel = params.sel === undefined ? undefined : splitKey(params.sel);
  const cases = casesOf(run);
  const record = cases.find(({ key }) => key === (params.case ?? sel?.case)) ?? cases[0];
  if (record === undefined) return null;
  const routes = run.planned.filter((item) => item.case === record.key).map((item) => item.route);
  const route = routes.find((name) => name === (params.route ?? sel?.route)) ?? routes[0];
  if (route === undefined) return null;
  const others = routes.filter((name) => name !== route);
  const other = others.find((name) => name === params.other) ?? others.find((name) => name === STRONGEST) ?? others[0];
  return { record, routes, route, other: other ?? null, result: run.results.get(itemKey(record.key, route)) };
}

/** The case before or after; undefined at the ends. */
export function caseBeside(run: Planned, key: string, by: -1 | 1): string | undefined {
  const cases = casesOf(run);
  return cases[cases.findIndex((record) => record.key === key) + by]?.key;
}
