/** Timing: every recorded sample of two routes on the case, in time order, over the runs of the device. */
import { type ReactElement, useRef } from "react";
import { ChartPane, useTable } from "../../charts/chart_pane.tsx";
import { DenseChart } from "../../charts/dense_chart.tsx";
import type { DenseData, DenseSeries } from "../../charts/dense_model.ts";
import { csvText, saveCsv, savePng } from "../../charts/save.ts";
import type { Twin } from "../../charts/table_twin.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Segments } from "../../parts/segments.tsx";
import { StandingTag, standingOf } from "../../parts/standing.tsx";
import { plural, runName } from "../../parts/text.ts";
import type { Answer } from "../../state/session.ts";
import { setParams, useView } from "../../state/view.ts";
import {
  clockNote,
  clockText,
  clockWord,
  columnOf,
  inUnit,
  partsOf,
  pointsOf,
  runEdges,
  summaryOf,
  type TimingPoint,
  type Timings,
  tickNumber,
  timeNumber,
  UNITS,
  type Unit,
  WHOLE,
} from "./timing_model.ts";
import { type Capture, fileOf, noteOf } from "./use_capture.ts";

const HEAD = ["run", "started at", "series", "route", "dispatch", "ns", "clock", "counts"] as const;

/** The mark of a series in words, for a legend. */
function SeriesKey({ series, route }: { readonly series: "a" | "b"; readonly route: string }): ReactElement {
  return (
    <span className="serieskey micro t2" title={route}>
      <svg width="9" height="9" aria-hidden="true">
        {series === "a" ? (
          <circle cx="4.5" cy="4.5" r="4" className="dot-a" />
        ) : (
          <rect x=".8" y=".8" width="7.4" height="7.4" className="dot-b" />
        )}
      </svg>
      <span className="el">
        {series.toUpperCase()} {route}
      </span>
    </span>
  );
}

function seriesOf(points: readonly TimingPoint[], unit: Unit): readonly DenseSeries[] {
  const made: DenseSeries[] = [];
  for (const series of ["a", "b"] as const) {
    const own = points.filter((point) => point.series === series);
    const shape = series === "a" ? "circle" : "square";
    const color = `--${series}`;
    const label = series.toUpperCase();
    const summary = summaryOf(points, series);
    if (summary !== undefined && summary.count > 1) {
      const level = inUnit(summary.median, unit);
      made.push({ label: `${label} median`, values: new Float64Array(points.length).fill(level), color, look: "line" });
    }
    if (own.some(({ discarded }) => !discarded)) {
      made.push({ label, values: columnOf(points, series, false, unit), color, look: "dots", shape });
    }
    if (own.some(({ discarded }) => discarded)) {
      const values = columnOf(points, series, true, unit);
      made.push({ label: `${label}, discarded`, values, color, look: "hollow", shape });
    }
  }
  return made;
}

function Figures({ points, series, unit }: { points: readonly TimingPoint[]; series: "a" | "b"; unit: Unit }) {
  const summary = summaryOf(points, series);
  if (summary === undefined) return null;
  const { count, discarded, median, least, most } = summary;
  const text = (ns: number): string => timeNumber(inUnit(ns, unit));
  return (
    <p className="nw">
      <b>
        {series.toUpperCase()} {text(median)} {unit}
      </b>{" "}
      <span className="t3">
        {count === 1 ? "one sample" : `median of ${count}, ${text(least)} to ${text(most)}`}
        {discarded > 0 ? `; ${discarded} hollow: did not pass` : ""}
      </span>
    </p>
  );
}

interface TimingPaneProps {
  readonly capture: Capture;
  readonly timings: Answer<Timings>;
  readonly unit: Unit;
}

export function TimingPane({ capture, timings, unit }: TimingPaneProps): ReactElement {
  const { params } = useView();
  const [table, onTable] = useTable("timing");
  const canvas = useRef<HTMLCanvasElement | null>(null);
  const { route, other } = capture.selected;
  const known = timings.state === "there" ? timings.value : null;
  const parts = known === null ? [] : [WHOLE, ...partsOf(known, [route, other])];
  const part = parts.find((name) => name === params.part) ?? WHOLE;
  const points = known === null ? [] : pointsOf(known, route, other, part);
  const emulated = known?.execution === "emulated";
  const runs = new Set(points.map(({ run }) => run)).size;
  const standing = standingOf(capture.run.execution, capture.run.device);
  const clock = clockNote(points);
  const what = emulated ? "time of the emulation, not of a chip" : `GPU time${clock === "" ? "" : ` by ${clock}`}`;
  const left = known !== null && known.left > 0 ? `, ${plural(known.left, "older run")} not looked at` : "";
  const about =
    known === null
      ? ""
      : `one sample a run, no warm-up; ${plural(runs, "run")} of ${emulated ? known.device : known.deviceName}; clock: ${clock === "" ? "none" : clock}${left}`;
  const data: DenseData = {
    title: `${unit}, ${part}, ${what}`,
    xTitle: "run",
    series: seriesOf(points, unit),
    scale: "linear",
    edges: [runEdges(points)],
    yText: tickNumber,
    xText: (index) => clockText(points, index),
  };
  const twin: Twin = {
    columns: [
      { title: "run", text: true },
      { title: "route", text: true },
      { title: unit },
      { title: "clock", text: true },
      { title: "counts", text: true },
    ],
    count: points.length,
    row: (index) => {
      const point = points[index]!;
      return [
        clockText(points, index),
        `${point.series.toUpperCase()} ${point.route}`,
        timeNumber(inUnit(point.ns, unit)),
        clockWord(point.clock),
        point.discarded ? "no: did not pass" : "yes",
      ];
    },
  };
  const note = noteOf(capture, `${part} in time order, ${what}`);
  return (
    <ChartPane
      id="timing"
      title="Timing"
      meta={
        <>
          <SeriesKey series="a" route={route} />
          {other === null ? null : <SeriesKey series="b" route={other} />}
        </>
      }
      controls={
        <>
          {parts.length > 2 ? (
            <select
              className="inp micro"
              aria-label="Dispatch that is timed"
              value={part}
              onChange={(event) => setParams({ part: event.target.value === WHOLE ? null : event.target.value })}
            >
              {parts.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          ) : null}
          <Segments
            label="Unit of time (U)"
            choices={UNITS}
            chosen={unit}
            onChoose={(name) => setParams({ unit: name === "ms" ? null : name })}
          />
        </>
      }
      table={table}
      twin={twin}
      onTable={onTable}
      onCsv={() =>
        saveCsv(
          fileOf(capture, "timing"),
          csvText(
            note,
            HEAD,
            points.map((point) => [
              point.run,
              point.startedAt,
              point.series.toUpperCase(),
              point.route,
              part,
              point.ns,
              clockWord(point.clock),
              point.discarded ? "no" : "yes",
            ]),
          ),
        )
      }
      picture={{
        kind: "PNG",
        save: () => {
          if (canvas.current !== null) savePng(fileOf(capture, "timing"), canvas.current, note);
        },
      }}
    >
      {timings.state === "failed" ? (
        <div className="inset">
          <FailureNote failure={timings.failure} />
        </div>
      ) : points.length === 0 ? (
        <div className="body">
          <p className="nothing t3">
            {known === null
              ? ""
              : "No recorded time of these routes. A run in which they complete on this device fills this chart"}
          </p>
        </div>
      ) : (
        <DenseChart
          data={data}
          canvas={canvas}
          pointText={(index) => {
            const point = points[index]!;
            return `${runName(point.run)}, ${point.route}`;
          }}
        />
      )}
      <div className="timing-foot small">
        <div className="said">
          <p className="el">
            <StandingTag standing={standing} /> <b className="m">No verdict on speed</b>
          </p>
          <p className="micro t3 el" title={about}>
            {about}
          </p>
        </div>
        <div className="figures">
          <Figures points={points} series="a" unit={unit} />
          <Figures points={points} series="b" unit={unit} />
        </div>
      </div>
    </ChartPane>
  );
}
