/** The table that says what a chart shows; long ones hold in the page only the rows that can be seen. */
import type { ReactElement } from "react";
import { rowHeight, useWindowed } from "../parts/windowed.ts";

export interface Twin {
  readonly columns: readonly { readonly title: string; readonly text?: boolean }[];
  readonly count: number;
  /** The cells of a row. */
  readonly row: (index: number) => readonly string[];
  /** What a click on a row does. */
  readonly onPick?: (index: number) => void;
}

export function TableTwin({ columns, count, row, onPick }: Twin): ReactElement {
  const height = rowHeight();
  const { ref, from, to, before, after } = useWindowed(count, height);
  return (
    <div className="body scroll" ref={ref}>
      <table className="tbl fix twin" aria-rowcount={count + 1}>
        <thead>
          <tr>
            {columns.map(({ title, text }) => (
              <th key={title} className={text ? "" : "num"}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 ? <tr className="spacer" style={{ height: before }} /> : null}
          {Array.from({ length: to - from }, (_, offset) => {
            const index = from + offset;
            return (
              <tr
                key={index}
                className={onPick ? "pickable" : ""}
                tabIndex={onPick ? 0 : undefined}
                onClick={() => onPick?.(index)}
                onKeyDown={({ key }) => key === "Enter" && onPick?.(index)}
              >
                {row(index).map((cell, column) => (
                  <td key={columns[column]!.title} className={columns[column]!.text ? "" : "num"}>
                    {cell}
                  </td>
                ))}
              </tr>
            );
          })}
          {after > 0 ? <tr className="spacer" style={{ height: after }} /> : null}
        </tbody>
      </table>
      {count === 0 ? <p className="nothing t3">Nothing to list</p> : null}
    </div>
  );
}
