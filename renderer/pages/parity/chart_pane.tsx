/** The pane of a chart: title, controls, the chart or its table twin, and its files. */
import type { ReactElement, ReactNode } from "react";
import { TableTwin, type Twin } from "../../charts/table_twin.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";

export const CHARTS = ["position", "map", "ulp", "groups"] as const;
export type ChartId = (typeof CHARTS)[number];

interface ChartPaneProps {
  readonly id: ChartId;
  readonly title: string;
  readonly meta?: ReactNode;
  readonly controls?: ReactNode;
  readonly table: boolean;
  readonly twin: Twin | null;
  readonly onTable: () => void;
  readonly onCsv: () => void;
  /** Saves the picture; and the kind of file that it is. */
  readonly picture: { readonly kind: "PNG" | "SVG"; readonly save: () => void };
  readonly line?: boolean;
  readonly top?: boolean;
  readonly children: ReactNode;
}

/** The drawing of a chart, for a file. */
export function svgOf(id: ChartId): SVGSVGElement | null {
  return document.querySelector<SVGSVGElement>(`[data-chart="${id}"] .chart svg`);
}

/** The chart that holds the focus; the first one otherwise. */
export function focusedChart(): ChartId {
  const id = document.activeElement?.querySelector("[data-chart]")?.getAttribute("data-chart");
  const around = document.activeElement?.closest("[data-chart]")?.getAttribute("data-chart");
  return CHARTS.find((chart) => chart === (around ?? id)) ?? "position";
}

export function ChartPane(props: ChartPaneProps): ReactElement {
  const {
    id,
    title,
    meta,
    controls,
    table,
    twin,
    onTable,
    onCsv,
    picture,
    line = false,
    top = false,
    children,
  } = props;
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
            <button type="button" className="btn quiet" title="Save the figures (E)" onClick={onCsv}>
              CSV
            </button>
            <button
              type="button"
              className="btn quiet"
              title="Save the picture"
              disabled={table}
              onClick={picture.save}
            >
              {picture.kind}
            </button>
          </span>
        </PaneHead>
        {table && twin !== null ? <TableTwin {...twin} /> : children}
      </div>
    </Pane>
  );
}
