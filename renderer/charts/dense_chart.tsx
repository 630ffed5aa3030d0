/**
 * Dense series on a canvas by uPlot: lines or dots over up to 131,072 points, a log or a linear axis, the edges of the
 * kernel's work, limits, one selected point. Points are reached by pointer and by the arrow keys; Enter or a click picks.
 * uPlot bakes its colours in, so the plot is made anew when the theme changes.
 */
import { type ReactElement, type RefObject, useLayoutEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { figureText } from "../../electron/words.ts";
import { ChartFrame } from "./chart_frame.tsx";
import { token, useDrawnTheme } from "./colors.ts";
import {
  columnsOf,
  type DenseData,
  type DenseMark,
  type DenseSeries,
  pointCount,
  xRange,
  yRange,
} from "./dense_model.ts";
import { PLOT, paintDots, paintOver, paintUnder } from "./dense_paint.ts";
import { GUTTER } from "./plot.ts";
import { useSize } from "./use_size.ts";

export interface DenseChartProps {
  readonly data: DenseData;
  readonly selected?: DenseMark | null;
  /** Names a point: `dim 392`, `sample 12`. By default its x title and number. */
  readonly pointText?: (index: number) => string;
  readonly onPick?: (index: number) => void;
  /** Takes the canvas, for a picture of it. */
  readonly canvas?: RefObject<HTMLCanvasElement | null>;
}

/** Lowest height at which something can be read. */
const LEAST_HEIGHT = 60;
/** Points up to which each point of a marked line has a dot of its own. */
const FEW = 48;

interface Latest {
  readonly data: DenseData;
  readonly mark: DenseMark | null;
  readonly onAt: (index: number | null) => void;
}

function seriesOptions(series: DenseSeries, place: number): uPlot.Series {
  const { look, color, width = 1 } = series;
  const line = look === "line" || look === "marked";
  return {
    stroke: token(color),
    width,
    ...(line ? {} : { paths: () => null }),
    points: {
      show: (plot) => {
        const levels = plot.data[place + 1] ?? [];
        if (look !== "line" && (look !== "marked" || levels.length <= FEW)) paintDots(plot, series, levels);
        return undefined;
      },
    },
  };
}

function makePlot(holder: HTMLElement, size: { width: number; height: number }, latest: RefObject<Latest>): uPlot {
  const { data } = latest.current;
  const [x, y] = [xRange(data), yRange(data)];
  return new uPlot(
    {
      ...size,
      // Room on each side instead of axes: what is written there is painted by `paintUnder`.
      padding: [PLOT.top, GUTTER.right, PLOT.bottom, GUTTER.left],
      axes: [{ show: false }, { show: false }],
      legend: { show: false },
      pxAlign: false,
      scales: { x: { time: false, range: [x.from, x.to] }, y: { range: [y.from, y.to] } },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false } },
      series: [{}, ...data.series.map(seriesOptions)],
      hooks: {
        drawClear: [(plot) => paintUnder(plot, latest.current.data)],
        draw: [(plot) => paintOver(plot, latest.current.data, latest.current.mark)],
        setCursor: [({ cursor }) => latest.current.onAt((cursor.left ?? -1) < 0 ? null : (cursor.idx ?? null))],
      },
    },
    columnsOf(data),
    holder,
  );
}

/** True where the same would be drawn. Arrays are compared by identity: an answer is never changed in place. */
function sameData(a: DenseData, b: DenseData): boolean {
  const same = <Part extends object>(one: readonly Part[] = [], other: readonly Part[] = []): boolean =>
    one.length === other.length &&
    one.every((part, i) =>
      Object.keys({ ...part, ...other[i] }).every(
        (key) => (part as Record<string, unknown>)[key] === (other[i] as Record<string, unknown>)[key],
      ),
    );
  return (
    a.title === b.title &&
    a.xTitle === b.xTitle &&
    a.x === b.x &&
    a.scale === b.scale &&
    a.flags === b.flags &&
    same(a.series, b.series) &&
    same(a.limits, b.limits) &&
    same(a.edges, b.edges)
  );
}

export function DenseChart(props: DenseChartProps): ReactElement {
  const { data: given, selected = null, onPick, canvas } = props;
  const [holder, { width, height }] = useSize();
  const theme = useDrawnTheme();
  const inside = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const kept = useRef(given);
  if (!sameData(kept.current, given)) kept.current = given;
  const data = kept.current;
  const count = pointCount(data);
  const latest = useRef<Latest>({ data, mark: selected, onAt: setAt });
  latest.current = { data, mark: selected, onAt: setAt };
  const there = width > 0 && height >= LEAST_HEIGHT && count > 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the tokens that are read.
  useLayoutEffect(() => {
    if (!there || inside.current === null) return;
    const made = makePlot(inside.current, { width, height }, latest);
    plot.current = made;
    if (canvas !== undefined) canvas.current = made.ctx.canvas;
    return () => {
      made.destroy();
      plot.current = null;
      if (canvas !== undefined) canvas.current = null;
    };
  }, [there, width, height, data, theme]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn hangs on the mark's values.
  useLayoutEffect(() => plot.current?.redraw(false), [selected?.index, selected?.label]);

  const name = props.pointText ?? ((index: number) => `${data.xTitle} ${index.toLocaleString("en-US")}`);
  const words = (index: number): string => {
    const values = data.series
      .filter(({ values }) => index < values.length && !Number.isNaN(values[index]))
      .map(({ label, values }) => `${label} ${data.yText?.(values[index]!) ?? figureText(values[index]!)}`);
    const flag = data.flags?.[index] ?? 0;
    const marks = [flag & 1 ? "NaN" : "", flag & 2 ? "Inf" : ""].filter(Boolean);
    return `${name(index)}: ${[...values, ...marks].join(", ")}`;
  };
  const goTo = (index: number | null): void => {
    const x = index === null ? undefined : plot.current?.data[0][index];
    if (x === undefined) plot.current?.setCursor({ left: -10, top: -10 }, false);
    else plot.current?.setCursor({ left: plot.current.valToPos(x, "x"), top: 0 }, false);
    setAt(index);
  };
  return (
    <ChartFrame
      holder={holder}
      label={`${data.title}, ${count.toLocaleString("en-US")} points`}
      count={count}
      at={at}
      words={words}
      onAt={goTo}
      onPick={onPick}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Enter on the frame picks by key. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: likewise. */}
      <div
        ref={inside}
        className={onPick ? "pickable" : ""}
        onClick={({ target }) => {
          const index = plot.current?.cursor.idx;
          if (target === plot.current?.over && typeof index === "number") onPick?.(index);
        }}
      />
    </ChartFrame>
  );
}
