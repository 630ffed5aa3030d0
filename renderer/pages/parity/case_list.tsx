/** The results of the run, what is wrong first, grouped by state. */
import type { ReactElement } from "react";
import { Glyph } from "../../parts/glyph.tsx";
import { ShortName } from "../../parts/short_name.tsx";
import { countText, geometryText, lengthText, originText } from "../../parts/text.ts";
import { rowHeight, useRowInSight, useWindowed } from "../../parts/windowed.ts";
import { type Row, STATE_WORDS } from "../../state/rows.ts";
import { stateGlyph } from "../run/run_strip.tsx";
import { errorShare } from "./verdict.ts";

/** A result, or the head of those of one state. */
type Line =
  | { readonly kind: "row"; readonly row: Row }
  | { readonly kind: "head"; readonly row: Row; readonly count: number };

function linesOf(rows: readonly Row[]): readonly Line[] {
  return rows.flatMap((row, index): readonly Line[] => {
    const line: Line = { kind: "row", row };
    if (index > 0 && rows[index - 1]!.state === row.state) return [line];
    return [{ kind: "head", row, count: rows.filter(({ state }) => state === row.state).length }, line];
  });
}

function headText(state: Row["state"]): string {
  const word = STATE_WORDS[state];
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function CaseLine({ row }: { readonly row: Row }): ReactElement {
  const shape = row.record?.shape;
  const share = row.result === undefined ? null : errorShare(row.result);
  // L is a decode, T a prefill: the operator needs no word of its own.
  const name = shape === undefined ? row.case : `${lengthText(shape)} ${shape.dtype}`;
  return (
    <>
      <Glyph name={stateGlyph(row.state)} />
      <span className="sr">{STATE_WORDS[row.state]}</span>
      <span className="el">
        {name}{" "}
        <span className="t3 micro">
          <ShortName name={row.route} head={2} />, {originText(row.case)}
        </span>
      </span>
      <span className={row.state === "fail" ? "num fail" : "num t3"}>{share === null ? "" : share}</span>
    </>
  );
}

interface CaseListProps {
  readonly rows: readonly Row[];
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
}

export function CaseList({ rows, selected, onSelect }: CaseListProps): ReactElement {
  const height = rowHeight();
  const lines = linesOf(rows);
  const { ref, from, to, before, after } = useWindowed(lines.length, height);
  useRowInSight(
    ref,
    lines.findIndex((line) => line.kind === "row" && line.row.key === selected),
    height,
  );
  return (
    <div className="body scroll" ref={ref}>
      <div style={{ height: before }} />
      {lines.slice(from, to).map((line) =>
        line.kind === "head" ? (
          <div key={`head ${line.row.state}`} className="gh">
            <Glyph name={stateGlyph(line.row.state)} />
            {headText(line.row.state)} {countText(line.count)}
            <span className="c">error / limit</span>
          </div>
        ) : (
          <button
            key={line.row.key}
            type="button"
            className={line.row.key === selected ? "li caseline sel" : "li caseline"}
            aria-current={line.row.key === selected}
            data-state={line.row.state}
            title={
              line.row.record === undefined
                ? line.row.case
                : `${line.row.case}, ${line.row.route}, ${geometryText(line.row.record.shape)}`
            }
            onClick={() => onSelect(line.row.key)}
          >
            <CaseLine row={line.row} />
          </button>
        ),
      )}
      <div style={{ height: after }} />
      {rows.length === 0 ? <p className="nothing t3">No result matches the filter</p> : null}
    </div>
  );
}
