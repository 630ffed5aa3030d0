/** A heat map of errors: cells pooled by maximum, what is not finite apart, a range to start with, a histogram of all cells. */
import { type Axis, axisLength, type Cells, cellsOf, type Fixed, matrixView, poolCells } from "./cells.ts";
import { type ErrorArrays, FLAG, type Measure } from "./errors.ts";
import type { OutputExtents } from "./layout.ts";

/** Elements of the view whose output is NaN or infinite. */
export interface NotFinite {
  readonly nan: number;
  readonly infinite: number;
  /** Flat index of the first one; null where there is none. */
  readonly firstNan: number | null;
  readonly firstInfinite: number | null;
}

/** Counts and first places over a whole output. */
export function notFiniteOf(flags: Uint8Array): NotFinite {
  let nan = 0;
  let infinite = 0;
  let firstNan: number | null = null;
  let firstInfinite: number | null = null;
  for (let i = 0; i < flags.length; i++) {
    if (flags[i] === 0) continue;
    if (flags[i]! & FLAG.nan) {
      nan++;
      firstNan ??= i;
    } else {
      infinite++;
      firstInfinite ??= i;
    }
  }
  return { nan, infinite, firstNan, firstInfinite };
}

/** Magnitudes for the black and the white point; both 0 where every cell is 0. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** Share of cells that may lie below the black point after autofit. */
const LOW_SHARE = 0.05;
/** Decades of a range whose cells all have one size. */
const NARROWEST = 10;

/** Finite magnitudes above 0, ascending. */
function magnitudes(values: Float64Array): Float64Array {
  const found = new Float64Array(values.length);
  let count = 0;
  for (const value of values) {
    const magnitude = Math.abs(value);
    if (magnitude > 0 && magnitude < Number.POSITIVE_INFINITY) found[count++] = magnitude;
  }
  return found.subarray(0, count).sort();
}

/**
 * Black and white point: from the cell that a twentieth of the cells lie below to the largest, so that the largest cell is
 * always at the top of the scale. Zeros and what is not finite do not count.
 */
export function autofit(values: Float64Array): Range {
  const sorted = magnitudes(values);
  if (sorted.length === 0) return { low: 0, high: 0 };
  const high = sorted[sorted.length - 1]!;
  const low = sorted[Math.floor(LOW_SHARE * sorted.length)]!;
  return { low: low < high ? low : high / NARROWEST, high };
}

/** Cells by magnitude, in bins of equal width in log10. */
export interface LogHistogram {
  /** log10 of the lower edge of the first bin and of the upper edge of the last: whole decades. */
  readonly from: number;
  readonly to: number;
  readonly counts: readonly number[];
  /** Cells that are exactly 0, cells beyond every bin (an error relative to a zero reference), cells without a value. */
  readonly zeros: number;
  readonly infinite: number;
  readonly empty: number;
}

/** Bins of the histogram. */
const BINS = 64;

export function logHistogram(values: Float64Array): LogHistogram {
  const sorted = magnitudes(values);
  let zeros = 0;
  let infinite = 0;
  let empty = 0;
  for (const value of values) {
    if (value === 0) zeros++;
    else if (Number.isNaN(value)) empty++;
    else if (!Number.isFinite(value)) infinite++;
  }
  if (sorted.length === 0) return { from: 0, to: 1, counts: new Array<number>(BINS).fill(0), zeros, infinite, empty };
  const from = Math.floor(Math.log10(sorted[0]!));
  // Adding 0 turns a -0 of ceil into 0.
  const to = Math.max(from + 1, Math.ceil(Math.log10(sorted[sorted.length - 1]!))) + 0;
  const counts = new Array<number>(BINS).fill(0);
  for (const magnitude of sorted) {
    const bin = Math.floor(((Math.log10(magnitude) - from) / (to - from)) * BINS);
    counts[Math.min(BINS - 1, Math.max(0, bin))]!++;
  }
  return { from, to, counts, zeros, infinite, empty };
}

export interface HeatMap extends Omit<Cells, "means" | "values"> {
  /**
   * Row-major. The value of largest magnitude of the cell, with its sign; NaN where a cell has no element with a finite
   * output. As f32 for the way to a screen: what is not 0 stays so, and beyond its range is infinite.
   */
  readonly values: Float32Array;
  readonly rowAxis: Axis;
  readonly columnAxis: Axis;
  /** Rows and columns before pooling. Bin b of n covers places floor(b * length / n) to floor((b + 1) * length / n). */
  readonly sourceRows: number;
  readonly sourceColumns: number;
  readonly notFinite: NotFinite;
  readonly range: Range;
  readonly histogram: LogHistogram;
}

const SMALLEST_F32 = 2 ** -149;

function toScreen(value: number): number {
  const rounded = Math.fround(value);
  return rounded === 0 && value !== 0 ? Math.sign(value) * SMALLEST_F32 : rounded;
}

export interface HeatMapOptions {
  readonly measure: Measure;
  readonly rowAxis: Axis;
  readonly columnAxis: Axis;
  readonly fixed?: Fixed;
  /** Cells at most. */
  readonly rows: number;
  readonly columns: number;
}

/** Throws RangeError for axes and fixed indices that the output does not have. */
export function heatMap(errors: ErrorArrays, extents: OutputExtents, options: HeatMapOptions): HeatMap {
  const { rowAxis, columnAxis } = options;
  const cells = cellsOf(matrixView(extents, rowAxis, columnAxis, options.fixed), errors[options.measure], errors.flags);
  const pooled = poolCells(cells, options.rows, options.columns);
  return {
    ...pooled,
    values: Float32Array.from(pooled.values, toScreen),
    rowAxis,
    columnAxis,
    sourceRows: axisLength(extents, rowAxis),
    sourceColumns: axisLength(extents, columnAxis),
    notFinite: notFiniteIn(extents, options, errors.flags),
    range: autofit(cells.values),
    histogram: logHistogram(cells.values),
  };
}

/** What is not finite among the elements that the view shows. */
function notFiniteIn(extents: OutputExtents, options: HeatMapOptions, flags: Uint8Array): NotFinite {
  const { token, head, dim } = options.fixed ?? {};
  if (token === undefined && head === undefined && dim === undefined) return notFiniteOf(flags);
  const shown = flags.slice();
  const { heads, width } = extents;
  for (let i = 0; i < shown.length; i++) {
    if (shown[i] === 0) continue;
    const row = Math.floor(i / width);
    const outside =
      (dim !== undefined && i % width !== dim) ||
      (head !== undefined && row % heads !== head) ||
      (token !== undefined && Math.floor(row / heads) !== token);
    if (outside) shown[i] = 0;
  }
  return notFiniteOf(shown);
}
