/** Parity: what a result's errors look like, where the worst lie, and what the worst element was computed from. */
import type { ReactElement } from "react";
import { commandLine, parityWords } from "../../../electron/actions.ts";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { FilterField } from "../../parts/filter_field.tsx";
import { GateTable } from "../../parts/gate_table.tsx";
import { Empty, Pane, PaneHead } from "../../parts/pane.tsx";
import { countText, lengthText, runName } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { copyText, useViewCommand } from "../../shell/command.ts";
import { executionOf, useViewExecution } from "../../shell/execution.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { filterRows, type Row, rowsOf, sortRows } from "../../state/rows.ts";
import { itemKey, type RunModel, requestAgain } from "../../state/run_model.ts";
import { type RunEntryView, useLive, useRuns, useSession } from "../../state/session.ts";
import { go, setParams, useView } from "../../state/view.ts";
import { useShownRun } from "../run/use_run.ts";
import { CaseList } from "./case_list.tsx";
import { ParityStrip } from "./parity_strip.tsx";
import { NoOutput, ResultView } from "./result_view.tsx";
import type { Level } from "./verdict.ts";
import "./parity.css";

/** The command of the one result; that of the whole run where its inputs or outputs came from a file. */
function wordsOf(run: RunModel, row: Row): readonly string[] {
  const request = run.execution === "imported" ? null : requestAgain(run, row);
  return request === null ? run.command : parityWords(request);
}

/** The level that the row's route reaches by the claims of its run. */
function claimedOf(entry: RunEntryView | undefined, row: Row): Level | null {
  const shape = row.record?.shape;
  if (entry?.state !== "kept" || shape === undefined) return null;
  const claim = entry.claims.find(
    ({ operator, route, dtype }) => operator === shape.operator && route === row.route && dtype === shape.dtype,
  );
  return claim?.level ?? null;
}

/** Why the selected result cannot be run again; undefined where it can. */
function againBlocked(run: RunModel, row: Row | undefined, running: boolean): string | undefined {
  if (running) return "a run is going on";
  if (run.execution === "imported") return "another engine computed these outputs";
  if (row === undefined) return "no result is selected";
  return requestAgain(run, row) === null ? "its inputs came from a file; the command of this view runs it" : undefined;
}

function heldText(row: Row): string {
  const gates = row.result?.gates ?? [];
  return `${gates.filter(({ verdict }) => verdict === "pass").length} of ${gates.length} held`;
}

interface CasesProps {
  /** Id of the run. */
  readonly run: string;
  readonly all: readonly Row[];
  readonly rows: readonly Row[];
  readonly row: Row | undefined;
  readonly text: string;
  readonly onSelect: (key: string) => void;
}

/** The cases, and the gates of the one at hand. */
function Cases({ run, all, rows, row, text, onSelect }: CasesProps): ReactElement {
  return (
    <div className="page parity-left">
      <Pane label="Cases">
        <PaneHead title="Cases" meta={countText(all.length)}>
          <FilterField label="Filter the cases" value={text} onChange={(q) => setParams({ q })} />
        </PaneHead>
        <CaseList rows={rows} selected={row?.key} onSelect={onSelect} />
      </Pane>
      <Pane label="Gates" className="hl">
        <PaneHead title="Gates" meta={row?.result === undefined ? "" : heldText(row)} />
        <div className="body scroll">
          {row?.result === undefined ? (
            <p className="nothing t3">No gate was asked: there is no result</p>
          ) : (
            <GateTable result={row.result} run={run} dense />
          )}
        </div>
      </Pane>
    </div>
  );
}

function RunView({ run }: { readonly run: RunModel }): ReactElement {
  const { params } = useView();
  const session = useSession();
  const live = useLive();
  const runs = useRuns();
  const text = params.q ?? "";
  const all = sortRows(rowsOf(run));
  const rows = filterRows(all, "all", text);
  const row = all.find(({ key }) => key === params.sel) ?? rows[0] ?? all[0];
  const select = (key: string): void => setParams({ sel: key, el: null, key: null, low: null, high: null });
  const at = rows.findIndex(({ key }) => key === row?.key);
  const [before, after] = [rows[at - 1], rows[at + 1]];
  useAction("case.previous", () => before && select(before.key), before ? undefined : "this is the first case");
  useAction("case.next", () => after && select(after.key), after ? undefined : "this is the last case");

  const entry = runs?.find(({ id }) => id === run.id);
  useTrail("Parity", runName(run.id), ...(row?.record === undefined ? [] : [lengthText(row.record.shape), row.route]));
  useViewCommand(row === undefined ? ["lockstep", "parity"] : wordsOf(run, row));
  useViewExecution(executionOf(run));
  useAction("window.close", () => setParams({ q: null, el: null, key: null }));
  useAction(
    "run.reproducer",
    () => void (row === undefined ? undefined : copyText(commandLine(wordsOf(run, row)))),
    row === undefined ? "no result is selected" : undefined,
  );
  const start = async (): Promise<void> => {
    const request = row === undefined ? null : requestAgain(run, row);
    if (request !== null && (await session.startRun(request)) !== undefined) go("run", {});
  };
  useAction("run.start", () => void start(), againBlocked(run, row, live?.outcome === "running"));

  const others = all.filter((each) => each.case === row?.case && each.key !== row.key && each.result?.metrics);
  const other = others.find(({ route }) => route === params.other)?.route ?? null;
  const noOther = others.length === 0 ? "no other route has an output on this case" : undefined;
  useAction(
    "compare.routes",
    () => setParams({ other: others[others.findIndex(({ route }) => route === other) + 1]?.route ?? null }),
    noOther,
  );
  useAction(
    "compare.swap",
    () => {
      if (row !== undefined && other !== null) setParams({ sel: itemKey(row.case, other), other: row.route });
    },
    noOther ?? (other === null ? "no route is compared with" : undefined),
  );
  const there = row?.result !== undefined && row.record !== undefined && row.result.metrics !== null;
  const idle = run.outcome !== "running";
  const left = <Cases run={run.id} all={all} rows={rows} row={row} text={text} onSelect={select} />;
  return (
    <div className="page parity-rows">
      {row === undefined ? (
        <div />
      ) : (
        <ParityStrip run={run} row={row} claimed={claimedOf(entry, row)} others={others} other={other} />
      )}
      {row === undefined ? (
        <p className="nothing t3">This run planned no result</p>
      ) : there && idle ? (
        <ResultView run={run} row={row} other={other} left={left} onSelect={select} />
      ) : (
        <NoOutput run={run} row={row} left={left} />
      )}
    </div>
  );
}

export function ParityPage(): ReactElement {
  const { params } = useView();
  const shown = useShownRun(params.run);
  if (shown.state === "there") return <RunView run={shown.run} />;
  return <NoRun shown={shown} />;
}

type NotThere = Exclude<ReturnType<typeof useShownRun>, { readonly state: "there" }>;

function NoRun({ shown }: { readonly shown: NotThere }): ReactElement {
  useTrail("Parity", shown.state === "none" ? "no run yet" : "a run that is not there");
  useViewCommand(["lockstep", "parity", "--suite", "quick"]);
  if (shown.state === "asking") return <div className="page" />;
  if (shown.state === "failed") {
    return (
      <div className="inset">
        <FailureNote failure={shown.failure} />
      </div>
    );
  }
  return (
    <Empty title="No result to look at">
      <p className="t2 after">
        A run compares each kernel's output with a float64 oracle. This page then shows the error of every element,
        where the worst lie, and what they were computed from.
      </p>
      <ActionButton action="page.run" look="primary" large>
        Run a suite
      </ActionButton>
    </Empty>
  );
}
