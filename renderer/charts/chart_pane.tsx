/**
 * The pane of a chart: title, controls, the chart or its table twin, and its files. T, E and Shift E are about the chart that
 * holds the focus, else the first of the page.
 */
import { type ReactElement, type ReactNode, useEffect, useRef } from "react";
import { Pane, PaneHead } from "../parts/pane.tsx";
import { useAction } from "../shell/actions.ts";
import { setParams, useView } from "../state/view.ts";
import { TableTwin, type Twin } from "./table_twin.tsx";
import "./charts.css";

interface ChartFiles {
  readonly table: () => void;
  readonly csv: () => void;
  /** Undefined while the table is shown. */
  readonly picture: (() => void) | undefined;
}

/** The charts that are shown, in the order in which they came. */
const shown = new Map<string, () => ChartFiles>();

/** The frame of the chart around or inside what holds the focus; of the first of the page where there is none. */
function frameAtHand(): Element | null {
  const focus = document.activeElement;
  // The body holds all of them: the first is then meant.
  return focus?.closest("[data-chart]") ?? focus?.querySelector("[data-chart]") ?? null;
}

function filesOf(frame: Element | null): ChartFiles | undefined {
  return shown.get(frame?.getAttribute("data-chart") ?? "")?.();
}

/** Offers the keys of charts; for a page with charts, once. */
export function useChartActions(): void {
  useAction("chart.table", () => {
    const frame = frameAtHand();
    // The chart or the table that has the focus goes; its pane stays, and the next key is about the same chart.
    if (frame?.contains(document.activeElement)) frame.closest<HTMLElement>("[data-pane]")?.focus();
    filesOf(frame)?.table();
  });
  useAction("chart.export", () => filesOf(frameAtHand())?.csv());
  useAction("chart.picture", () => filesOf(frameAtHand())?.picture?.());
}

/** Whether a chart shows its table, kept in the URL; and the change of it. */
export function useTable(id: string): readonly [boolean, () => void] {
  const tables = (useView().params.table ?? "").split(",").filter(Boolean);
  const on = tables.includes(id);
  return [on, () => setParams({ table: (on ? tables.filter((name) => name !== id) : [...tables, id]).join(",") })];
}

/** The drawing of a chart of Recharts, for a file. */
export function svgOf(id: string): SVGSVGElement | null {
  return document.querySelector<SVGSVGElement>(`[data-chart="${id}"] .chart svg`);
}

export interface ChartPaneProps {
  /** Letters; one of its kind on a page. */
  readonly id: string;
  readonly title: string;
  readonly meta?: ReactNode;
  readonly controls?: ReactNode;
  readonly table: boolean;
  /** Null until there is something to list. */
  readonly twin: Twin | null;
  readonly onTable: () => void;
  readonly onCsv: () => void;
  /** Saves the picture; and the kind of file that it is. */
  readonly picture: { readonly kind: "PNG" | "SVG"; readonly save: () => void };
  readonly line?: boolean;
  readonly top?: boolean;
  readonly children: ReactNode;
}

export function ChartPane(props: ChartPaneProps): ReactElement {
  const { id, title, meta, controls, table, twin, onTable, onCsv, picture, line = false, top = false } = props;
  const files: ChartFiles = { table: onTable, csv: onCsv, picture: table ? undefined : picture.save };
  const latest = useRef(files);
  latest.current = files;
  useEffect(() => {
    const mine = (): ChartFiles => latest.current;
    shown.set(id, mine);
    return () => {
      if (shown.get(id) === mine) shown.delete(id);
    };
  }, [id]);
  return (
    <Pane label={title} line={line} className={top ? "" : "hl"}>
      <div className="chartpane" data-chart={id}>
        <PaneHead title={title} meta={meta}>
          {controls}
          <span className="chartfiles">
            <button
              type="button"
              className="btn quiet"
              aria-pressed={table}
              title="Table of what is drawn (T)"
              onClick={onTable}
            >
              {table ? "Chart" : "Table"}
            </button>
            <button type="button" className="btn quiet" title="Save the figures as CSV (E)" onClick={onCsv}>
              CSV
            </button>
            <button
              type="button"
              className="btn quiet"
              title={`Save the picture as ${picture.kind} (⇧E)`}
              disabled={table}
              onClick={picture.save}
            >
              {picture.kind}
            </button>
          </span>
        </PaneHead>
        {table && twin !== null ? <TableTwin {...twin} /> : props.children}
      </div>
    </Pane>
  );
}
