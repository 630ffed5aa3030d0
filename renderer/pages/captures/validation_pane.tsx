/** A run under Metal's validation: every report with its own words, the kernel that it names, and where it stands in the log. */
import type { ReactElement } from "react";
import { csvText, saveCsv } from "../../charts/save.ts";
import { FailureNote } from "../../parts/failure.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { ValidationTag } from "../../parts/standing.tsx";
import { countText } from "../../parts/text.ts";
import { useAnswer } from "../../state/session.ts";
import { type Capture, fileOf, noteOf } from "./use_capture.ts";
import {
  concerns,
  LAYER_WORDS,
  placeText,
  type Report,
  reportLine,
  reportRows,
  SEVERITY_WORDS,
  type Subject,
  VALIDATION_HEAD,
  type Validation,
  validationSentence,
} from "./validation_rows.ts";

const GLYPHS = { error: "fail", warning: "ambig", unclear: "notrun" } as const;

function Row({ report, subject }: { readonly report: Report; readonly subject: Subject }): ReactElement {
  const here = concerns(report, subject);
  return (
    <tr className={here ? "" : "t3"} data-report={report.severity}>
      <td>
        <Verdict name={GLYPHS[report.severity]}>{SEVERITY_WORDS[report.severity]}</Verdict>
      </td>
      <td>{LAYER_WORDS[report.layer]}</td>
      <td className="mono el" title={report.kernel ?? undefined}>
        {report.kernel ?? <span className="t3">not named</span>}
      </td>
      <td className="mono said">{report.text}</td>
      <td className="el" title={placeText(report)}>
        {here && report.at !== null ? "this result" : placeText(report)}
      </td>
      <td className="num">{countText(report.times)}</td>
      <td className="num t3">{countText(report.line)}</td>
    </tr>
  );
}

/** Which layers Metal said are on, and how many lines of the log are of which kind. */
function Counts({ validation }: { readonly validation: Validation }): ReactElement {
  const { enabled, counts } = validation;
  return (
    <div className="row small wrap validation-counts">
      <Verdict name={enabled.api ? "pass" : "notrun"}>API validation {enabled.api ? "on" : "never said on"}</Verdict>
      <Verdict name={enabled.shader ? "pass" : "notrun"}>
        shader validation {enabled.shader ? "on" : "never said on"}
      </Verdict>
      <span className="t3">
        {countText(counts.lines)} lines: {countText(counts.errors)} errors, {countText(counts.warnings)} warnings,{" "}
        {countText(counts.unclear)} unclear, {countText(counts.unknown)} not of Metal
        {counts.dropped > 0 ? `, ${countText(counts.dropped)} found no room` : ""}
      </span>
    </div>
  );
}

export function ValidationPane({ capture }: { readonly capture: Capture }): ReactElement {
  const { run, selected } = capture;
  const answer = useAnswer("runs.record", { id: run.id });
  const validation = answer.state === "there" ? answer.value.validation : undefined;
  const subject: Subject = { case: selected.record.key, route: selected.route };
  const rows = validation === undefined ? [] : reportRows(validation, subject);
  const save = (): void => {
    const note = noteOf(capture, "reports of Metal's validation");
    saveCsv(fileOf(capture, "validation"), csvText(note, VALIDATION_HEAD, rows.map(reportLine)));
  };
  return (
    <Pane label="Validation" className="hl">
      <PaneHead title="Metal's validation" meta="in the place of timings: a run under it has none that count">
        <ValidationTag />
        <button
          type="button"
          className="btn quiet"
          title="Save the reports as CSV"
          disabled={rows.length === 0}
          onClick={save}
        >
          CSV
        </button>
      </PaneHead>
      {answer.state === "failed" ? (
        <div className="inset">
          <FailureNote failure={answer.failure} />
        </div>
      ) : null}
      {answer.state === "there" && validation === undefined ? (
        <p className="nothing t3">The record has no word of the validation: the run did not come so far</p>
      ) : null}
      {validation === undefined ? null : (
        <>
          <div className="inset">
            <p className="small m">{validationSentence(validation)}</p>
            <Counts validation={validation} />
          </div>
          <div className="body scroll">
            {rows.length === 0 ? (
              <p className="nothing t3">No report</p>
            ) : (
              <table className="tbl fix validation" data-table="validation">
                <thead>
                  <tr>
                    <th className="c-severity">severity</th>
                    <th className="c-layer">layer</th>
                    <th className="c-kernel">kernel</th>
                    <th>Metal's words</th>
                    <th className="c-place">during</th>
                    <th className="num c-times">times</th>
                    <th className="num c-line">log line</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((report) => (
                    <Row key={`${report.line} ${report.form}`} report={report} subject={subject} />
                  ))}
                </tbody>
              </table>
            )}
          </div>
          <p className="micro t3 inset">
            Whole log in the bundle: <span className="mono">{validation.log}</span>. Started with{" "}
            <span className="mono">
              {Object.entries(validation.environment)
                .map(([name, value]) => `${name}=${value}`)
                .join(" ")}
            </span>
          </p>
        </>
      )}
    </Pane>
  );
}
