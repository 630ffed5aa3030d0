/** What the panes of a result's charts have in common: their subject, the names of their files, the element that a click takes. */
import type { ReactElement } from "react";
import type { AnswerOf } from "../../../electron/analysis/messages.ts";
import { FailureNote } from "../../parts/failure.tsx";
import { Segments } from "../../parts/segments.tsx";
import type { Row } from "../../state/rows.ts";
import type { RunModel } from "../../state/run_model.ts";
import type { Answer } from "../../state/session.ts";
import { setParams } from "../../state/view.ts";
import { type Address, type ColumnAxis, MEASURE_WORDS, MEASURES, type Measure, type OutputExtents } from "./address.ts";
import type { Subject } from "./use_inspect.ts";

export interface ChartsProps {
  readonly run: RunModel;
  readonly row: Row;
  readonly subject: Subject;
  readonly extents: OutputExtents;
  readonly axis: ColumnAxis;
  /** Both ends of a seg for what runs across; a decode has one alone. */
  readonly axes: readonly ColumnAxis[];
  readonly measure: Measure;
  readonly limit: { readonly value: number; readonly where: string | null } | null;
  readonly selected: number | null;
  readonly summary: Answer<AnswerOf<"summary">>;
  readonly execution: string;
  /** The route that this one is compared with. */
  readonly other: string | null;
  /** Goes to another result of the run. */
  readonly onSelect: (key: string) => void;
}

export const AXIS_WORDS: Readonly<Record<ColumnAxis, string>> = { token: "query", dim: "dim" };

export function pick(index: number): void {
  setParams({ el: String(index), key: null });
}

/** What the files say of where their figures come from. */
export function noteOf({ subject, execution, measure }: ChartsProps, what: string): string {
  return `${what}, ${MEASURE_WORDS[measure].axis}; ${subject.case}, ${subject.route}, ${subject.id}; execution ${execution}`;
}

export function fileOf({ subject, execution }: ChartsProps, what: string): string {
  return `${what}-${subject.case}-${subject.route}-${execution}`.replaceAll(/[^\w.-]+/g, "_");
}

export function Asking({
  answer,
  there,
}: {
  readonly answer: Answer<unknown>;
  readonly there: boolean;
}): ReactElement | null {
  if (answer.state === "failed") {
    return (
      <div className="inset">
        <FailureNote failure={answer.failure} />
      </div>
    );
  }
  return there ? null : <p className="nothing t3">Computing the oracle and the errors</p>;
}

export function placeOf(axis: ColumnAxis, address: Address): number {
  return axis === "token" ? address.token : address.dim;
}

export function MeasureSegments({ measure }: { readonly measure: Measure }): ReactElement {
  return (
    <Segments
      label="Measure of the error"
      choices={MEASURES}
      chosen={measure}
      word={(name) => MEASURE_WORDS[name].short}
      onChoose={(name) => setParams({ measure: name === "abs" ? null : name, low: null, high: null })}
    />
  );
}
