/** The report at hand: both sides with excerpt and caret, the memory, what it means, what to do, how it is known. */
import type { ReactElement, ReactNode } from "react";
import { excerpt } from "../../../electron/checker/excerpt.ts";
import { CHECK_RULES } from "../../../electron/checker/rules.ts";
import { placeText } from "../../../electron/checker/text.ts";
import { counted } from "../../../electron/words.ts";
import type { CheckReport, SiteAccess } from "../../../native/check.ts";
import { ActionButton } from "../../parts/button.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { countText } from "../../parts/text.ts";
import { setParams } from "../../state/view.ts";
import { type ReportRow, SEVERITY_GLYPHS, SEVERITY_WORDS } from "./report_rows.ts";

interface SideProps {
  readonly side: "first" | "second";
  readonly site: SiteAccess;
  readonly current: boolean;
  readonly texts: ReadonlyMap<string, string>;
}

function Side({ side, site, current, texts }: SideProps): ReactElement {
  const { location, access, threadgroup, simdgroup, lane, thread } = site;
  const lines = location === null ? [] : excerpt(texts, location);
  return (
    <section className={`reportside ${side}${current ? " on" : ""}`} aria-label={`${side} access`}>
      <div className="row small">
        <span className={`mark ${side}`}>
          <b>{side === "first" ? 1 : 2}</b> {access}
        </span>
        {location === null ? (
          <span className="t3">no source line</span>
        ) : (
          <button
            type="button"
            className="place"
            aria-current={current ? "true" : undefined}
            title={`Show ${placeText(site)}`}
            onClick={() => setParams({ side, line: null })}
          >
            <code>{placeText(site).split("/").at(-1)}</code>
          </button>
        )}
      </div>
      {lines.length === 0 ? null : <pre className="excerpt">{lines.join("\n")}</pre>}
      <p className="micro t2">
        threadgroup ({threadgroup.join(", ")}), simdgroup {simdgroup}, lane {lane}, thread {countText(thread)}
      </p>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactElement {
  return (
    <div className="pair">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Memory({ report }: { readonly report: CheckReport }): ReactElement | null {
  const { buffer, offset, addressSpace, size } = report;
  if (buffer === null) return null;
  const index = buffer.index === null ? "" : `, index ${buffer.index}`;
  return (
    <>
      <Fact name="memory">
        {addressSpace ?? "memory"} <b className="m">{buffer.name}</b>
        {index}
      </Fact>
      {offset === null ? null : (
        <Fact name="byte offset">
          {countText(offset)} of {countText(buffer.bytes)}, {counted(size, "byte")} at a time
        </Fact>
      )}
    </>
  );
}

interface ReportInspectorProps {
  readonly row: ReportRow;
  readonly texts: ReadonlyMap<string, string>;
  /** The side that the source shows. */
  readonly side: "first" | "second";
}

export function ReportInspector({ row, texts, side }: ReportInspectorProps): ReactElement {
  const { report, sets, count } = row;
  const rule = CHECK_RULES[report.kind];
  return (
    <Pane label="Report" line className="scroll">
      <PaneHead title={rule.title}>
        <ActionButton action="report.copy" look="quiet" title="Copy the report as text">
          Copy
        </ActionButton>
      </PaneHead>
      <div className="inset small reportbody">
        <div className="row">
          <Verdict name={SEVERITY_GLYPHS[report.severity]}>{SEVERITY_WORDS[report.severity]}</Verdict>
          <code className="t3">{report.kind}</code>
        </div>
        <p>{report.message}</p>
        <Side side="first" site={report.first} current={side === "first"} texts={texts} />
        {report.second === undefined ? null : (
          <Side side="second" site={report.second} current={side === "second"} texts={texts} />
        )}
        <dl className="kv reportfacts">
          <Memory report={report} />
          <Fact name="dispatch">{report.dispatch}</Fact>
          <Fact name="seen">{count === 1 ? "once" : `${countText(count)} times`}, emulated</Fact>
          <Fact name="means">{rule.meaning}</Fact>
          <Fact name="to mend it">{rule.mend}</Fact>
          <Fact name="seen by">{report.mechanism}</Fact>
          <Fact name="blind to">{report.blindSpot}</Fact>
        </dl>
      </div>
      <PaneHead title="Seen in" meta={`${counted(sets.length, "set")} of pipelines`} line />
      <table className="tbl fix seenin">
        <thead>
          <tr>
            <th>route and case</th>
            <th className="num c-figure">times</th>
          </tr>
        </thead>
        <tbody>
          {sets.map(({ set, count: times }) => (
            <tr key={`${set.name} ${set.on} ${set.flavour}`} title={set.on}>
              <td>
                {set.name} <span className="t3 micro">{set.flavour}</span>
                <span className="el micro t3 block">{set.on}</span>
              </td>
              <td className="num">{countText(times)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Pane>
  );
}

/** In the place of a report where none is selected: what a silent checker means. */
export function NoReport({ kinds }: { readonly kinds: readonly BlindSpot[] }): ReactElement {
  return (
    <Pane label="What the checker cannot see" line className="scroll">
      <PaneHead title="What the checker cannot see" />
      <div className="inset small">
        <p className="t2">
          Reports are exact for the path that the small case takes. Silence says nothing of another path, another input,
          or what lies in these blind spots.
        </p>
      </div>
      <dl className="blind small">
        {[...new Set(kinds.map(({ blindSpot }) => blindSpot))].map((blindSpot) => (
          <div key={blindSpot}>
            <dt className="m">
              {kinds
                .filter((each) => each.blindSpot === blindSpot)
                .map(({ kind }) => CHECK_RULES[kind].title)
                .join(", ")}
            </dt>
            <dd className="t2">{blindSpot}</dd>
          </div>
        ))}
      </dl>
    </Pane>
  );
}

export interface BlindSpot {
  readonly kind: CheckReport["kind"];
  readonly blindSpot: string;
}
