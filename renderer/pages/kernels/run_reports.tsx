/** The reports that a run kept. */
import { type ReactElement, useMemo } from "react";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Empty } from "../../parts/pane.tsx";
import { runName } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { useViewCommand } from "../../shell/command.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { useAnswer, useLive, useRuns } from "../../state/session.ts";
import { go, setParams, useView } from "../../state/view.ts";
import { setsOfRun } from "./report_rows.ts";
import { type LookedAt, ReportStrip, Reports } from "./reports_view.tsx";

/** The kept run that reports are read of: the one of the URL, else the newest. */
export function useCheckedRun(): { readonly id: string | undefined; readonly known: boolean } {
  const { params } = useView();
  const runs = useRuns();
  const kept = runs?.find((entry) => entry.state === "kept")?.id;
  return { id: params.run ?? kept, known: runs !== null };
}

function RunSelect({ id }: { readonly id: string }): ReactElement {
  const runs = (useRuns() ?? []).filter((entry) => entry.state === "kept");
  const listed = runs.some((entry) => entry.id === id);
  return (
    <select
      className="inp runsel"
      aria-label="Run"
      value={id}
      onChange={({ target }) => setParams({ run: target.value, report: null, side: null, line: null, q: null })}
    >
      {listed ? null : <option value={id}>{runName(id)}</option>}
      {runs.map((entry) => (
        <option key={entry.id} value={entry.id}>
          {runName(entry.id)}
        </option>
      ))}
    </select>
  );
}

function Controls({ id }: { readonly id: string | undefined }): ReactElement {
  return (
    <>
      {id === undefined ? null : <RunSelect id={id} />}
      <ActionButton action="kernel.manifest">Check a manifest</ActionButton>
    </>
  );
}

function NoReports({ id, reason }: { readonly id: string | undefined; readonly reason: string }): ReactElement {
  useTrail("Kernels", "reports", id === undefined ? "no run yet" : runName(id));
  useViewCommand(["lockstep", "parity", "--suite", "quick"]);
  return (
    <div className="page kernels-page">
      <ReportStrip headline={null}>
        <Controls id={id} />
      </ReportStrip>
      <Empty title="No reports">
        <p className="t2 after">{reason}</p>
        <ActionButton action="page.run" look="primary" large>
          Run a suite
        </ActionButton>
      </Empty>
    </div>
  );
}

export function RunReports(): ReactElement {
  const { id, known } = useCheckedRun();
  const live = useLive();
  const running = live !== null && live.id === id && live.outcome === "running";
  const checks = useAnswer("checks.list", id === undefined || running ? null : { id });
  const record = useAnswer("runs.record", id === undefined || running ? null : { id });
  const value = checks.state === "there" ? checks.value : undefined;
  const looked = useMemo<LookedAt | undefined>(
    () =>
      value === undefined || id === undefined
        ? undefined
        : {
            what: "run",
            name: runName(id),
            sets: setsOfRun(value),
            texts: new Map(value.texts.map(({ path, text }) => [path, text])),
            note: "Each set of pipelines of the run once, on a small case of the same geometry.",
          },
    [value, id],
  );
  useAction("kernel.manifest", () => go("kernels", { view: "reports", from: "manifest" }));
  if (id === undefined) {
    if (!known) return <div className="page" />;
    return (
      <NoReports
        id={undefined}
        reason="A run has the checker look at every set of pipelines once, on a small case. Its reports then open here at their lines."
      />
    );
  }
  if (running) {
    return <NoReports id={id} reason="The run is going on. Its reports can be read when it has ended." />;
  }
  if (checks.state === "failed") {
    return (
      <div className="inset">
        <FailureNote failure={checks.failure} />
      </div>
    );
  }
  if (looked === undefined) return <div className="page" />;
  if (looked.sets.length === 0) {
    const execution = record.state === "there" ? record.value.execution : undefined;
    const reason =
      execution === "imported"
        ? "Another engine computed the outputs of this run: no kernel was run here, so none was checked."
        : "No result of this bundle names reports: it is of an earlier version, or no kernel came so far as to be checked.";
    return <NoReports id={id} reason={reason} />;
  }
  const words = record.state === "there" ? record.value.command : ["lockstep", "parity"];
  return (
    <Reports looked={looked} words={words}>
      <Controls id={id} />
    </Reports>
  );
}
