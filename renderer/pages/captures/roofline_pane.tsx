/** Roofline: the datasheet's roofs of the chip, dashed, and the routes where they were timed on it. */
import type { ReactElement } from "react";
import { flopsOf, trafficFor } from "../../../kernels/contracts.ts";
import { ChartPane, svgOf, useTable } from "../../charts/chart_pane.tsx";
import { csvText, saveCsv, saveSvg } from "../../charts/save.ts";
import type { Twin } from "../../charts/table_twin.tsx";
import { standingOf } from "../../parts/standing.tsx";
import { countText } from "../../parts/text.ts";
import { type Answer, useAnswer } from "../../state/session.ts";
import { type RoofPoint, roofPoint, roofsOf, shareText } from "./roofline.ts";
import { RooflineChart } from "./roofline_chart.tsx";
import { pointsOf, summaryOf, type Timings, WHOLE } from "./timing_model.ts";
import { type Capture, fileOf, noteOf, shapeOf } from "./use_capture.ts";

const HEAD = ["route", "FLOP", "logical bytes", "FLOP per byte", "GFLOP/s", "share of roof"] as const;

function cellsOf({ route, flops, bytes, intensity, gflops, share }: RoofPoint): readonly string[] {
  return [
    route,
    countText(flops),
    countText(bytes),
    intensity.toPrecision(3),
    gflops === null ? "not measured" : countText(Math.round(gflops)),
    share === null ? "not measured" : shareText(share),
  ];
}

interface RooflinePaneProps {
  readonly capture: Capture;
  readonly timings: Answer<Timings>;
}

export function RooflinePane({ capture, timings }: RooflinePaneProps): ReactElement {
  const [table, onTable] = useTable("roofline");
  const chips = useAnswer("chips.list", {});
  const { run, selected } = capture;
  const shape = shapeOf(selected.record);
  const { roofs, reason } = chips.state === "there" ? roofsOf(chips.value.chips, run.device) : {};
  // Only a chip's own time says anything about its roofs.
  const isChip = run.execution === "metal" && standingOf(run.execution, run.device) === "chip";
  const timed = isChip && timings.state === "there" ? timings.value : null;
  const samples = timed === null ? [] : pointsOf(timed, selected.route, selected.other, WHOLE);
  const points = (["a", "b"] as const).flatMap((series): readonly RoofPoint[] => {
    const route = series === "a" ? selected.route : selected.other;
    const traffic = route === null ? undefined : trafficFor(shape, route);
    if (route === null || traffic === undefined) return [];
    const work = { flops: flopsOf(shape), bytes: traffic.totalBytes };
    return [roofPoint(series, route, work, roofs, summaryOf(samples, series)?.median ?? null)];
  });
  const note = noteOf(
    capture,
    roofs === undefined
      ? "roofline without roofs"
      : `roofline of ${roofs.chip}, ${roofs.gpuCores} cores: datasheet ${roofs.bandwidthGbS} GB/s, derived ${Math.round(roofs.gflops)} GFLOP/s`,
  );
  const twin: Twin = {
    columns: [{ title: "route", text: true }, { title: "FLOP per byte" }, { title: "GFLOP/s" }, { title: "of roof" }],
    count: points.length,
    row: (index) => {
      const { series, route, intensity, gflops, share } = points[index]!;
      return [
        `${series.toUpperCase()} ${route}`,
        intensity.toPrecision(3),
        gflops === null ? "not measured" : countText(Math.round(gflops)),
        share === null ? "not measured" : `${Math.round(100 * share)} %`,
      ];
    },
  };
  return (
    <ChartPane
      id="roofline"
      line
      title="Roofline"
      meta={roofs === undefined ? "" : `${roofs.chip}, ${roofs.gpuCores} cores, f32`}
      table={table}
      twin={twin}
      onTable={onTable}
      onCsv={() => saveCsv(fileOf(capture, "roofline"), csvText(note, HEAD, points.map(cellsOf)))}
      picture={{
        kind: "SVG",
        save: () => {
          const svg = svgOf("roofline");
          if (svg !== null) saveSvg(fileOf(capture, "roofline"), svg, note);
        },
      }}
    >
      {roofs === undefined ? (
        <p className="nothing t3">
          {chips.state === "asking" ? "" : `No roofs: ${reason ?? "the chip table is not there"}`}
        </p>
      ) : (
        <RooflineChart roofs={roofs} points={points} />
      )}
      {points.some(({ gflops }) => gflops !== null) ? null : (
        <p className="capture-foot t3">No measured time of a chip: run this case on a Metal device</p>
      )}
    </ChartPane>
  );
}
