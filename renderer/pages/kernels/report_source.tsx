/** The source of a report as it was compiled, with both sides marked; or what was looked at, where none is selected. */
import { type ReactElement, useMemo } from "react";
import { Verdict } from "../../parts/glyph.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { countText, plural, sizeText } from "../../parts/text.ts";
import { setParams, useView } from "../../state/view.ts";
import type { CheckedSet, ReportRow } from "./report_rows.ts";
import { SetTraffic } from "./set_traffic.tsx";
import { bytesByLine, marksOf, trafficNote } from "./source_marks.ts";
import { SourceView } from "./source_view.tsx";

interface ReportSourceProps {
  readonly row: ReportRow;
  readonly texts: ReadonlyMap<string, string>;
  readonly side: "first" | "second";
  /** A line that was chosen by its number. */
  readonly line: number | undefined;
  /** Whether the bytes of each line are shown. */
  readonly traffic: boolean;
}

export function ReportSource({ row, texts, side, line, traffic }: ReportSourceProps): ReactElement {
  const { report, sets } = row;
  const site = (side === "second" ? report.second : undefined) ?? report.first;
  const path = site.location?.path;
  const text = path === undefined ? undefined : texts.get(path);
  const marks = useMemo(() => (path === undefined ? [] : marksOf(report, path)), [report, path]);
  const set = sets[0]?.set;
  const result = set?.result ?? null;
  const bytes = useMemo(
    () => (traffic && result !== null && path !== undefined ? bytesByLine(result, path) : undefined),
    [traffic, result, path],
  );
  const sides = [
    { name: "first" as const, site: report.first },
    ...(report.second === undefined ? [] : [{ name: "second" as const, site: report.second }]),
  ];
  return (
    <Pane label="Source" line>
      <PaneHead title={path ?? "No source line"} meta={`dispatch ${report.dispatch}`}>
        <TrafficToggle on={traffic} disabled={result === null} />
      </PaneHead>
      <div className="sidesrow small">
        {sides.map(({ name, site: each }) => (
          <button
            key={name}
            type="button"
            className={name === side ? "btn quiet on" : "btn quiet"}
            aria-pressed={name === side}
            disabled={each.location === null}
            onClick={() => setParams({ side: name, line: null })}
          >
            <span className={`mark ${name}`}>
              <b>{name === "first" ? 1 : 2}</b> {each.access}
            </span>
            {each.location === null ? "no line" : `line ${each.location.line}`}
          </button>
        ))}
        <span className="sp" />
        {set !== undefined && bytes !== undefined && result !== null ? (
          <span className="t3 micro el" title={trafficNote(result, set.on)}>
            {trafficNote(result, set.on)}
          </span>
        ) : null}
      </div>
      {text === undefined ? (
        <p className="nothing t3">
          {path === undefined
            ? "The machine code of this access has no source line"
            : `The text of ${path} is not at hand`}
        </p>
      ) : (
        <SourceView key={path} text={text} line={line ?? site.location?.line} marks={marks} traffic={bytes} />
      )}
    </Pane>
  );
}

export function TrafficToggle({ on, disabled }: { readonly on: boolean; readonly disabled: boolean }): ReactElement {
  return (
    <label className="tog" title="Bytes that each line requests, counted by the checker on a small case">
      <input type="checkbox" checked={on} disabled={disabled} onChange={() => setParams({ bytes: on ? null : "on" })} />
      bytes
    </label>
  );
}

/** Bytes that the set's threads requested of device and constant memory. */
function requestedBytes({ result }: CheckedSet): number {
  return (result?.traffic.dispatches ?? [])
    .flatMap(({ buffers }) => buffers)
    .filter(({ addressSpace }) => addressSpace !== "threadgroup")
    .reduce((sum, { read, written }) => sum + read.requested + written.requested, 0);
}

function SetVerdict({ set }: { readonly set: CheckedSet }): ReactElement {
  const { result, error } = set;
  if (result === null) return <Verdict name="notrun">{error ?? "no result"}</Verdict>;
  if (!result.complete) return <Verdict name="notrun">ended early</Verdict>;
  if (result.dropped > 0) return <Verdict name="notrun">{plural(result.dropped, "report")} lost</Verdict>;
  const errors = result.reports.filter(({ severity }) => severity === "error").length;
  if (errors > 0) return <Verdict name="fail">{plural(errors, "error")}</Verdict>;
  const rest = result.reports.length;
  return <Verdict name="pass">{rest === 0 ? "no report" : plural(rest, "report")}</Verdict>;
}

/** Every set of pipelines that was looked at: on which case, in which flavour, what was said. */
export function Looked({ sets, note }: { readonly sets: readonly CheckedSet[]; readonly note: string }): ReactElement {
  const { params } = useView();
  const at = sets[Number(params.of ?? 0)] === undefined ? 0 : Number(params.of ?? 0);
  const chosen = sets[at];
  return (
    <Pane label="What was looked at" line>
      <PaneHead title="What was looked at" />
      <p className="inset small t2">{note}</p>
      <div className="body scroll lookedlist">
        <table className="tbl fix lookedat" data-table="sets">
          <thead>
            <tr>
              <th>kernel, and what it ran on</th>
              <th className="c-verdict">said</th>
              <th
                className="num c-figure"
                title="Requested of device and constant memory; exact, after optimisation, emulated"
              >
                bytes requested
              </th>
            </tr>
          </thead>
          <tbody>
            {sets.map((set, index) => (
              <tr
                key={`${set.name} ${set.on} ${set.flavour}`}
                className={index === at ? "sel pickable" : "pickable"}
                aria-selected={index === at}
                tabIndex={0}
                onClick={() => setParams({ of: String(index) })}
                onKeyDown={({ key }) => key === "Enter" && setParams({ of: String(index) })}
              >
                <td className="el" title={`${set.on}; ${set.flavour}`}>
                  {set.name}
                  <span className="el micro t3 block">
                    {set.pinned ? <b className="m">pinned to lockstep, </b> : null}
                    {set.on}, {set.flavour}
                  </span>
                </td>
                <td>
                  <SetVerdict set={set} />
                </td>
                <td className="num" title={`${countText(requestedBytes(set))} bytes`}>
                  {set.result === null ? "not counted" : sizeText(requestedBytes(set))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {chosen === undefined || chosen.result === null ? null : <SetTraffic set={chosen} />}
    </Pane>
  );
}
