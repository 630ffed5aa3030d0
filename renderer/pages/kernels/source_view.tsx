/** A source with line numbers; long ones are windowed. A line is chosen by its number; findings stand below their line. */
import { type ReactElement, useEffect, useMemo } from "react";
import { Verdict } from "../../parts/glyph.tsx";
import { useWindowed } from "../../parts/windowed.ts";
import { setParams } from "../../state/view.ts";
import type { Said } from "./said.ts";
import { sourceLines } from "./source_text.ts";

/** Height of a line, as in kernels.css. */
const LINE = 18;

interface SourceViewProps {
  readonly text: string;
  /** 1-based; undefined where none is chosen. */
  readonly line: number | undefined;
  /** What lint and compiler say of this file. */
  readonly said: readonly Said[];
}

const GLYPHS = { error: "fail", warning: "ambig", note: "queued" } as const;

export function SourceView({ text, line, said }: SourceViewProps): ReactElement {
  const lines = useMemo(() => sourceLines(text), [text]);
  const saidOn = (number: number): readonly Said[] => said.filter((one) => one.line === number);
  const { ref, from, to, before, after } = useWindowed(lines.length, LINE);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const top = ((line ?? 1) - 1) * LINE;
    const inSight = top >= element.scrollTop && top + LINE <= element.scrollTop + element.clientHeight;
    if (!inSight) element.scrollTop = Math.max(0, top - element.clientHeight / 3);
  }, [ref, line]);
  return (
    <div className="body scroll source" ref={ref} data-lines={lines.length}>
      {before > 0 ? <div style={{ height: before }} /> : null}
      {lines.slice(from, to).map((pieces, index) => {
        const number = from + index + 1;
        const here = saidOn(number);
        return (
          <div key={number} className={number === line ? "ln on" : "ln"} data-line={number}>
            <button
              type="button"
              tabIndex={-1}
              aria-label={`Line ${number}`}
              onClick={() => setParams({ line: number === line ? null : String(number) })}
            >
              {number}
            </button>
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
          </div>
        );
      })}
      {after > 0 ? <div style={{ height: after }} /> : null}
    </div>
  );
}
