/**
 * A source with line numbers; long ones are windowed. A line is chosen by its number; findings stand below their line, the
 * sides of a report and the bytes that a line moves in the gutter.
 */
import { type ReactElement, useEffect, useMemo } from "react";
import { Verdict } from "../../parts/glyph.tsx";
import { useWindowed } from "../../parts/windowed.ts";
import { setParams } from "../../state/view.ts";
import type { Said } from "./said.ts";
import { type LineBytes, lineBytesText, type Mark } from "./source_marks.ts";
import { sourceLines } from "./source_text.ts";

/** Height of a line, as in kernels.css. */
const LINE = 18;

interface SourceViewProps {
  readonly text: string;
  /** 1-based; undefined where none is chosen. */
  readonly line: number | undefined;
  /** What lint and compiler say of this file. */
  readonly said?: readonly Said[];
  /** Sides of the report at hand; undefined where no report is shown. */
  readonly marks?: readonly Mark[] | undefined;
  /** Bytes by line; undefined where the column is off. */
  readonly traffic?: ReadonlyMap<number, LineBytes> | undefined;
}

const GLYPHS = { error: "fail", warning: "ambig", note: "queued" } as const;
const SIDE_NUMBERS = { first: "1", second: "2" } as const;
const NOTHING: readonly Said[] = [];

function MarkCell({ marks }: { readonly marks: readonly Mark[] }): ReactElement {
  return (
    <span className="markcell">
      {marks.map(({ side, access }) => (
        <span key={side} className={`mark ${side}`} data-mark={side}>
          <b>{SIDE_NUMBERS[side]}</b> {access}
        </span>
      ))}
    </span>
  );
}

export function SourceView({ text, line, said = NOTHING, marks, traffic }: SourceViewProps): ReactElement {
  const lines = useMemo(() => sourceLines(text), [text]);
  const saidOn = (number: number): readonly Said[] => said.filter((one) => one.line === number);
  const marksOn = (number: number): readonly Mark[] => marks?.filter((mark) => mark.line === number) ?? [];
  const { ref, from, to, before, after } = useWindowed(lines.length, LINE);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const top = ((line ?? 1) - 1) * LINE;
    const inSight = top >= element.scrollTop && top + LINE <= element.scrollTop + element.clientHeight;
    if (!inSight) element.scrollTop = Math.max(0, top - element.clientHeight / 3);
  }, [ref, line]);
  const columns = `${marks === undefined ? "" : " marked"}${traffic === undefined ? "" : " counted"}`;
  return (
    <div className={`body scroll source${columns}`} ref={ref} data-lines={lines.length}>
      {before > 0 ? <div style={{ height: before }} /> : null}
      {lines.slice(from, to).map((pieces, index) => {
        const number = from + index + 1;
        const here = saidOn(number);
        const sides = marksOn(number);
        const bytes = traffic?.get(number);
        return (
          <div
            key={number}
            className={`ln${number === line ? " on" : ""}${sides.length > 0 ? " sided" : ""}`}
            data-line={number}
          >
            <button
              type="button"
              tabIndex={-1}
              aria-label={`Line ${number}`}
              onClick={() => setParams({ line: number === line ? null : String(number) })}
            >
              {number}
            </button>
            {marks === undefined ? null : <MarkCell marks={sides} />}
            {traffic === undefined ? null : (
              <span className={bytes?.device === 0 ? "bytescell t3" : "bytescell"} title={bytes?.title}>
                {bytes === undefined ? "" : lineBytesText(bytes)}
              </span>
            )}
            <code>
              {pieces.map((piece, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line never move.
                <span key={at} className={`tk-${piece.tone}`}>
                  {piece.text}
                </span>
              ))}
            </code>
            {here.map(({ by, severity, column, message }) => (
              <p key={`${by} ${column} ${message}`} className="finding" data-said={by}>
                <Verdict name={GLYPHS[severity]}>
                  {by === "lint" ? "lint" : severity}, column {column}: {message}
                </Verdict>
              </p>
            ))}
            {sides.map(({ side, access, column, who }) => (
              <p key={side} className={`finding side ${side}`} data-side={side}>
                <b>{SIDE_NUMBERS[side]}</b> {access} at column {column} by {who}
              </p>
            ))}
          </div>
        );
      })}
      {after > 0 ? <div style={{ height: after }} /> : null}
    </div>
  );
}
