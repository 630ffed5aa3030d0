/** Parity: what a result's errors look like, where the worst lie, and what the worst element was computed from. */
import { type ReactElement, useRef } from "react";
import { commandLine, parityWords } from "../../../electron/actions.ts";
import type { StartRequest } from "../../../electron/contract.ts";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { FilterField } from "../../parts/filter_field.tsx";
import { Empty, Pane, PaneHead } from "../../parts/pane.tsx";
import { countText, lengthText, runName } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { copyText, useViewCommand } from "../../shell/command.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { filterRows, type Row, rowsOf, sortRows } from "../../state/rows.ts";
import type { RunModel } from "../../state/run_model.ts";
import { type RunEntryView, useLive, useRuns, useSession } from "../../state/session.ts";
import { go, setParams, useView } from "../../state/view.ts";
import { suiteOf } from "../run/suite_picker.tsx";
import { useShownRun } from "../run/use_run.ts";
import { type ColumnAxis, extentsOf, MEASURES, positionAxis } from "./address.ts";
import { CaseList } from "./case_list.tsx";
import { focusedChart } from "./chart_pane.tsx";
import { Charts } from "./charts.tsx";
import { GatesList } from "./gates_list.tsx";
import { Inspector } from "./inspector.tsx";
import { ParityStrip } from "./parity_strip.tsx";
import { type Subject, useInspect } from "./use_inspect.ts";
import { useParityKeys } from "./use_parity_keys.ts";
import { errorLimit, type Level } from "./verdict.ts";
import "./parity.css";

/** Largest terms that the inspector lists. */
const TOP_TERMS = 8;

/** The request that runs one result again, with the suite and the chip of its run. */
function againOf(run: RunModel, row: Row): StartRequest {
  return {
    suite: suiteOf(run.suite ?? "quick"),
    operator: null,
    route: row.route,
    case: row.case,
    chip: run.chip,
    seed: null,
    timeoutMs: null,
    workers: null,
  };
}

/** The command that made the run where another engine computed its outputs; else that of the one result. */
function wordsOf(run: RunModel, row: Row): readonly string[] {
  return run.execution === "imported" ? run.command : parityWords(againOf(run, row));
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

interface ResultViewProps {
  readonly run: RunModel;
  readonly row: Row;
  /** The other route that is compared with; null for none. */
  readonly other: string | null;
  readonly onCase: (by: -1 | 1) => void;
}

/** Charts and inspector of a result that has an output. */
function ResultView({ run, row, other, onCase }: ResultViewProps): ReactElement {
  const { params } = useView();
  const field = useRef<HTMLInputElement>(null);
  const shape = row.record!.shape;
  const extents = extentsOf(shape);
  const elements = extents.tokens * extents.heads * extents.width;
  const subject: Subject = { id: run.id, case: row.case, route: row.route };
  const measure = MEASURES.find((name) => name === params.measure) ?? "abs";
  const position = positionAxis(shape);
  const axes: readonly ColumnAxis[] = position === "token" ? ["token", "dim"] : ["dim"];
  const axis = axes.find((name) => name === params.axis) ?? position;
  const summary = useInspect(subject, { kind: "summary" });
  const worst = useInspect(subject, { kind: "worst", measure, count: 1 });
  const given = Number(params.el);
  const wanted = params.el !== undefined && Number.isInteger(given) && given >= 0 && given < elements ? given : null;
  const first = worst.answer.state === "there" ? (worst.answer.value.index[0] ?? null) : null;
  const selected = wanted ?? first;
  const keyGiven = Number(params.key);
  const key = params.key !== undefined && Number.isInteger(keyGiven) && keyGiven >= 0 ? keyGiven : null;
  const element = useInspect(
    subject,
    selected === null ? null : { kind: "element", index: selected, measure, key, top: TOP_TERMS },
  );
  const limit = row.result === undefined ? null : errorLimit(row.result);
  const rank = element.last?.rank;
  const goTo = (index: number | null | undefined): void => {
    if (index !== null && index !== undefined) setParams({ el: String(index), key: null });
  };
  useAction("list.previous", () => goTo(rank?.previous), rank === undefined ? "no element is shown" : undefined);
  useAction("list.next", () => goTo(rank?.next), rank === undefined ? "no element is shown" : undefined);
  useParityKeys({
    case: onCase,
    goTo: () => field.current?.focus(),
    table: () => document.querySelector<HTMLElement>(`[data-chart="${focusedChart()}"] .chartfiles button`)?.click(),
    save: () =>
      document.querySelector<HTMLElement>(`[data-chart="${focusedChart()}"] .chartfiles button:nth-child(2)`)?.click(),
    fit: () => setParams({ low: null, high: null }),
    compare: () => document.querySelector<HTMLElement>(".compare")?.focus(),
  });
  return (
    <>
      <Charts
        subject={subject}
        extents={extents}
        axis={axis}
        axes={axes}
        measure={measure}
        limit={limit}
        selected={selected}
        summary={summary.answer}
        execution={run.execution}
        other={other}
      />
      <Inspector
        answer={element.answer.state === "asking" && worst.answer.state === "failed" ? worst.answer : element.answer}
        element={element.last}
        extents={extents}
        measure={measure}
        limit={limit?.value ?? null}
        field={field}
        onGo={goTo}
        onKey={(next) => setParams({ key: next === null ? null : String(next) })}
      />
    </>
  );
}

/** A result without an output: there is nothing to compare. */
function NoOutput({
  row,
  running,
  onCase,
}: {
  readonly row: Row;
  readonly running: boolean;
  readonly onCase: (by: -1 | 1) => void;
}) {
  const nothing = (): void => undefined;
  useParityKeys({ case: onCase, goTo: nothing, table: nothing, save: nothing, fit: nothing, compare: nothing });
  return (
    <div className="inset noresult">
      {running ? (
        <p className="t2">A run is going on. Its errors can be looked at when it has ended</p>
      ) : (
        <p className="t2">
          This result left no output, so there is nothing to compare. {row.result?.error ?? "It did not run"}
        </p>
      )}
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
  const wanted = params.sel;
  const row = all.find(({ key }) => key === wanted) ?? rows[0] ?? all[0];
  const select = (key: string): void => setParams({ sel: key, el: null, key: null, low: null, high: null });
  const onCase = (by: -1 | 1): void => {
    const at = rows.findIndex(({ key }) => key === row?.key);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next !== undefined) select(next.key);
  };
  const running = live?.outcome === "running";
  const entry = runs?.find(({ id }) => id === run.id);
  useTrail("Parity", runName(run.id), ...(row?.record === undefined ? [] : [lengthText(row.record.shape), row.route]));
  useViewCommand(row === undefined ? ["lockstep", "parity"] : wordsOf(run, row));
  useAction("window.close", () => setParams({ q: null, el: null, key: null }));
  useAction(
    "run.reproducer",
    () => void (row === undefined ? undefined : copyText(commandLine(wordsOf(run, row)))),
    row === undefined ? "no result is selected" : undefined,
  );
  const start = async (): Promise<void> => {
    if (row === undefined) return;
    if ((await session.startRun(againOf(run, row))) !== undefined) go("run", {});
  };
  useAction(
    "run.start",
    () => void start(),
    running ? "a run is going on" : run.execution === "imported" ? "another engine computed these outputs" : undefined,
  );
  const others = all.filter((each) => each.case === row?.case && each.key !== row.key && each.result?.metrics);
  const other = others.find(({ route }) => route === params.other)?.route ?? null;
  const there = row?.result !== undefined && row.record !== undefined && row.result.metrics !== null;
  const idle = run.outcome !== "running";
  return (
    <div className="page parity-rows">
      {row === undefined ? (
        <div />
      ) : (
        <ParityStrip run={run} row={row} claimed={claimedOf(entry, row)} others={others} other={other} />
      )}
      <div className="page parity-cols">
        <div className="page parity-left">
          <Pane label="Cases">
            <PaneHead title="Cases" meta={countText(all.length)}>
              <FilterField label="Filter the cases" value={text} onChange={(q) => setParams({ q })} />
            </PaneHead>
            <CaseList rows={rows} selected={row?.key} onSelect={select} />
          </Pane>
          <Pane label="Gates" className="hl">
            <PaneHead title="Gates" meta={row?.result === undefined ? "" : heldText(row)} />
            <div className="body scroll">{row?.result === undefined ? null : <GatesList result={row.result} />}</div>
          </Pane>
        </div>
        {row === undefined ? (
          <p className="nothing t3">This run planned no result</p>
        ) : there && idle ? (
          <ResultView key={`${run.id} ${row.key}`} run={run} row={row} other={other} onCase={onCase} />
        ) : (
          <NoOutput row={row} running={!idle} onCase={onCase} />
        )}
      </div>
    </div>
  );
}

function heldText(row: Row): string {
  const gates = row.result?.gates ?? [];
  return `${gates.filter(({ verdict }) => verdict === "pass").length} of ${gates.length} held`;
}

export function ParityPage(): ReactElement {
  const { params } = useView();
  const shown = useShownRun(params.run);
  if (shown.state === "there") return <RunView run={shown.run} />;
  return <NoRun shown={shown} />;
}

function NoRun({ shown }: { readonly shown: Exclude<ReturnType<typeof useShownRun>, { readonly state: "there" }> }) {
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
