/** A run that crashed: what is known, the last events, what is kept, the state of the host, what to do next. */
import type { ReactElement } from "react";
import { ActionButton, Key } from "../../parts/button.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { Panes } from "../../parts/panes.tsx";
import { geometryText, lengthText, plural, whenText } from "../../parts/text.ts";
import { type Row, tally } from "../../state/rows.ts";
import type { RunModel } from "../../state/run_model.ts";
import { useHost } from "../../state/session.ts";
import { setParams } from "../../state/view.ts";
import { EarlierRuns, Log } from "./run_side.tsx";
import { Bar, stateGlyph } from "./run_strip.tsx";

/** The phase at which it stopped: of a live run from its last step, of a kept one from the words of its record. */
function phaseOf(run: RunModel): string {
  return run.step?.phase ?? /, (\w+), \d+ of \d+ finished$/.exec(run.reason ?? "")?.[1] ?? "not known";
}

function Known({ run, row }: { readonly run: RunModel; readonly row: Row | undefined }): ReactElement {
  const shape = row?.record?.shape;
  const facts: readonly (readonly [string, string, string])[] = [
    ["what", run.reason ?? "not known", ""],
    [
      "case",
      row?.case ?? "before the first case",
      shape === undefined ? "" : `${lengthText(shape)}, ${geometryText(shape)}`,
    ],
    ["route", row?.route ?? "none yet", row?.result === undefined ? "no result" : (row.result.error ?? "")],
    ["phase", phaseOf(run), ""],
    ["device", run.device?.name.value ?? "not known", run.device?.id ?? ""],
  ];
  return (
    <table className="tbl fix known">
      <tbody>
        {facts.map(([label, value, more]) => (
          <tr key={label}>
            <td className="t3 c-label">{label}</td>
            <td className="wrap">{value}</td>
            <td className="t3 num el c-more">{more}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function CrashView({ run, rows }: { readonly run: RunModel; readonly rows: readonly Row[] }): ReactElement {
  const host = useHost();
  const counts = tally(rows);
  const of = (state: Row["state"]): number => counts.get(state) ?? 0;
  const crashed = rows.find((row) => row.state === "crash");
  const finished = run.results.size;
  const failed = of("fail");
  return (
    <Panes
      page="run"
      rightLabel="What is kept"
      right={
        <Pane label="What is kept" line className="scroll">
          <PaneHead title="This run">
            <span className="small">
              <Verdict name={stateGlyph("crash")}>crashed</Verdict>
            </span>
          </PaneHead>
          <div className="inset">
            <Bar counts={counts} total={rows.length} />
            <dl className="kv after-bar">
              <dt>finished, kept</dt>
              <dd>
                {plural(finished, "result")}
                {failed === 0 ? ", all pass" : `, ${failed} fail`}
              </dd>
              <dt>crashed</dt>
              <dd className="crash m">{plural(of("crash"), "result")}</dd>
              <dt>not run</dt>
              <dd className="fail m">{plural(of("notrun"), "result")}</dd>
              <dt>verdict</dt>
              <dd>none: a crashed run is never a pass</dd>
            </dl>
          </div>
          <PaneHead title="Device host" line />
          <div className="inset">
            <dl className="kv">
              <dt>last stop</dt>
              <dd>
                {host?.lastStop == null
                  ? "none in this session"
                  : host.lastStop.reason.replace("The host stopped ", "")}
              </dd>
              {host?.lastStop == null ? null : (
                <>
                  <dt>at</dt>
                  <dd>
                    {whenText(host.lastStop.at)}
                    {host.lastStop.pid === null ? "" : `, process ${host.lastStop.pid}`}
                  </dd>
                </>
              )}
              <dt>now</dt>
              <dd>
                {host?.state === "stopped"
                  ? "stopped; a fresh one starts with the next run"
                  : (host?.state ?? "not known")}
              </dd>
            </dl>
          </div>
          <PaneHead title="Next" meta="nothing is retried by itself" line />
          <div className="inset next">
            <div className="row">
              <ActionButton action="run.start">
                Run {crashed === undefined ? "the suite" : "this result"} again
              </ActionButton>
            </div>
            <p className="t2 small">
              By itself, in a fresh host. If it crashes again, it is the kernel and not what ran before it.
            </p>
            <p className="t2 small">
              <Key stroke="shift+r" /> runs the whole suite again as a new run; this one stays as it is.
            </p>
          </div>
          <EarlierRuns current={run.id} />
        </Pane>
      }
    >
      <Pane label="Crash">
        <PaneHead title="What is known" meta="the window and what was finished are unharmed">
          <button type="button" className="btn" onClick={() => setParams({ tab: "cases" })}>
            Show the {plural(rows.length, "result")}
          </button>
        </PaneHead>
        <Known run={run} row={crashed} />
        <PaneHead title="Last events" meta={run.log.length === 0 ? "none kept" : plural(run.log.length, "line")} line />
        <div className="body scroll">
          {run.log.length === 0 ? (
            <p className="nothing t3">This bundle holds no log: it is of an earlier version</p>
          ) : (
            <Log lines={run.log} newestFirst />
          )}
        </div>
      </Pane>
    </Panes>
  );
}
