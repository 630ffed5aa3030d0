/** What a dense chart draws, as plain values: series on one axis, limits, and the numbers that uPlot is given. Pure. */
import type { EdgeSet } from "./plot.ts";
import { type LogScale, logScaleOf } from "./scale.ts";

/**
 * `marked`: a line with a dot at each point while they are few. `dots` are filled, `hollow` ones are outlined: what was
 * measured and does not count.
 */
export type SeriesLook = "line" | "marked" | "dots" | "hollow";

export interface DenseSeries {
  readonly label: string;
  /** One value for each point; NaN where there is none. */
  readonly values: ArrayLike<number>;
  /** Token of the colour: `--cat-1`. */
  readonly color: string;
  readonly look: SeriesLook;
  /** The shape of dots; series A is a circle, B a square. */
  readonly shape?: "circle" | "square";
  /** Width of a line in CSS pixels; 1 by default. */
  readonly width?: number;
}

export interface DenseLimit {
  readonly value: number;
  readonly label: string;
  /** Token of the colour; `--fail` by default. */
  readonly color?: string;
}

/** A point that is framed, with its words. */
export interface DenseMark {
  readonly index: number;
  readonly label: string;
}

export interface DenseData {
  /** With unit and scale; stands at the top left. */
  readonly title: string;
  /** Stands in the left gutter, on the tick row. */
  readonly xTitle: string;
  /** Ascending. Left out: the points are places 0, 1, 2 and so on. */
  readonly x?: ArrayLike<number>;
  readonly series: readonly DenseSeries[];
  /** On a log axis magnitudes are drawn; 0 lies on the base line. */
  readonly scale: "log" | "linear";
  /** Edges of the kernel's work; only where the points are places. */
  readonly edges?: readonly EdgeSet[];
  readonly limits?: readonly DenseLimit[];
  /** For each point, bit 1: NaN, bit 2: infinite. Drawn above the scale. */
  readonly flags?: Uint8Array;
  /** How a number of the y axis is written; decades on a log axis by default. */
  readonly yText?: (value: number) => string;
  readonly xText?: (value: number) => string;
}

/** Number of points. */
export function pointCount({ series, x }: DenseData): number {
  return x?.length ?? series.reduce((most, { values }) => Math.max(most, values.length), 0);
}

function* allValues({ series, limits = [] }: DenseData): Iterable<number> {
  for (const { values } of series) for (let i = 0; i < values.length; i++) yield values[i]!;
  for (const { value } of limits) yield value;
}

/** Ends of the y axis: exponents of whole decades on a log axis, values on a linear one. */
export function yRange(data: DenseData): LogScale {
  if (data.scale === "log") return logScaleOf(allValues(data));
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of allValues(data)) {
    if (!Number.isFinite(value)) continue;
    from = Math.min(from, value);
    to = Math.max(to, value);
  }
  if (from > to) return { from: 0, to: 1 };
  const room = (to - from) * 0.06 || Math.abs(to) * 0.06 || 1;
  // Nothing measured is below 0 where no value is.
  return { from: from >= 0 ? Math.max(0, from - room) : from - room, to: to + room };
}

/** Ends of the x axis: half a place around places, a little room around measured x. */
export function xRange(data: DenseData): LogScale {
  const count = pointCount(data);
  if (data.x === undefined) return { from: -0.5, to: Math.max(1, count) - 0.5 };
  if (count === 0) return { from: 0, to: 1 };
  const [from, to] = [data.x[0]!, data.x[count - 1]!];
  const room = (to - from) * 0.02 || 0.5;
  return { from: from - room, to: to + room };
}

/** A value as it is drawn: its logarithm on a log axis, held inside the ends; null where there is none. */
function drawn(value: number | undefined, scale: DenseData["scale"], { from, to }: LogScale): number | null {
  if (value === undefined || Number.isNaN(value)) return null;
  const level = scale === "linear" ? value : value === 0 ? from : Math.log10(Math.abs(value));
  return Math.min(to, Math.max(from, level));
}

/** The columns for uPlot: x, then each series, null where there is no value. Nothing is decimated: uPlot keeps extremes. */
export function columnsOf(data: DenseData): [number[], ...(number | null)[][]] {
  const count = pointCount(data);
  const range = yRange(data);
  const points = Array.from({ length: count }, (_, index) => index);
  return [
    points.map((index) => data.x?.[index] ?? index),
    ...data.series.map(({ values }) => points.map((index) => drawn(values[index], data.scale, range))),
  ];
}

/** Round steps of a linear axis, at most `most` of them. */
export function linearTicks({ from, to }: LogScale, most: number): readonly number[] {
  const wanted = (to - from) / Math.max(1, most);
  if (!(wanted > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= wanted) ?? 10 * power;
  const first = Math.ceil(from / step - 1e-9);
  const ticks: number[] = [];
  for (let tick = first; tick * step <= to + step * 1e-9; tick++) ticks.push(Number((tick * step).toPrecision(12)));
  return ticks;
}
