/** One row for each case and route: state, figures and time, as they come. */
import type { ReactElement } from "react";
import { figureText, timeText } from "../../../electron/words.ts";
import { Verdict } from "../../parts/glyph.tsx";
import { geometryText, lengthText, originText } from "../../parts/text.ts";
import { rowHeight, useRowInSight, useWindowed } from "../../parts/windowed.ts";
import { type Row, STATE_WORDS } from "../../state/rows.ts";
import type { Step } from "../../state/run_model.ts";
import { stateGlyph } from "./run_strip.tsx";

function CaseCell({ row }: { readonly row: Row }): ReactElement {
  const shape = row.record?.shape;
  return (
    <span className="casecell" title={row.case}>
      <span className="el op">{shape?.operator ?? row.case}</span>
      {shape === undefined ? null : <span className="len">{lengthText(shape)}</span>}
      <span className="el t3">{originText(row.case)}</span>
    </span>
  );
}

function FigureCells({ row, step }: { readonly row: Row; readonly step: Step | null }): ReactElement {
  const { result } = row;
  if (row.state === "running" && step !== null) {
    const share = step.fraction ?? 0;
    return (
      <td colSpan={3} className="t2">
        <span className="mini" aria-hidden="true">
          <i style={{ width: `${100 * share}%` }} />
        </span>
        {step.phase}
      </td>
    );
  }
  if (result === undefined) return <td colSpan={3} />;
  if (result.metrics === null) {
    return (
      <td colSpan={3} className="t2 el" title={result.error ?? ""}>
        {result.error ?? "no output"}
      </td>
    );
  }
  const { maxAbs, nmse, worstRow } = result.metrics;
  const bad = result.verdict === "fail" ? " bad" : "";
  return (
    <>
      <td className={`num${bad}`}>{figureText(maxAbs)}</td>
      <td className={`num${bad}`}>{figureText(nmse)}</td>
      <td className="t2 el" title={worstRow}>
        {worstRow}
      </td>
    </>
  );
}

function isPinned({ result }: Row): boolean {
  return result?.flavour === "lockstep";
}

interface CaseTableProps {
  readonly rows: readonly Row[];
  /** False where the run has no row at all. */
  readonly planned: boolean;
  readonly selected: string | undefined;
  readonly step: Step | null;
  readonly onSelect: (key: string) => void;
}

export function CaseTable({ rows, planned, selected, step, onSelect }: CaseTableProps): ReactElement {
  const height = rowHeight();
  const { ref, from, to, before, after, slot } = useWindowed(rows.length, height);
  useRowInSight(
    ref,
    rows.findIndex((row) => row.key === selected),
    height,
  );
  return (
    <div className="body scroll" ref={ref}>
      <table
        className={rows.some(isPinned) ? "tbl fix cases somepinned" : "tbl fix cases"}
        aria-rowcount={rows.length + 1}
      >
        <thead>
          <tr>
            <th className="c-state">state</th>
            <th>case</th>
            <th className="c-type">type</th>
            <th className="c-route">route</th>
            <th className="c-figure num">max abs</th>
            <th className="c-figure num">NMSE</th>
            <th className="c-row">worst row</th>
            <th className="c-time num">time</th>
          </tr>
        </thead>
        <tbody>
          {before > 0 ? <tr className="spacer" style={{ height: before }} /> : null}
          {rows.slice(from, to).map((row, index) => (
            <tr
              key={slot(from + index)}
              className={row.key === selected ? "sel pickable" : "pickable"}
              aria-selected={row.key === selected}
              aria-rowindex={from + index + 2}
              data-state={row.state}
              onClick={() => onSelect(row.key)}
            >
              <td>
                <Verdict name={stateGlyph(row.state)}>{STATE_WORDS[row.state]}</Verdict>
                {isPinned(row) ? (
                  <span
                    className="t3 micro"
                    title="The kernel is pinned to lockstep: its lanes exchange data without a barrier"
                  >
                    {" "}
                    in lockstep
                  </span>
                ) : null}
              </td>
              <td title={row.record === undefined ? row.case : `${row.case}, ${geometryText(row.record.shape)}`}>
                <CaseCell row={row} />
              </td>
              <td className="t2">{row.record?.shape.dtype ?? ""}</td>
              <td className="el" title={row.route}>
                {row.route}
              </td>
              <FigureCells row={row} step={step} />
              <td className="num t2">
                {row.result === undefined || row.result.ms === null ? "" : timeText(row.result.ms)}
              </td>
            </tr>
          ))}
          {after > 0 ? <tr className="spacer" style={{ height: after }} /> : null}
        </tbody>
      </table>
      {rows.length === 0 ? (
        <p className="nothing t3">{planned ? "No result matches the filter" : "No result was planned"}</p>
      ) : null}
    </div>
  );
}
