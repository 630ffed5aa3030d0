/** The reports on a manifest's kernel: asked for here, checked by the host. */
import { type ReactElement, useMemo } from "react";
import { useAction } from "../../shell/actions.ts";
import { useViewCommand } from "../../shell/command.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { go, setParams, useView } from "../../state/view.ts";
import { logMeta, logOf } from "./log_rows.ts";
import { askedOf, checkWords } from "./manifest_asked.ts";
import { ManifestForm } from "./manifest_form.tsx";
import { setsOfManifest } from "./report_rows.ts";
import { type LookedAt, ReportStrip, Reports } from "./reports_view.tsx";
import { type ManifestCheck, type ManifestChecks, useManifest } from "./use_manifest.ts";

function toRuns(): void {
  go("kernels", { view: "reports" });
}

function Asking({ checks }: { readonly checks: ManifestChecks }): ReactElement {
  const { params } = useView();
  const asked = askedOf({ path: params.manifest ?? "", root: params.root ?? "", sizes: params.set ?? "" });
  useTrail("Kernels", "reports", "manifest");
  useViewCommand(asked.value === undefined ? ["lockstep", "check", "KERNEL.kernel.json"] : checkWords(asked.value));
  return (
    <div className="page kernels-page">
      <ReportStrip headline={null}>
        <button type="button" className="btn" onClick={toRuns}>
          Reports of runs
        </button>
      </ReportStrip>
      <ManifestForm checks={checks} />
    </div>
  );
}

interface AnsweredProps {
  readonly check: Extract<ManifestCheck, { state: "there" }>;
  readonly start: ManifestChecks["start"];
}

function Answered({ check, start }: AnsweredProps): ReactElement {
  const { answer, asked } = check;
  const looked = useMemo<LookedAt>(
    () => ({
      what: "manifest",
      name: answer.name,
      sets: setsOfManifest(answer),
      texts: new Map(answer.texts.map(({ path, text }) => [path, text])),
      note: `${answer.reason}.`,
      log: logOf(answer),
    }),
    [answer],
  );
  const { params } = useView();
  return (
    <Reports looked={looked} words={checkWords(asked)}>
      {looked.log === undefined ? null : (
        <button
          type="button"
          className="btn"
          aria-pressed={params.log === "on"}
          onClick={() => setParams({ log: params.log === "on" ? null : "on" })}
        >
          Log, {logMeta(looked.log)}
        </button>
      )}
      <button type="button" className="btn" onClick={toRuns}>
        Reports of runs
      </button>
      <button type="button" className="btn" onClick={() => setParams({ form: "on" })}>
        Other manifest
      </button>
      <button type="button" className="btn" onClick={() => start(asked)}>
        Check again
      </button>
    </Reports>
  );
}

export function ManifestReports(): ReactElement {
  const { params } = useView();
  const checks = useManifest();
  const { check, start } = checks;
  useAction("kernel.manifest", () => setParams({ form: "on" }));
  if (check.state !== "there" || params.form === "on") {
    return (
      <Asking
        checks={{
          ...checks,
          start: (asked) => {
            setParams({ form: null, report: null, side: null, line: null, q: null });
            start(asked);
          },
        }}
      />
    );
  }
  return <Answered check={check} start={start} />;
}
