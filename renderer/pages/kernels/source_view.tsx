/** A source with line numbers; long ones are windowed. A line is chosen by its number; findings stand below their line. */
import { type ReactElement, useEffect, useMemo } from "react";
import type { Finding } from "../../../kernels/lint.ts";
import { Verdict } from "../../parts/glyph.tsx";
import { useWindowed } from "../../parts/windowed.ts";
import { setParams } from "../../state/view.ts";
import { sourceLines } from "./source_text.ts";

/** Height of a line, as in kernels.css. */
const LINE = 18;

interface SourceViewProps {
  readonly text: string;
  /** 1-based; undefined where none is chosen. */
  readonly line: number | undefined;
  readonly findings: readonly Finding[];
}

export function SourceView({ text, line, findings }: SourceViewProps): ReactElement {
  const lines = useMemo(() => sourceLines(text), [text]);
  const saidOn = (number: number): readonly Finding[] => findings.filter((finding) => finding.line === number);
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
        const said = saidOn(number);
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
            {said.map((finding) => (
              <p key={`${finding.column} ${finding.message}`} className="finding">
                <Verdict name="fail">
                  column {finding.column}: {finding.message}
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
