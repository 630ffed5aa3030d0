/** One element of the output: address, value with bits, oracle, errors, and everything that it was computed from. */
import { type ReactElement, type RefObject, useState } from "react";
import type { AnswerOf } from "../../../electron/analysis/messages.ts";
import { figureText } from "../../../electron/words.ts";
import { csvText, saveCsv } from "../../charts/save.ts";
import { Key } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { countText } from "../../parts/text.ts";
import { perform } from "../../shell/actions.ts";
import { ViewLink } from "../../shell/nav.tsx";
import type { Row } from "../../state/rows.ts";
import type { Answer } from "../../state/session.ts";
import {
  addressText,
  elementsOf,
  MEASURE_WORDS,
  type Measure,
  type OutputExtents,
  parseElement,
  ratioText,
} from "./address.ts";
import { OPERAND_COLUMNS, operandRows } from "./operand_rows.ts";
import { Operands, SoftmaxState, TopKeys, Trace } from "./operands.tsx";

type Element = AnswerOf<"element">;

interface GoToProps {
  readonly extents: OutputExtents;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly onGo: (index: number) => void;
}

/** Takes an index or an address; Enter goes there. */
function GoTo({ extents, field, onGo }: GoToProps): ReactElement {
  const [text, setText] = useState("");
  const index = parseElement(extents, text);
  const wrong = text !== "" && index === undefined;
  const last = elementsOf(extents) - 1;
  return (
    <label className={wrong ? "filter goto wrong" : "filter goto"} title={`0 to ${countText(last)}, or h 1, d 7`}>
      <input
        ref={field}
        placeholder="Go to"
        spellCheck={false}
        aria-label={`Go to an element: an index, 0 to ${countText(last)}, or an address such as h 1, d 7`}
        aria-invalid={wrong}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && index !== undefined) {
            onGo(index);
            setText("");
            event.currentTarget.blur();
          } else if (event.key === "Escape") {
            event.stopPropagation();
            setText("");
            event.currentTarget.blur();
          }
        }}
      />
      <Key stroke="g" />
    </label>
  );
}

interface FactsProps {
  readonly run: string;
  readonly row: Row;
  readonly element: Element;
  readonly extents: OutputExtents;
  readonly limit: number | null;
}

function Facts({ run, row, element, extents, limit }: FactsProps): ReactElement {
  const { abs, owner } = element;
  const beyond = limit !== null && limit > 0 && !(abs <= limit);
  return (
    <div className="facts-el" data-element={element.index}>
      <div className="row">
        <span className="mono m addr">{addressText(extents, element.address)}</span>
        <span className="sp" />
        <span className="micro t3">index {countText(element.index)}</span>
      </div>
      <table className="el3">
        <tbody>
          <tr>
            <th scope="row">output</th>
            <td className="mono">{trimmed(element.output, 9)}</td>
            <td className="mono t3">{element.bits}</td>
          </tr>
          <tr>
            <th scope="row">oracle</th>
            <td className="mono">{trimmed(element.oracle, 12)}</td>
            <td className="t3">f64</td>
          </tr>
          <tr>
            <th scope="row">abs error</th>
            <td className={beyond ? "mono fail m" : "mono"}>{precise(abs)}</td>
            <td className={beyond ? "fail" : "t3"}>{shareText(abs, limit)}</td>
          </tr>
          <tr>
            <th scope="row">relative</th>
            <td className="mono">{precise(element.relative)}</td>
            <td />
          </tr>
          <tr>
            <th scope="row">distance</th>
            <td className="mono">{Number.isFinite(element.ulp) ? countText(element.ulp) : String(element.ulp)} ULP</td>
            <td className="t3" title="One unit in the last place at the oracle's value">
              ULP {figureText(element.ulpSize)}
            </td>
          </tr>
          <tr>
            <th scope="row">owner</th>
            {owner === null ? (
              <td colSpan={2} className="t3">
                not held in matrix fragments
              </td>
            ) : (
              <>
                <td>
                  sg {owner.simdgroup}, lane {owner.lane}, el {owner.element}
                </td>
                <td>
                  <ViewLink
                    view={{
                      page: "fragments",
                      params: {
                        map: owner.map,
                        lane: String(owner.lane),
                        element: String(owner.element),
                        pin: "on",
                        ground: "error",
                        run,
                        sel: row.key,
                      },
                    }}
                  >
                    Fragments
                  </ViewLink>
                </td>
              </>
            )}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

/** `0.41 × limit`. */
function shareText(abs: number, limit: number | null): string {
  if (!Number.isFinite(abs)) return "not finite";
  return limit === null || !(limit > 0) ? "no limit" : `${ratioText(abs, limit)} × limit`;
}

/** Nine digits tell any two f32 values apart. */
function trimmed(value: number, digits: number): string {
  return value
    .toPrecision(digits)
    .replace(/(\.\d*?)0+(e|$)/, "$1$2")
    .replace(/\.(e|$)/, "$1")
    .replace("-", "−");
}

function precise(value: number): string {
  return value === 0 || !Number.isFinite(value) ? String(value) : value.toExponential(4);
}

interface InspectorProps {
  readonly run: string;
  readonly row: Row;
  readonly execution: string;
  readonly answer: Answer<Element>;
  readonly element: Element | null;
  readonly extents: OutputExtents;
  readonly measure: Measure;
  readonly limit: number | null;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly onGo: (index: number) => void;
  readonly onKey: (key: number | null) => void;
}

/** What the element was computed from, as a file. */
function saveOperands({ run, row, execution }: InspectorProps, element: Element): void {
  const note = `operands of ${element.words} (index ${element.index}); ${row.case}, ${row.route}, ${run}; execution ${execution}`;
  const file = `operands-${element.index}-${row.case}-${row.route}-${execution}`.replaceAll(/[^\w.-]+/g, "_");
  saveCsv(file, csvText(note, OPERAND_COLUMNS, operandRows(element)));
}

export function Inspector(props: InspectorProps): ReactElement {
  const { run, row, answer, element, extents, measure, limit, field, onGo, onKey } = props;
  const rank = element?.rank;
  const place = rank === undefined ? "" : `${countText(rank.rank)} of ${countText(rank.of)}`;
  return (
    <Pane label="Inspector" line className="parity-side">
      <PaneHead
        title={rank?.rank === 1 ? "Worst" : "Element"}
        meta={<span title={`${place} by ${MEASURE_WORDS[measure].axis}`}>{place}</span>}
      >
        <button
          type="button"
          className="btn icon"
          aria-label="Next larger error"
          title="Next larger error (↑)"
          disabled={rank === undefined || rank.previous === null}
          onClick={() => perform("list.previous")}
        >
          ↑
        </button>
        <button
          type="button"
          className="btn icon"
          aria-label="Next smaller error"
          title="Next smaller error (↓)"
          disabled={rank === undefined || rank.next === null}
          onClick={() => perform("list.next")}
        >
          ↓
        </button>
        <GoTo extents={extents} field={field} onGo={onGo} />
      </PaneHead>
      <div className="body scroll">
        {answer.state === "failed" ? (
          <div className="inset">
            <FailureNote failure={answer.failure} />
          </div>
        ) : null}
        {element === null ? (
          answer.state === "asking" ? (
            <p className="nothing t3">Computing the oracle and the operands</p>
          ) : null
        ) : (
          <>
            <Facts run={run} row={row} element={element} extents={extents} limit={limit} />
            <SoftmaxState element={element} />
            <Operands element={element} onCsv={() => saveOperands(props, element)} />
            <TopKeys element={element} onKey={onKey} />
            <Trace element={element} />
          </>
        )}
      </div>
      {element === null ? null : <DiagnosisNote element={element} />}
    </Pane>
  );
}

/** What the error looks like, in one sentence. It stays in sight while the operands scroll. */
function DiagnosisNote({ element }: { readonly element: Element }): ReactElement {
  const { kind, sentence } = element.diagnosis;
  return (
    <p className="hl diagnosis small" data-diagnosis={kind}>
      {sentence}
    </p>
  );
}
