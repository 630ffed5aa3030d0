/** The rows of a run: one for each planned case and route, with the state that its glyph shows. */
import { type CaseRecord, itemKey, type Result, type RunModel } from "./run_model.ts";

export type RowState = "running" | "fail" | "crash" | "timedout" | "notrun" | "skip" | "cancel" | "pass" | "queued";

export interface Row {
  readonly key: string;
  readonly case: string;
  readonly route: string;
  readonly state: RowState;
  readonly record: CaseRecord | undefined;
  readonly result: Result | undefined;
}

/** Words of the states, as everywhere. */
export const STATE_WORDS: Readonly<Record<RowState, string>> = {
  running: "running",
  fail: "fail",
  crash: "crashed",
  timedout: "timed out",
  notrun: "not run",
  skip: "skipped",
  cancel: "cancelled",
  pass: "pass",
  queued: "queued",
};

/** What a reader must see first. */
const ORDER: readonly RowState[] = [
  "running",
  "crash",
  "fail",
  "timedout",
  "cancel",
  "skip",
  "notrun",
  "pass",
  "queued",
];

function resultState({ verdict, state }: Result): RowState {
  if (verdict === "pass") return "pass";
  if (verdict === "fail") return "fail";
  if (state === "timed_out") return "timedout";
  if (state === "crashed") return "crash";
  if (state === "skipped") return "skip";
  return state === "cancelled" ? "cancel" : "notrun";
}

/** Rows in the order of the plan. The first one without a result is where a run stopped: results come in that order. */
export function rowsOf(model: RunModel): readonly Row[] {
  let stopped = false;
  return model.planned.map((item): Row => {
    const key = itemKey(item.case, item.route);
    const result = model.results.get(key);
    const first = result === undefined && !stopped;
    if (result === undefined) stopped = true;
    const state = result === undefined ? openState(model, item, first) : resultState(result);
    return { key, case: item.case, route: item.route, state, record: model.cases.get(item.case), result };
  });
}

function openState(model: RunModel, item: { readonly case: string; readonly route: string }, first: boolean): RowState {
  switch (model.outcome) {
    case "running": {
      const { step } = model;
      const here = step !== null && step.case === item.case && (step.route === null || step.route === item.route);
      return here && (step.route !== null || first) ? "running" : "queued";
    }
    case "crashed":
      return first ? "crash" : "notrun";
    case "cancelled":
      return first ? "cancel" : "notrun";
    default:
      return "notrun";
  }
}

/** Sorted for reading: what is wrong first, then the plan's order. */
export function sortRows(rows: readonly Row[]): readonly Row[] {
  return rows
    .map((row, index) => ({ row, index }))
    .sort((a, b) => ORDER.indexOf(a.row.state) - ORDER.indexOf(b.row.state) || a.index - b.index)
    .map(({ row }) => row);
}

/** The filters over a list of rows. */
export const FILTERS = ["all", "fail", "notrun", "running", "pass", "queued"] as const;
export type Filter = (typeof FILTERS)[number];

const MEMBERS: Readonly<Record<Filter, readonly RowState[]>> = {
  all: ORDER,
  fail: ["fail"],
  notrun: ["notrun", "crash", "timedout", "cancel", "skip"],
  running: ["running"],
  pass: ["pass"],
  queued: ["queued"],
};

export function countIn(rows: readonly Row[], filter: Filter): number {
  return rows.filter((row) => MEMBERS[filter].includes(row.state)).length;
}

/** Rows of a filter whose case or route holds every word of `text`. */
export function filterRows(rows: readonly Row[], filter: Filter, text: string): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const hay = `${row.case} ${row.route} ${STATE_WORDS[row.state]}`.toLowerCase();
    return MEMBERS[filter].includes(row.state) && words.every((word) => hay.includes(word));
  });
}

/** What rows can be narrowed down by, besides their state: each holds one value or all. */
export const FACETS = ["operator", "route", "type"] as const;
export type Facet = (typeof FACETS)[number];
export type FacetChoice = Readonly<Partial<Record<Facet, string>>>;

function facetOf(row: Row, facet: Facet): string {
  if (facet === "route") return row.route;
  const parts = row.case.split("/");
  return (facet === "operator" ? parts[0] : parts.at(-1)) ?? "";
}

/** The values that rows have of a facet, sorted. */
export function facetValues(rows: readonly Row[], facet: Facet): readonly string[] {
  return [...new Set(rows.map((row) => facetOf(row, facet)))].sort();
}

/** A value that no row has narrows nothing: it is of another run's URL. */
export function facetRows(rows: readonly Row[], choice: FacetChoice): readonly Row[] {
  const inForce = FACETS.filter((facet) => {
    const value = choice[facet];
    return value !== undefined && facetValues(rows, facet).includes(value);
  });
  return rows.filter((row) => inForce.every((facet) => facetOf(row, facet) === choice[facet]));
}

/** Rows by state, for the bar and its legend. */
export function tally(rows: readonly Row[]): ReadonlyMap<RowState, number> {
  const counts = new Map<RowState, number>();
  for (const state of ["pass", "fail", "crash", "timedout", "notrun", "skip", "cancel", "running", "queued"] as const) {
    const count = rows.filter((row) => row.state === state).length;
    if (count > 0) counts.set(state, count);
  }
  return counts;
}
