/** Traffic: logical bytes of both routes by the formulas of their kernels, dispatch by dispatch in the table. */
import type { ReactElement } from "react";
import { minimumBytes, trafficFor } from "../../../kernels/contracts.ts";
import { ChartPane, svgOf, useTable } from "../../charts/chart_pane.tsx";
import { csvText, saveCsv, saveSvg } from "../../charts/save.ts";
import type { Twin } from "../../charts/table_twin.tsx";
import { countText } from "../../parts/text.ts";
import { TrafficChart } from "./traffic_chart.tsx";
import { type Capture, fileOf, noteOf, shapeOf } from "./use_capture.ts";

const HEAD = ["route", "dispatch", "buffer", "read bytes", "written bytes", "formula"] as const;

export function TrafficPane({ capture }: { readonly capture: Capture }): ReactElement {
  const [table, onTable] = useTable("traffic");
  const { record, route, other } = capture.selected;
  const shape = shapeOf(record);
  const routes = [route, other].flatMap((name) => (name === null ? [] : (trafficFor(shape, name) ?? [])));
  const entries = routes.flatMap((traffic) => traffic.entries.map((entry) => ({ route: traffic.route, ...entry })));
  const note = noteOf(capture, "logical bytes, derived from the loops of the kernels");
  const twin: Twin = {
    columns: [
      { title: "dispatch", text: true },
      { title: "buffer", text: true },
      { title: "bytes" },
      { title: "formula", text: true },
    ],
    count: entries.length,
    row: (index) => {
      const { route: name, stage, buffer, readBytes, writtenBytes, formula } = entries[index]!;
      const access = readBytes > 0 ? "read" : "written";
      const series = name === route ? "A" : "B";
      return [`${series} ${stage}`, `${buffer}, ${access}`, countText(readBytes + writtenBytes), formula];
    },
  };
  return (
    <ChartPane
      id="traffic"
      line
      title="Traffic"
      meta="derived, logical"
      table={table}
      twin={twin}
      onTable={onTable}
      onCsv={() =>
        saveCsv(
          fileOf(capture, "traffic"),
          csvText(
            note,
            HEAD,
            entries.map((entry) => [
              entry.route,
              entry.stage,
              entry.buffer,
              entry.readBytes,
              entry.writtenBytes,
              entry.formula,
            ]),
          ),
        )
      }
      picture={{
        kind: "SVG",
        save: () => {
          const svg = svgOf("traffic");
          if (svg !== null) saveSvg(fileOf(capture, "traffic"), svg, note);
        },
      }}
    >
      {routes.length === 0 ? (
        <p className="nothing t3">{route} has no formula: it is no route of this version</p>
      ) : (
        <TrafficChart routes={routes} minimum={minimumBytes(shape)} />
      )}
      <p
        className="capture-foot t3"
        title="A byte counts once for each pass of a threadgroup; caches are not looked at"
      >
        No exact counts: no run of this bundle counted its accesses
      </p>
    </ChartPane>
  );
}
