/** Captures: what a result's pipelines take of a device, how often a core could hold them, what they move, how long they took. */
import { type ReactElement, useMemo } from "react";
import { commandLine, parityWords } from "../../../electron/actions.ts";
import {
  type ContractCheck,
  type DispatchCheck,
  openRequirements,
  REQUIREMENT_TITLES,
} from "../../../kernels/contract.ts";
import { OPERATORS } from "../../../kernels/routes.ts";
import { useChartActions } from "../../charts/chart_pane.tsx";
import { csvText, saveCsv } from "../../charts/save.ts";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { Empty, Pane, PaneHead } from "../../parts/pane.tsx";
import { Panes } from "../../parts/panes.tsx";
import { Pinned } from "../../parts/pinned.tsx";
import { underValidation } from "../../parts/run_entry.ts";
import { lengthText, runName } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { copyText, useViewCommand } from "../../shell/command.ts";
import { executionOf, useViewExecution } from "../../shell/execution.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { type RunModel, requestAgain } from "../../state/run_model.ts";
import { type Answer, useAnswer } from "../../state/session.ts";
import { setParams, useView } from "../../state/view.ts";
import { useShownRun } from "../run/use_run.ts";
import { AttachedPane, attachedShown } from "./attached_pane.tsx";
import { CaptureCase } from "./capture_case.tsx";
import { bracketOf, OccupancyPane } from "./occupancy_pane.tsx";
import {
  bracketFrom,
  compileRows,
  moreLines,
  RECEIPT_HEAD,
  receiptLines,
  receiptRows,
  registersRow,
} from "./receipt_table.ts";
import { Receipts } from "./receipts.tsx";
import { RooflinePane } from "./roofline_pane.tsx";
import { caseBeside, casesOf, type Selected, selectIn } from "./selection.ts";
import { UNITS } from "./timing_model.ts";
import { TimingPane } from "./timing_pane.tsx";
import { TrafficPane } from "./traffic_pane.tsx";
import {
  type Capture,
  type Checked,
  caseText,
  checkOf,
  fileOf,
  type Inspected,
  noteOf,
  receiptOf,
} from "./use_capture.ts";
import { useTimings } from "./use_timings.ts";
import { ValidationPane } from "./validation_pane.tsx";
import "../../styles/captures.css";

/** Parameters that belong to one case or route and are dropped with it. */
const DROPPED = { stage: null, part: null, threads: null, bytes: null, regs: null } as const;

function choose(change: Readonly<Record<string, string | null>>): void {
  setParams({ ...DROPPED, sel: null, ...change });
}

/** The command that records the same again; the run's own where its inputs came from a file. */
function wordsOf(run: RunModel, { record, route }: Selected): readonly string[] {
  const again = run.execution === "imported" ? null : requestAgain(run, { case: record.key, route });
  return again === null ? run.command : parityWords(again);
}

function useSelectionActions({ run, selected }: Capture, unit: (typeof UNITS)[number]): void {
  const { record, routes, route, other } = selected;
  const before = caseBeside(run, record.key, -1);
  const after = caseBeside(run, record.key, 1);
  const toCase = (key: string | undefined): void => {
    if (key !== undefined) choose({ case: key, route, other });
  };
  useAction("case.previous", () => toCase(before), before === undefined ? "this is the first case" : undefined);
  useAction("case.next", () => toCase(after), after === undefined ? "this is the last case" : undefined);
  const toRoute = (by: number): void => {
    const next = routes[routes.indexOf(route) + by];
    if (next !== undefined) choose({ case: record.key, route: next, other: next === other ? route : other });
  };
  useAction("list.previous", () => toRoute(-1), routes.indexOf(route) === 0 ? "this is the first route" : undefined);
  useAction("list.next", () => toRoute(1), routes.at(-1) === route ? "this is the last route" : undefined);
  const alone = other === null ? "the case has one route" : undefined;
  useAction("compare.swap", () => choose({ case: record.key, route: other, other: route }), alone);
  useAction(
    "compare.routes",
    () => {
      const others = routes.filter((name) => name !== route);
      setParams({ other: others[(others.indexOf(other ?? "") + 1) % others.length] ?? null });
    },
    alone,
  );
  useAction("chart.unit", () => {
    const next = UNITS[(UNITS.indexOf(unit) + 1) % UNITS.length]!;
    setParams({ unit: next === "ms" ? null : next });
  });
  useAction("window.close", () => setParams({ threads: null, bytes: null, regs: null, table: null }));
  useAction("run.reproducer", () => void copyText(commandLine(wordsOf(run, selected))));
}

function Pickers({ run, selected }: Capture): ReactElement {
  const { record, routes, route, other } = selected;
  return (
    <div className="pickers">
      <select
        className="inp case"
        aria-label="Case"
        title={record.key}
        value={record.key}
        onChange={(event) => choose({ case: event.target.value, route, other })}
      >
        {OPERATORS.map((operator) => (
          <optgroup key={operator} label={operator}>
            {casesOf(run)
              .filter(({ shape }) => shape.operator === operator)
              .map((each) => (
                <option key={each.key} value={each.key}>
                  {caseText(each)}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
      <select
        className="inp"
        aria-label="Route A"
        value={route}
        onChange={(event) =>
          choose({ case: record.key, route: event.target.value, other: event.target.value === other ? route : other })
        }
      >
        {routes.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      {other === null ? null : (
        <>
          <span className="t3 micro">and</span>
          <select
            className="inp"
            aria-label="Route B"
            value={other}
            onChange={(event) => setParams({ other: event.target.value })}
          >
            {routes
              .filter((name) => name !== route)
              .map((name) => (
                <option key={name}>{name}</option>
              ))}
          </select>
        </>
      )}
    </div>
  );
}

interface ReceiptsPaneProps {
  readonly capture: Capture;
  readonly inspected: Answer<Inspected>;
  readonly checked: Checked;
  /** With the variants where they are shown. */
  readonly dispatches: readonly DispatchCheck[];
  readonly stage: string;
  readonly shown: boolean;
}

function ReceiptsPane(props: ReceiptsPaneProps): ReactElement {
  const { capture, inspected, checked, dispatches, stage, shown } = props;
  const { check, variants = [], reason } = checked;
  const model = inspected.state === "there" ? inspected.value.occupancy : null;
  const table = check === undefined ? undefined : { ...check, dispatches };
  const receipts = inspected.state === "there" ? inspected.value.receipts.map(({ receipt }) => receipt) : [];
  const facts = dispatches.map(({ kernel }) => receiptOf(capture.selected, receipts, kernel));
  const more = [
    registersRow(
      dispatches.map((each, index) => bracketFrom(facts[index], model === null ? undefined : bracketOf(model, each))),
    ),
    ...compileRows(facts),
  ];
  const save = (): void => {
    if (table === undefined) return;
    const note = noteOf(capture, "resource receipts against the contract");
    saveCsv(
      fileOf(capture, "receipts"),
      csvText(note, RECEIPT_HEAD, [...receiptLines(table), ...moreLines(more, dispatches)]),
    );
  };
  return (
    <Pane label="Resource receipts">
      <PaneHead title="Resource receipts">
        <Pickers {...capture} />
        <button
          type="button"
          className="btn quiet"
          title="Save the receipts as CSV"
          disabled={check === undefined}
          onClick={save}
        >
          CSV
        </button>
      </PaneHead>
      {check === undefined || table === undefined ? (
        <p className="nothing t3">{reason}</p>
      ) : (
        <>
          <Receipts
            dispatches={dispatches}
            rows={[...receiptRows(table), ...more]}
            stage={stage}
            variants={variants.map((variant) => variant.stage)}
            onStage={(name) => setParams({ ...DROPPED, stage: name })}
          />
          <div className="receipt-foot small">
            <ReceiptVerdict check={check} />
            <Pinned result={capture.selected.result} />
            <span className="t3 el">
              {capture.selected.route} against its contract
              {capture.run.execution === "emulated" ? "; launchable threads are the device's limit" : ""}
            </span>
            <span className="sp" />
            {variants.map((variant) => (
              <VariantToggle key={variant.stage} check={{ ...check, dispatches: [variant] }} shown={shown} />
            ))}
          </div>
          <CaptureCase run={capture.run} name={capture.selected.record.key} route={capture.selected.route} />
        </>
      )}
    </Pane>
  );
}

function ReceiptVerdict({ check }: { readonly check: ContractCheck }): ReactElement {
  const { broken, unknown, held } = openRequirements(check);
  const all = broken.length + unknown + held;
  const [first] = broken;
  if (first !== undefined) {
    return (
      <Verdict name="fail">
        {broken.length} of {all} broken: {first.stage}, {REQUIREMENT_TITLES[first.requirement.id]}
      </Verdict>
    );
  }
  if (unknown > 0) return <Verdict name="notrun">{`${unknown} of ${all} not known: no receipt`}</Verdict>;
  return <Verdict name="pass">{`${held} of ${all} held`}</Verdict>;
}

/** Shows a variant beside the route, and what it breaks: `tile 8 breaks dynamic bytes`. */
function VariantToggle({ check, shown }: { readonly check: ContractCheck; readonly shown: boolean }): ReactElement {
  const { broken } = openRequirements(check);
  const name = check.dispatches[0]!.stage;
  return (
    <>
      {shown ? (
        <Verdict name={broken.length > 0 ? "fail" : "pass"}>
          {broken.length > 0
            ? `breaks ${broken.map(({ requirement }) => REQUIREMENT_TITLES[requirement.id]).join(", ")}`
            : "keeps the contract"}
        </Verdict>
      ) : null}
      <label className="tog" title={`${name} is no part of the route: this shows what it would take`}>
        <input
          type="checkbox"
          checked={shown}
          onChange={() => setParams({ variant: shown ? null : "on", ...DROPPED })}
        />
        {name.replace(/^.*, /, "")}
      </label>
    </>
  );
}

function NoModel({ answer }: { readonly answer: Answer<Inspected> }): ReactElement {
  return (
    <Pane label="Occupancy, what if" line>
      <PaneHead title="Occupancy, what if" />
      {answer.state === "failed" ? (
        <div className="inset">
          <FailureNote failure={answer.failure} />
        </div>
      ) : (
        <p className="nothing t3">
          {answer.state === "there" ? `No estimate: ${answer.value.noModel ?? "no model for this family"}` : ""}
        </p>
      )}
    </Pane>
  );
}

function CaptureView(capture: Capture): ReactElement {
  const { run, selected } = capture;
  const { params } = useView();
  const { record, route, result } = selected;
  const kept = run.outcome !== "running" && run.outcome !== "refused";
  const subject = { id: run.id, case: record.key };
  const inspected = useAnswer("captures.inspect", kept && result !== undefined ? { ...subject, route } : null);
  const timings = useTimings(kept ? subject : null);
  const unit = UNITS.find((name) => name === params.unit) ?? "ms";
  const receipts = inspected.state === "there" ? inspected.value.receipts : undefined;
  const checked = useMemo(() => checkOf(selected, receipts?.map(({ receipt }) => receipt) ?? []), [selected, receipts]);
  const variant = params.variant === "on";
  const dispatches = [...(checked.check?.dispatches ?? []), ...(variant ? (checked.variants ?? []) : [])];
  const dispatch = dispatches.find(({ stage }) => stage === params.stage) ?? dispatches[0];
  useSelectionActions(capture, unit);
  useChartActions();
  useTrail("Captures", runName(run.id), lengthText(record.shape), route);
  useViewCommand(wordsOf(run, selected));
  useViewExecution(executionOf(run));
  const model = inspected.state === "there" ? inspected.value.occupancy : null;
  return (
    <Panes
      page="captures"
      rightLabel="Occupancy, traffic and roofline"
      right={
        <div className="page captures-right">
          {model === null ? (
            <NoModel answer={inspected} />
          ) : (
            <OccupancyPane capture={capture} dispatch={dispatch} model={model} />
          )}
          <TrafficPane capture={capture} />
          <RooflinePane capture={capture} timings={timings} />
        </div>
      }
    >
      <div className="page captures-left">
        <ReceiptsPane
          capture={capture}
          inspected={inspected}
          checked={checked}
          dispatches={dispatches}
          stage={dispatch?.stage ?? ""}
          shown={variant}
        />
        {attachedShown(params) ? null : underValidation(run) && kept ? (
          <ValidationPane capture={capture} />
        ) : (
          <TimingPane capture={capture} timings={timings} unit={unit} />
        )}
        <AttachedPane id={run.id} kept={kept} />
      </div>
    </Panes>
  );
}

function RunView({ run }: { readonly run: RunModel }): ReactElement {
  const { params } = useView();
  const selected = useMemo(() => selectIn(run, params), [run, params]);
  if (selected === null) return <Nothing trail={runName(run.id)} title="This run prepared no case" />;
  return <CaptureView run={run} selected={selected} />;
}

function Nothing({ trail, title }: { readonly trail: string; readonly title: string }): ReactElement {
  useTrail("Captures", trail);
  useViewCommand(["lockstep", "parity", "--suite", "quick"]);
  return (
    <Empty title={title}>
      <p className="t2 after">
        A run keeps a receipt of each pipeline and a time of each dispatch. This page then holds them against the
        route's contract, and shows what a core could hold and what the route moves.
      </p>
      <ActionButton action="page.run" look="primary" large>
        Run a suite
      </ActionButton>
    </Empty>
  );
}

export function CapturesPage(): ReactElement {
  const { params } = useView();
  const shown = useShownRun(params.run);
  if (shown.state === "there") return <RunView run={shown.run} />;
  if (shown.state === "none") return <Nothing trail="no run yet" title="No receipt yet" />;
  if (shown.state === "asking") return <div className="page" />;
  return (
    <div className="inset">
      <FailureNote failure={shown.failure} />
    </div>
  );
}
