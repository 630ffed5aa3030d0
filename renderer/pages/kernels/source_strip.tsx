/** Above the sources: the two views, and the checker's word on the route at hand. */
import { type ReactElement, useMemo } from "react";
import type { CaseShape } from "../../../kernels/route.ts";
import { Glyph } from "../../parts/glyph.tsx";
import { runName } from "../../parts/text.ts";
import { ViewLink } from "../../shell/nav.tsx";
import { headlineOf, type RunChecks, rowsOf, setsOfRun } from "./report_rows.ts";
import { checksOf } from "./source_bytes.ts";
import { ViewSegments } from "./view_segments.tsx";

interface SourceStripProps {
  readonly route: string;
  readonly operator: CaseShape["operator"];
  /** The run whose reports are at hand; undefined where there is none. */
  readonly run: string | undefined;
  /** Undefined until they have come, and where the run kept none. */
  readonly checks: RunChecks | undefined;
}

export function SourceStrip({ route, operator, run, checks }: SourceStripProps): ReactElement {
  const sets = useMemo(
    () => (checks === undefined ? [] : setsOfRun({ checks: [...checksOf(checks.checks, operator, route)] })),
    [checks, operator, route],
  );
  const headline = useMemo(() => headlineOf(sets, rowsOf(sets), "run"), [sets]);
  return (
    <div className="strip tight plain" data-checked={sets.length === 0 ? "none" : headline.glyph}>
      <div className="row small">
        <ViewSegments />
        {sets.length === 0 || run === undefined ? (
          <span className="t3 el">
            {route} was not checked in {run === undefined ? "any run yet" : runName(run)}
          </span>
        ) : (
          <>
            <Glyph name={headline.glyph} />
            <span className="el" title={`${headline.word} ${headline.sentence}`}>
              <span className={`m ${headline.glyph}`}>{headline.word} </span>
              {headline.sentence}
            </span>
            <ViewLink view={{ page: "kernels", params: { view: "reports", run, q: route } }} className="nw">
              Reports of {runName(run)}
            </ViewLink>
          </>
        )}
        <span className="sp" />
      </div>
    </div>
  );
}
