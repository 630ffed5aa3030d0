/** The result whose errors the page sorts by lane, and those errors. */
import { type Row, rowsOf, sortRows } from "../../state/rows.ts";
import { type FailureView, useAnswer } from "../../state/session.ts";
import { useShownRun } from "../run/use_run.ts";
import type { LaneErrors } from "./lane_errors.ts";

export type ErrorsShown =
  | { readonly state: "asking" }
  /** Why there is nothing to show. */
  | { readonly state: "none"; readonly why: string }
  | { readonly state: "failed"; readonly failure: FailureView }
  | { readonly state: "there"; readonly errors: LaneErrors; readonly limit: number | null };

export interface LaneErrorsView {
  readonly shown: ErrorsShown;
  /** Id of the run; undefined where there is none. */
  readonly run: string | undefined;
  readonly row: Row | undefined;
  /** Results that could be shown, what is wrong first. */
  readonly choices: readonly Row[];
}

/** The route whose output stands in matrices is offered first; of any other the workbench says why it has no lanes. */
const FIRST_ROUTE = "simdgroup_8x8";

/** `run` and `sel` as on the Run page: a run's id, a case and a route. */
export function useLaneErrors(run: string | undefined, sel: string | undefined): LaneErrorsView {
  const model = useShownRun(run);
  const there = model.state === "there" ? model.run : null;
  const going = there?.outcome === "running";
  const choices =
    there === null || going
      ? []
      : sortRows(rowsOf(there)).filter(
          ({ record, result }) => record?.shape.operator === "mla_prefill" && (result?.outputs.length ?? 0) > 0,
        );
  const row =
    choices.find(({ key }) => key === sel) ?? choices.find(({ route }) => route === FIRST_ROUTE) ?? choices[0];
  const answer = useAnswer(
    "parity.inspect",
    there === null || row === undefined
      ? null
      : { id: there.id, case: row.case, route: row.route, what: { kind: "lanes", measure: "abs" } },
  );
  const view = { run: there?.id, row, choices };
  const none = (why: string): LaneErrorsView => ({ ...view, shown: { state: "none", why } });
  if (model.state === "asking") return { ...view, shown: { state: "asking" } };
  if (model.state === "failed") return { ...view, shown: { state: "failed", failure: model.failure } };
  if (model.state === "none") return none("No run yet. A result of mla_prefill fills this chart.");
  if (going) return none("A run is going on. Its results can be sorted by lane when it has ended.");
  if (row === undefined) return none("This run has no output of mla_prefill, whose tiles these maps describe.");
  if (answer.state === "asking") return { ...view, shown: { state: "asking" } };
  if (answer.state === "failed") return { ...view, shown: { state: "failed", failure: answer.failure } };
  const { value } = answer;
  if (value.kind !== "lanes" || value.lanes === null) {
    return none(`${value.kind === "lanes" && value.reason !== null ? value.reason : "No lanes were given"}.`);
  }
  const limit = row.result?.gates.find(({ id }) => id === "max_abs")?.limit ?? null;
  return { ...view, shown: { state: "there", errors: value.lanes, limit } };
}
