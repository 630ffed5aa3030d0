/** A pane with bars: chart, table twin, files. */
import type { ReactElement } from "react";
import { figureText } from "../../../electron/words.ts";
import { ChartPane, svgOf, useTable } from "../../charts/chart_pane.tsx";
import { csvText, saveCsv, saveSvg } from "../../charts/save.ts";
import { SummaryChart } from "../../charts/summary_chart.tsx";
import type { SummaryBar } from "../../charts/summary_model.ts";
import type { Twin } from "../../charts/table_twin.tsx";
import { countText } from "../../parts/text.ts";
import { Asking, type ChartsProps, fileOf, noteOf } from "./chart_props.tsx";

export function BarsPane(
  props: ChartsProps & {
    readonly id: string;
    readonly title: string;
    readonly meta?: string;
    readonly bars: readonly SummaryBar[];
    readonly yTitle: string;
    readonly axisTitle: string;
    /** Head of the column that names the bars in table and file; the axis title by default. */
    readonly column?: string;
    readonly barLimit: number | null;
    readonly counts: boolean;
    readonly controls?: ReactElement | null;
    readonly line?: boolean;
    readonly onBar?: (index: number) => void;
  },
): ReactElement {
  const {
    id,
    title,
    meta,
    column = props.axisTitle,
    bars,
    yTitle,
    axisTitle,
    barLimit,
    counts,
    controls,
    line = false,
    onBar,
    summary,
  } = props;
  const [table, onTable] = useTable(id);
  const twin: Twin = {
    columns: [{ title: column, text: true }, { title: yTitle.replace(", log", "") }],
    count: bars.length,
    row: (index) => [bars[index]!.label, counts ? countText(bars[index]!.value) : figureText(bars[index]!.value)],
    ...(onBar === undefined ? {} : { onPick: onBar }),
  };
  return (
    <ChartPane
      id={id}
      line={line}
      top
      title={title}
      meta={meta}
      table={table}
      twin={twin}
      onTable={onTable}
      controls={controls}
      onCsv={() =>
        saveCsv(
          fileOf(props, id),
          csvText(
            noteOf(props, title),
            [column, yTitle.replace(", log", "")],
            bars.map(({ label, value }) => [label, value]),
          ),
        )
      }
      picture={{
        kind: "SVG",
        save: () => {
          const svg = svgOf(id);
          if (svg !== null) saveSvg(fileOf(props, id), svg, noteOf(props, title));
        },
      }}
    >
      <Asking answer={summary} there={summary.state === "there"} />
      {summary.state !== "there" ? null : (
        <SummaryChart
          title={yTitle}
          scale="log"
          axisTitle={axisTitle}
          bars={bars}
          limit={barLimit}
          counts={counts}
          {...(onBar === undefined ? {} : { onPick: onBar })}
        />
      )}
    </ChartPane>
  );
}
