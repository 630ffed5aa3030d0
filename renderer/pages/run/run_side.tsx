/** Beside the cases: the selected result with its gates, what runs now, the log, earlier runs. */
import { type ReactElement, useEffect, useRef, useState } from "react";
import { missText } from "../../../electron/words.ts";
import { ActionButton } from "../../parts/button.tsx";
import { GateTable } from "../../parts/gate_table.tsx";
import { Glyph, Verdict } from "../../parts/glyph.tsx";
import { PaneHead } from "../../parts/pane.tsx";
import { Pinned } from "../../parts/pinned.tsx";
import { entryGlyph, entrySummary, entryWord } from "../../parts/run_entry.ts";
import { geometryText, lengthText, plural, runName, whenText } from "../../parts/text.ts";
import { ViewLink } from "../../shell/nav.tsx";
import { useBaseline } from "../../state/baseline.ts";
import { type NoResultWords, noResultWords } from "../../state/no_result.ts";
import { type Row, STATE_WORDS } from "../../state/rows.ts";
import { type LogLine, PHASES, type RunModel, shortCase } from "../../state/run_model.ts";
import { useRuns } from "../../state/session.ts";
import { CaptureCase } from "../captures/capture_case.tsx";
import { stateGlyph } from "./run_strip.tsx";

export function SelectedResult({ run, row }: { readonly run: RunModel; readonly row: Row }): ReactElement {
  const { result, record } = row;
  return (
    <>
      <PaneHead title={row.route}>
        <ActionButton action="run.reproducer" look="quiet">
          Reproducer
        </ActionButton>
      </PaneHead>
      <div className="inset">
        <div className="row small">
          <Verdict name={stateGlyph(row.state)}>{STATE_WORDS[row.state]}</Verdict>
          <Pinned result={result} />
          {record === undefined ? null : (
            <span className="t3 el">
              {lengthText(record.shape)}, {geometryText(record.shape)}, {record.shape.dtype}
            </span>
          )}
        </div>
        <p className="mono micro t3 breakable">{row.case}</p>
        {result === undefined || result.verdict === "pass" ? null : (
          <p className="note fail">{missText(result as Parameters<typeof missText>[0])}</p>
        )}
      </div>
      {run.outcome === "running" ? null : <CaptureCase run={run} name={row.case} route={row.route} />}
      <div className="body scroll">
        {result === undefined ? <NoResult {...noResultWords(run, row)} /> : <GateTable result={result} run={run.id} />}
      </div>
    </>
  );
}

function NoResult({ sentence, next }: NoResultWords): ReactElement {
  return (
    <div className="inset">
      <p className="t2">No result: {sentence}</p>
      {next === null ? null : <p className="small t3">Next: {next}</p>}
    </div>
  );
}

export function RunningNow({ run }: { readonly run: RunModel }): ReactElement {
  const { step } = run;
  if (run.pausing === "paused") {
    return (
      <>
        <PaneHead title="Running now" meta="nothing" />
        <p className="nothing t3">Paused by you: the next case begins when you go on</p>
      </>
    );
  }
  if (step === null) {
    return (
      <>
        <PaneHead title="Running now" />
        <p className="nothing t3">The plan is made, the device opened</p>
      </>
    );
  }
  const at = PHASES.indexOf(step.phase);
  return (
    <>
      <PaneHead title="Running now" meta={step.route ?? "no route yet"}>
        <ActionButton action="run.skip" look="quiet">
          Skip case
        </ActionButton>
      </PaneHead>
      <div className="inset">
        <p className="small m el" title={step.case}>
          {shortCase(step.case)}
        </p>
        {PHASES.map((phase, index) => {
          const state = index < at ? "pass" : index === at ? "running" : "queued";
          return (
            <div key={phase} className="phase">
              <Glyph name={state} />
              <span className={index > at ? "t3" : ""}>{phase}</span>
              <span className="mini" aria-hidden="true">
                <i style={{ width: `${index < at ? 100 : index === at ? 100 * (step.fraction ?? 0) : 0}%` }} />
              </span>
              <span className="num t3 micro">
                {index === at && step.fraction !== null ? `${Math.floor(100 * step.fraction)} %` : ""}
              </span>
            </div>
          );
        })}
      </div>
    </>
  );
}

/** Lines of the log that are in the page at once. */
const LOG_SHOWN = 200;

export function Log({
  lines,
  newestFirst = false,
}: {
  readonly lines: readonly LogLine[];
  readonly newestFirst?: boolean;
}) {
  const shown = lines.slice(-LOG_SHOWN);
  const ordered = newestFirst ? [...shown].reverse() : shown;
  const base = lines.length - shown.length;
  return (
    <div className="log">
      {ordered.map((line, index) => (
        <div key={newestFirst ? base + shown.length - index : base + index} className={line.tone}>
          <span className="t3">{(line.at / 1000).toFixed(2).padStart(7)}</span>
          <span className="t2">{line.kind}</span>
          <span className="el" title={line.text}>
            {line.text}
          </span>
        </div>
      ))}
    </div>
  );
}

export function LogPane({ run }: { readonly run: RunModel }): ReactElement {
  const [follow, setFollow] = useState(true);
  const box = useRef<HTMLDivElement | null>(null);
  const count = run.log.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new line is what scrolls.
  useEffect(() => {
    if (follow && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, count]);
  return (
    <>
      <PaneHead title="Log" meta={count === 0 ? "" : `${plural(count, "line")}, seconds since the start`} line>
        <label className="tog">
          <input type="checkbox" checked={follow} onChange={(event) => setFollow(event.target.checked)} />
          follow
        </label>
      </PaneHead>
      <div className="body scroll" ref={box}>
        {count === 0 ? (
          <p className="nothing t3">This bundle holds no log: it is of an earlier version</p>
        ) : (
          <Log lines={run.log} />
        )}
      </div>
    </>
  );
}

/** Earlier runs that the pane lists; all are on the page Evidence. */
const LISTED = 8;

export function EarlierRuns({ current }: { readonly current: string }): ReactElement {
  const runs = useRuns() ?? [];
  const baseline = useBaseline();
  const listed = runs.filter((entry) => entry.state !== "bad").slice(0, LISTED);
  return (
    <>
      <PaneHead title="Earlier runs" meta={plural(runs.length, "run")} line>
        <ActionButton action="diff.pin" look="quiet">
          Pin
        </ActionButton>
        <ActionButton action="diff.show" look="quiet">
          Diff
        </ActionButton>
      </PaneHead>
      <div className="earlier">
        {listed.map((entry) => (
          <ViewLink
            key={entry.id}
            className={entry.id === current ? "li sel" : "li"}
            view={{ page: "run", params: { run: entry.id } }}
            title={runName(entry.id)}
          >
            <span className="earlier-state">
              <Verdict name={entryGlyph(entry)}>{entryWord(entry)}</Verdict>
            </span>
            <span className="el sp">{entrySummary(entry)}</span>
            {entry.id === baseline ? <span className="tag">baseline</span> : null}
            <span className="t3 num">{whenText(entry.startedAt)}</span>
          </ViewLink>
        ))}
      </div>
    </>
  );
}
