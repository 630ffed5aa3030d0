/** The checker's reports of a run or of a manifest's kernel: a verdict, the list, the source with both sides, the report. */
import { type ReactElement, type ReactNode, useMemo } from "react";
import { checkFailure, sarifLog } from "../../../electron/checker/sarif.ts";
import { reportLines } from "../../../electron/checker/text.ts";
import { csvText, save, saveCsv } from "../../charts/save.ts";
import { TableTwin } from "../../charts/table_twin.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { Panes } from "../../parts/panes.tsx";
import { useAction } from "../../shell/actions.ts";
import { copyText, useViewCommand } from "../../shell/command.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { useAnswer } from "../../state/session.ts";
import { setParams, useView } from "../../state/view.ts";
import { type KernelLog, LOG_COLUMNS, logCells, logMeta } from "./log_rows.ts";
import { NoReport, ReportInspector } from "./report_inspector.tsx";
import { ReportList, selectReport, unfolded } from "./report_list.tsx";
import {
  type CheckedSet,
  filterRows,
  type Headline,
  headlineOf,
  REPORT_HEAD,
  type ReportRow,
  reportFields,
  rowsOf,
  SEVERITY_WORDS,
  shortPlace,
} from "./report_rows.ts";
import { Looked, ReportSource } from "./report_source.tsx";
import { ViewSegments } from "./view_segments.tsx";

/** What the view is about: a run, or the kernel of a manifest. */
export interface LookedAt {
  readonly what: "run" | "manifest";
  /** In the trail and in the names of files. */
  readonly name: string;
  readonly sets: readonly CheckedSet[];
  readonly texts: ReadonlyMap<string, string>;
  /** What the sets are of, in a few words. */
  readonly note: string;
  /** What the kernels logged; the bundles of runs hold none. */
  readonly log?: KernelLog | undefined;
}

interface StripProps {
  readonly headline: Headline | null;
  readonly children: ReactNode;
}

/** The views, the verdict in one sentence, and which run or manifest it is of. */
export function ReportStrip({ headline, children }: StripProps): ReactElement {
  return (
    <div className={`strip tight ${headline?.edge ?? "i"}`} data-reports={headline?.glyph ?? "none"}>
      <div className="row">
        <ViewSegments />
        {headline === null ? null : (
          <>
            <Glyph name={headline.glyph} big />
            <span className="say el" title={`${headline.word} ${headline.sentence}`}>
              <span className={headline.glyph}>{headline.word} </span>
              {headline.sentence}
            </span>
          </>
        )}
        <span className="sp" />
        {children}
      </div>
    </div>
  );
}

/** The row of the URL; the first error or warning where it names none. */
function rowAt(all: readonly ReportRow[], named: string | undefined): ReportRow | undefined {
  if (named === "none") return undefined;
  const asked = all.find(({ number }) => String(number) === named);
  return asked ?? all.find((row) => row.counted && row.report.severity !== "info");
}

function useReportActions(
  looked: LookedAt,
  rows: readonly ReportRow[],
  row: ReportRow | undefined,
  shown: readonly ReportRow[],
  version: string,
): { readonly onCsv: () => void; readonly onSarif: () => void } {
  const { params } = useView();
  const at = row === undefined ? -1 : shown.findIndex(({ number }) => number === row.number);
  const move = (by: number): void => {
    const next = at + by;
    if (next < 0) selectReport(null);
    else if (shown[next] !== undefined) selectReport(shown[next].number);
  };
  const none = rows.length === 0 ? "there is no report" : undefined;
  const unselected = row === undefined ? "no report is selected" : undefined;
  useAction("list.next", () => move(1), none);
  useAction("list.previous", () => move(-1), none);
  useAction(
    "report.open",
    () => {
      const other = params.side === "first" && row?.report.second?.location != null ? "second" : "first";
      setParams({ side: other, line: null });
      document.querySelector<HTMLElement>('[data-pane][aria-label="Source"]')?.focus();
    },
    unselected,
  );
  useAction(
    "report.copy",
    () => void (row === undefined ? undefined : copyText(reportLines(row.report, looked.texts).join("\n"))),
    unselected,
  );
  const file = `reports-${looked.name}-emulated`.replaceAll(/[^\w.-]+/g, "_");
  const onCsv = (): void => {
    const note = `execution emulated; reports of the checker, ${looked.name}`;
    saveCsv(file, csvText(note, REPORT_HEAD, rows.map(reportFields)));
  };
  const onSarif = (): void => {
    const log = sarifLog(
      rows.map(({ report, count }) => ({ ...report, count })),
      version,
      looked.sets.map(({ result, error }) => checkFailure(result, error)).find((failure) => failure !== null) ?? null,
    );
    save(new Blob([`${JSON.stringify(log, null, 2)}\n`], { type: "application/sarif+json" }), `${file}.sarif`);
  };
  useAction("chart.export", onCsv, none);
  useAction("report.sarif", onSarif, none);
  useAction("window.close", () => setParams({ q: null, side: null, line: null }));
  return { onCsv, onSarif };
}

function LogPane({ log }: { readonly log: KernelLog }): ReactElement {
  return (
    <Pane label="Logged by the kernel" className="kernellog">
      <PaneHead title="Logged by the kernel" meta={`${logMeta(log)}, emulated`}>
        <button type="button" className="btn quiet" onClick={() => setParams({ log: null })}>
          Close
        </button>
      </PaneHead>
      <TableTwin columns={LOG_COLUMNS} count={log.lines.length} row={(index) => logCells(log, index)} />
    </Pane>
  );
}

interface ReportsProps {
  readonly looked: LookedAt;
  /** The command that says the same. */
  readonly words: readonly string[];
  /** Beside the verdict. */
  readonly children: ReactNode;
}

export function Reports({ looked, words, children }: ReportsProps): ReactElement {
  const { params } = useView();
  const { sets, texts, what, note } = looked;
  const all = useMemo(() => rowsOf(sets), [sets]);
  const text = params.q ?? "";
  const rows = useMemo(() => filterRows(all, text), [all, text]);
  const open = params.benign === "open";
  const row = rowAt(rows, params.report);
  const info = useAnswer("app.info", {});
  const kinds = useAnswer("checks.kinds", {});
  const version = info.state === "there" ? info.value.version : "";
  const { onCsv, onSarif } = useReportActions(looked, rows, row, unfolded(rows, open), version);
  const side = params.side === "second" && row?.report.second !== undefined ? "second" : "first";
  const line = /^\d{1,6}$/.test(params.line ?? "") ? Number(params.line) : undefined;
  useTrail(
    "Kernels",
    "reports",
    looked.name,
    ...(row === undefined ? [] : [`${SEVERITY_WORDS[row.report.severity]} at ${shortPlace(row.report)}`]),
  );
  useViewCommand(words);
  return (
    <div className="page kernels-page">
      <ReportStrip headline={headlineOf(sets, all, what)}>{children}</ReportStrip>
      <Panes
        page="reports"
        leftLabel="Reports"
        rightLabel={row === undefined ? "What the checker cannot see" : "Report"}
        left={
          <ReportList
            sets={sets}
            all={all}
            rows={rows}
            row={row}
            text={text}
            open={open}
            onCsv={onCsv}
            onSarif={onSarif}
          />
        }
        right={
          row === undefined ? (
            <NoReport kinds={kinds.state === "there" ? kinds.value.kinds : []} />
          ) : (
            <ReportInspector row={row} texts={texts} side={side} />
          )
        }
      >
        {params.log === "on" && looked.log !== undefined ? (
          <LogPane log={looked.log} />
        ) : row === undefined ? (
          <Looked sets={sets} note={note} />
        ) : (
          <ReportSource row={row} texts={texts} side={side} line={line} traffic={params.bytes === "on"} />
        )}
      </Panes>
    </div>
  );
}
