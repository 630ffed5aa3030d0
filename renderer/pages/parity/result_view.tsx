/** One result: its charts, and the element at hand with what it was computed from. Or why there is nothing to compare. */
import { type ReactElement, type ReactNode, useRef, useState } from "react";
import { FailureNote } from "../../parts/failure.tsx";
import { Panes } from "../../parts/panes.tsx";
import { useAction } from "../../shell/actions.ts";
import { focusRevealed } from "../../shell/drawer.ts";
import type { Row } from "../../state/rows.ts";
import type { RunModel } from "../../state/run_model.ts";
import { go, setParams, useView } from "../../state/view.ts";
import { type ColumnAxis, elementsOf, extentsOf, MEASURES, positionAxis } from "./address.ts";
import { Charts } from "./charts.tsx";
import { Inspector } from "./inspector.tsx";
import { type Subject, useInspect } from "./use_inspect.ts";
import { errorLimit } from "./verdict.ts";

/** Largest terms that the inspector lists. */
const TOP_TERMS = 8;

interface ResultViewProps {
  readonly run: RunModel;
  readonly row: Row;
  /** The other route that is compared with; null for none. */
  readonly other: string | null;
  /** The pane at the left. */
  readonly left: ReactNode;
  readonly onSelect: (key: string) => void;
}

/** A number of the view's parameters within `end`; null where it is none. */
function indexOf(text: string | undefined, end: number): number | null {
  const value = Number(text);
  return text !== undefined && Number.isInteger(value) && value >= 0 && value < end ? value : null;
}

/** Charts and inspector of a result that has an output. */
export function ResultView({ run, row, other, left, onSelect }: ResultViewProps): ReactElement {
  const { params } = useView();
  const field = useRef<HTMLInputElement>(null);
  const shape = row.record!.shape;
  const extents = extentsOf(shape);
  const { inputs } = params;
  const subject: Subject = {
    id: run.id,
    case: row.case,
    route: row.route,
    ...(inputs === undefined ? {} : { inputs }),
  };
  const measure = MEASURES.find((name) => name === params.measure) ?? "abs";
  const position = positionAxis(shape.operator);
  const axes: readonly ColumnAxis[] = position === "token" ? ["token", "dim"] : ["dim"];
  const axis = axes.find((name) => name === params.axis) ?? position;
  const summary = useInspect(subject, { kind: "summary" });
  const worst = useInspect(subject, { kind: "worst", measure, count: 1 });
  const first = worst.answer.state === "there" ? (worst.answer.value.index[0] ?? null) : null;
  const selected = indexOf(params.el, elementsOf(extents)) ?? first;
  const key = indexOf(params.key, Number.MAX_SAFE_INTEGER);
  const element = useInspect(
    subject,
    selected === null ? null : { kind: "element", index: selected, measure, key, top: TOP_TERMS },
  );
  const limit = row.result === undefined ? null : errorLimit(row.result);
  const rank = element.last?.rank;
  const owner = element.last?.owner ?? null;
  const goTo = (index: number | null | undefined): void => {
    if (index !== null && index !== undefined) setParams({ el: String(index), key: null });
  };
  const none = rank === undefined ? "no element is shown" : undefined;
  useAction(
    "list.previous",
    () => goTo(rank?.previous),
    none ?? (rank?.previous === null ? "this is the worst" : none),
  );
  useAction("list.next", () => goTo(rank?.next), none ?? (rank?.next === null ? "this is the last" : none));
  useAction("list.goto", () => focusRevealed(field.current));
  useAction("chart.unit", () => {
    const next = MEASURES[(MEASURES.indexOf(measure) + 1) % MEASURES.length]!;
    setParams({ measure: next === "abs" ? null : next, low: null, high: null });
  });
  useAction(
    "element.lane",
    () => {
      if (owner === null) return;
      const { map, lane, element: slot } = owner;
      go("fragments", {
        map,
        lane: String(lane),
        element: String(slot),
        pin: "on",
        ground: "error",
        run: run.id,
        sel: row.key,
      });
    },
    owner === null ? "this element is held in no matrix fragment" : undefined,
  );
  // What has no summary has no chart either, and for the same reason: it is said once.
  if (summary.answer.state === "failed") {
    return (
      <Panes page="parity" leftLabel="Cases and gates" left={left}>
        <div className="inset">
          <FailureNote failure={summary.answer.failure} />
          {row.record?.source.kind === "generator" ? null : <InputsField path={inputs ?? ""} />}
        </div>
      </Panes>
    );
  }
  return (
    <Panes
      page="parity"
      leftLabel="Cases and gates"
      rightLabel="Inspector"
      left={left}
      right={
        <Inspector
          run={run.id}
          row={row}
          answer={element.answer.state === "asking" && worst.answer.state === "failed" ? worst.answer : element.answer}
          element={element.last}
          extents={extents}
          measure={measure}
          limit={limit?.value ?? null}
          execution={run.execution}
          field={field}
          onGo={goTo}
          onKey={(next) => setParams({ key: next === null ? null : String(next) })}
        />
      }
    >
      <Charts
        run={run}
        row={row}
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
        onSelect={onSelect}
      />
    </Panes>
  );
}

/** Takes the path of the file that the inputs are in; Enter looks there. */
function InputsField({ path }: { readonly path: string }): ReactElement {
  const [text, setText] = useState(path);
  return (
    <form
      className="inputsfield"
      onSubmit={(event) => {
        event.preventDefault();
        setParams({ inputs: text.trim() });
      }}
    >
      <input
        className="inp mono"
        spellCheck={false}
        aria-label="Path of the file with the inputs"
        placeholder="/path/to/inputs.safetensors"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <button type="submit" className="btn" disabled={text.trim() === ""}>
        Look there
      </button>
    </form>
  );
}

interface NoOutputProps {
  readonly run: RunModel;
  readonly row: Row;
  readonly left: ReactNode;
}

/** A result without an output: there is nothing to compare. */
export function NoOutput({ run, row, left }: NoOutputProps): ReactElement {
  return (
    <Panes page="parity" leftLabel="Cases and gates" left={left}>
      <div className="inset">
        {run.outcome === "running" ? (
          <p className="t2">A run is going on. Its errors can be looked at when it has ended</p>
        ) : row.result === undefined ? (
          <p className="t2">
            There is no output to compare with the oracle. The results that were finished are kept: take one at the left
          </p>
        ) : (
          <p className="t2">
            This result left no output, so there is nothing to compare. {row.result.error ?? "It did not complete"}
          </p>
        )}
      </div>
    </Panes>
  );
}
