/** One click runs the chosen suite; results appear as they come; one result can be run again. */
import type { ReactElement } from "react";
import "../../styles/evidence.css";
import { commandLine, parityWords } from "../../../electron/actions.ts";
import type { StartRequest } from "../../../electron/contract.ts";
import { FailureNote } from "../../parts/failure.tsx";
import { FilterField } from "../../parts/filter_field.tsx";
import { Empty, Pane, PaneHead } from "../../parts/pane.tsx";
import { Panes } from "../../parts/panes.tsx";
import { countText, runName } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { copyText, useViewCommand } from "../../shell/command.ts";
import { executionOf, useViewExecution } from "../../shell/execution.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import {
  countIn,
  FACETS,
  type FacetChoice,
  FILTERS,
  type Filter,
  facetRows,
  facetValues,
  filterRows,
  type Row,
  rowsOf,
  sortRows,
} from "../../state/rows.ts";
import { type RunModel, requestAgain, splitKey } from "../../state/run_model.ts";
import { useLive, useSession } from "../../state/session.ts";
import { useStore } from "../../state/store.ts";
import { go, setParams, useView, type View } from "../../state/view.ts";
import { useDiffActions } from "../evidence/use_diff_actions.ts";
import { CaseTable } from "./case_table.tsx";
import { CrashView } from "./crash_view.tsx";
import { type RunTarget, targetParams, useRunTarget } from "./device_picker.tsx";
import { RunEmpty } from "./run_empty.tsx";
import { EarlierRuns, LogPane, RunningNow, SelectedResult } from "./run_side.tsx";
import { RunStrip } from "./run_strip.tsx";
import { type Suite, suiteOf } from "./suite_picker.tsx";
import { type ShownRun, useShownRun } from "./use_run.ts";

const FILTER_WORDS: Readonly<Record<Filter, string>> = {
  all: "all",
  fail: "fail",
  notrun: "not run",
  running: "running",
  pass: "pass",
  queued: "queued",
};

/** All cases of a suite, or of a file in its place, on the device that the view names. */
function wholeSuite(suite: Suite, inputs: string | undefined, { choice, validation }: RunTarget): StartRequest {
  return {
    suite,
    inputs: inputs ?? null,
    operator: null,
    route: null,
    case: null,
    ...choice,
    validation,
    seed: null,
    timeoutMs: null,
    workers: null,
  };
}

/** The actions of this page: run, run again, cancel, copy the reproducer. Returns the words of what `R` would do. */
function useRunActions(
  shown: ShownRun,
  { suite, inputs, on }: { readonly suite: Suite; readonly inputs: string | undefined; readonly on: RunTarget },
  target: string | undefined,
): readonly string[] {
  const session = useSession();
  const live = useLive();
  const running = live?.outcome === "running";
  const whole = wholeSuite(suite, inputs, on);
  const run = shown.state === "there" && target !== undefined ? shown.run : undefined;
  const again = run === undefined ? whole : requestAgain(run, splitKey(target!));
  const start = async (request: StartRequest): Promise<void> => {
    const id = await session.startRun(request);
    if (id !== undefined) go("run", { suite, ...(inputs === undefined ? {} : { inputs }), ...targetParams(on) });
  };
  const busy = running ? "a run is going on" : undefined;
  const fromFile = again === null ? "its inputs are a file of an unknown place: drop it on the window" : undefined;
  const words = again === null ? run!.command : parityWords(again);
  useAction("run.start", () => again !== null && void start(again), busy ?? fromFile);
  useAction("run.suite", () => void start(whole), busy);
  const idle = running ? undefined : "no run is going on";
  const ending = useStore(session.cancelling) === live?.id ? "it is being cancelled" : undefined;
  useAction("run.cancel", () => void session.cancelRun(), idle ?? ending);
  useAction("run.pause", () => void session.pauseRun(live?.pausing === "no"), idle);
  useAction(
    "run.skip",
    () => void session.skipCase(),
    idle ?? (live?.step == null || live.pausing === "paused" ? "no case runs now" : undefined),
  );
  useAction(
    "run.reproducer",
    () => void copyText(commandLine(words)),
    run === undefined ? "no result is selected" : undefined,
  );
  return words;
}

function useListKeys(rows: readonly Row[], selected: string | undefined): void {
  const move = (by: number): void => {
    const at = rows.findIndex((row) => row.key === selected);
    const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next !== undefined) setParams({ sel: next.key });
  };
  useAction("list.next", () => move(1));
  useAction("list.previous", () => move(-1));
  useAction("window.close", () =>
    setParams({ sel: null, q: null, filter: null, operator: null, route: null, type: null }),
  );
}

interface CasesPaneProps {
  readonly run: RunModel;
  /** Every row, and those that the facets leave. */
  readonly whole: readonly Row[];
  readonly choice: FacetChoice;
  readonly all: readonly Row[];
  readonly rows: readonly Row[];
  readonly selected: string | undefined;
  readonly filter: Filter;
  readonly text: string;
}

/** Narrows the rows by operator, route and type; what has one value is not offered. */
function Facets({ rows, choice }: { readonly rows: readonly Row[]; readonly choice: FacetChoice }): ReactElement {
  const offered = FACETS.map((facet) => ({ facet, values: facetValues(rows, facet) })).filter(
    ({ values }) => values.length > 1,
  );
  return (
    <span className="facets">
      {offered.map(({ facet, values }) => (
        <select
          key={facet}
          aria-label={`Show one ${facet}`}
          className={choice[facet] === undefined ? "" : "on"}
          value={choice[facet] ?? ""}
          onChange={(event) => setParams({ [facet]: event.target.value })}
        >
          <option value="">every {facet}</option>
          {values.map((value) => (
            <option key={value} value={value}>
              {value}
            </option>
          ))}
        </select>
      ))}
    </span>
  );
}

function CasesPane({ run, whole, choice, all, rows, selected, filter, text }: CasesPaneProps): ReactElement {
  const offered = FILTERS.filter((name) => name === "all" || name === filter || countIn(all, name) > 0);
  return (
    <Pane label="Cases">
      <PaneHead title="Cases">
        <fieldset className="seg first" aria-label="States to show">
          {offered.map((name) => (
            <button
              key={name}
              type="button"
              className={name === filter ? "on" : ""}
              aria-pressed={name === filter}
              onClick={() => setParams({ filter: name === "all" ? null : name })}
            >
              {FILTER_WORDS[name]} {countText(countIn(all, name))}
            </button>
          ))}
        </fieldset>
        {run.outcome === "crashed" ? (
          <button type="button" className="btn" onClick={() => setParams({ tab: null })}>
            What happened
          </button>
        ) : null}
        <Facets rows={whole} choice={choice} />
        <FilterField label="Filter the cases" value={text} onChange={(q) => setParams({ q })} />
      </PaneHead>
      <CaseTable
        rows={rows}
        planned={run.planned.length > 0}
        selected={selected}
        step={run.step}
        onSelect={(sel) => setParams({ sel })}
      />
    </Pane>
  );
}

function Side({ run, row }: { readonly run: RunModel; readonly row: Row | undefined }): ReactElement {
  const running = run.outcome === "running";
  return (
    <Pane label="Details" line className="side">
      {row !== undefined ? <SelectedResult run={run} row={row} /> : running ? <RunningNow run={run} /> : null}
      {row !== undefined && !running ? null : <LogPane run={run} />}
      <EarlierRuns current={run.id} />
    </Pane>
  );
}

interface RunViewProps {
  readonly run: RunModel;
  readonly suite: Suite;
  /** Device of the next run. */
  readonly on: RunTarget;
}

function RunView({ run, suite, on }: RunViewProps): ReactElement {
  const { params } = useView();
  const failure = useStore(useSession().failure);
  const whole = rowsOf(run);
  const choice: FacetChoice = Object.fromEntries(
    FACETS.flatMap((facet) => (params[facet] ? [[facet, params[facet]]] : [])),
  );
  const all = facetRows(whole, choice);
  const filter = FILTERS.find((name) => name === params.filter) ?? "all";
  const text = params.q ?? "";
  const rows = sortRows(filterRows(all, filter, text));
  const selected = whole.find((row) => row.key === params.sel);
  const crash = run.outcome === "crashed" && params.tab !== "cases";
  useListKeys(crash ? [] : rows, selected?.key);
  return (
    <div className="page run-rows">
      <div>
        <RunStrip
          run={run}
          rows={whole}
          suite={suite}
          inputs={params.inputs}
          on={on}
          selected={selected !== undefined || (crash && params.inputs === undefined)}
        />
        {failure === null ? null : (
          <div className="inset">
            <FailureNote failure={failure} />
          </div>
        )}
      </div>
      {crash ? (
        <CrashView run={run} rows={whole} />
      ) : (
        <Panes page="run" rightLabel="Details" right={<Side run={run} row={selected} />}>
          <CasesPane
            run={run}
            whole={whole}
            choice={choice}
            all={all}
            rows={rows}
            selected={selected?.key}
            filter={filter}
            text={text}
          />
        </Panes>
      )}
    </div>
  );
}

/** What `R` would run again: the selected result, or the one that a crashed run stopped at. */
function targetOf(shown: ShownRun, { sel, tab, inputs }: View["params"]): string | undefined {
  if (shown.state !== "there") return undefined;
  const rows = rowsOf(shown.run);
  const selected = rows.find((row) => row.key === sel)?.key;
  // A file that was dropped is what the user wants to run.
  if (shown.run.outcome !== "crashed" || tab === "cases" || inputs !== undefined) return selected;
  return rows.find((row) => row.state === "crash")?.key;
}

function trailOf(shown: ShownRun): readonly string[] {
  if (shown.state === "none") return ["none yet"];
  return shown.state === "there" ? [runName(shown.run.id)] : [];
}

export function RunPage(): ReactElement {
  const { params } = useView();
  const shown = useShownRun(params.run);
  const suite = suiteOf(params.suite ?? (shown.state === "there" ? shown.run.suite : null));
  const on = useRunTarget(params);
  const words = useRunActions(shown, { suite, inputs: params.inputs, on }, targetOf(shown, params));
  const running = shown.state === "there" && shown.run.outcome === "running";
  useDiffActions(shown.state === "there" && !running ? shown.run.id : undefined);
  useViewCommand(running ? shown.run.command : words);
  useViewExecution(shown.state === "there" ? executionOf(shown.run) : null);
  useTrail("Run", ...trailOf(shown));
  switch (shown.state) {
    case "asking":
      return <div className="page" />;
    case "none":
      return <RunEmpty suite={suite} inputs={params.inputs} on={on} />;
    case "failed":
      return (
        <Empty title="This run cannot be shown">
          <FailureNote failure={shown.failure} />
        </Empty>
      );
    case "there":
      return <RunView run={shown.run} suite={suite} on={on} />;
  }
}
