/** The reports by severity: kind, place, how often and of which routes. Benign ones are folded. */
import { type ReactElement, useEffect, useRef } from "react";
import { CHECK_RULES } from "../../../electron/checker/rules.ts";
import { FilterField } from "../../parts/filter_field.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { countText, plural } from "../../parts/text.ts";
import { perform } from "../../shell/actions.ts";
import { setParams } from "../../state/view.ts";
import {
  type CheckedSet,
  type ReportRow,
  SEVERITY_GLYPHS,
  SEVERITY_WORDS,
  setsText,
  shortPlace,
} from "./report_rows.ts";

interface Group {
  readonly id: "error" | "warning" | "info" | "apart";
  readonly title: string;
  readonly rows: readonly ReportRow[];
}

/** The rows in the groups in which the list has them. */
function groupsOf(rows: readonly ReportRow[]): readonly Group[] {
  const own = rows.filter((row) => row.counted);
  const of = (severity: ReportRow["report"]["severity"]): readonly ReportRow[] =>
    own.filter(({ report }) => report.severity === severity);
  const groups: readonly Group[] = [
    { id: "error", title: "Errors", rows: of("error") },
    { id: "warning", title: "Warnings", rows: of("warning") },
    { id: "info", title: "Benign", rows: of("info") },
    { id: "apart", title: "Only without lockstep, not counted", rows: rows.filter((row) => !row.counted) },
  ];
  return groups.filter((group) => group.rows.length > 0);
}

/** Groups that are folded until they are opened. */
const FOLDED: readonly Group["id"][] = ["info", "apart"];

/** The rows that the list shows: all but those of folded groups. */
export function unfolded(rows: readonly ReportRow[], open: boolean): readonly ReportRow[] {
  return groupsOf(rows).flatMap((group) => (open || !FOLDED.includes(group.id) ? group.rows : []));
}

interface RowProps {
  readonly row: ReportRow;
  readonly selected: boolean;
}

function Row({ row, selected }: RowProps): ReactElement {
  const { report, number, count } = row;
  const button = useRef<HTMLButtonElement | null>(null);
  useEffect(() => {
    if (!selected) return;
    button.current?.scrollIntoView({ block: "nearest" });
    // The focus goes along with the selection where it is in the list already.
    if (document.activeElement?.closest(".reportlist") != null) button.current?.focus();
  }, [selected]);
  return (
    <button
      ref={button}
      type="button"
      className={selected ? "li sel report" : "li report"}
      aria-current={selected ? "true" : undefined}
      data-report={report.kind}
      title={report.message}
      onClick={() => {
        if (selected) perform("report.open");
        else selectReport(number);
      }}
    >
      <Glyph name={SEVERITY_GLYPHS[report.severity]} />
      <span className="el m">
        <span className="sr">{SEVERITY_WORDS[report.severity]}: </span>
        {CHECK_RULES[report.kind].title}
      </span>
      <span className="num t2 micro">{countText(count)} ×</span>
      <span className="row under micro">
        <span className="el mono">{shortPlace(report, true)}</span>
        <span className="t3 nw">{setsText(row)}</span>
      </span>
    </button>
  );
}

/** Shows a report; null shows what was looked at. */
export function selectReport(number: number | null): void {
  setParams({ log: null, report: number === null ? "none" : String(number), side: null, line: null });
}

interface ReportListProps {
  readonly sets: readonly CheckedSet[];
  readonly all: readonly ReportRow[];
  readonly rows: readonly ReportRow[];
  readonly row: ReportRow | undefined;
  readonly text: string;
  readonly open: boolean;
  readonly onCsv: () => void;
  readonly onSarif: () => void;
}

export function ReportList(props: ReportListProps): ReactElement {
  const { sets, all, rows, row, text, open, onCsv, onSarif } = props;
  return (
    <Pane label="Reports">
      <PaneHead title="Reports" meta={text === "" ? countText(all.length) : `${rows.length} of ${all.length}`}>
        <FilterField label="Filter the reports" value={text} onChange={(q) => setParams({ q })} />
      </PaneHead>
      <div className="body scroll reportlist">
        <button
          type="button"
          className={row === undefined ? "li sel looked" : "li looked"}
          aria-current={row === undefined ? "true" : undefined}
          onClick={() => selectReport(null)}
        >
          <span className="el">What was looked at</span>
          <span className="num t3 micro">{plural(sets.length, "set")}</span>
        </button>
        {groupsOf(rows).map((group) => {
          const folds = FOLDED.includes(group.id);
          const shown = open || !folds;
          return (
            <div key={group.id}>
              {folds ? (
                <button
                  type="button"
                  className="gh fold"
                  aria-expanded={shown}
                  onClick={() => setParams({ benign: open ? null : "open" })}
                >
                  <span aria-hidden="true">{shown ? "▾" : "▸"}</span> {group.title} {countText(group.rows.length)}
                </button>
              ) : (
                <div className="gh">
                  {group.title} {countText(group.rows.length)}
                </div>
              )}
              {shown ? group.rows.map((each) => <Row key={each.number} row={each} selected={each === row} />) : null}
            </div>
          );
        })}
        {all.length > 0 && rows.length === 0 ? <p className="nothing t3">No report has these words</p> : null}
      </div>
      <div className="reportfoot small">
        <span className="t3 el">↑ ↓ select, Enter opens</span>
        <span className="sp" />
        <button
          type="button"
          className="btn quiet"
          data-action="report.sarif"
          title="Save the reports as SARIF 2.1.0, for editors and code hosts"
          disabled={all.length === 0}
          onClick={onSarif}
        >
          SARIF
        </button>
        <button
          type="button"
          className="btn quiet"
          title="Save the reports as CSV (E)"
          disabled={all.length === 0}
          onClick={onCsv}
        >
          CSV
        </button>
      </div>
    </Pane>
  );
}
