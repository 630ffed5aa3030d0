/**
 * A view of an output as a matrix of cells. Each cell stands for some elements, and shows the largest of them, never the
 * mean: a single bad element must not vanish. The same holds when cells are pooled to the size of a screen.
 */
import type { OutputExtents } from "./layout.ts";

/** Steps of the flat index along rows, columns and the elements of a cell. */
export interface MatrixView {
  readonly rows: number;
  readonly columns: number;
  /** Elements of a cell: `outer` x `inner` of them. */
  readonly outer: number;
  readonly inner: number;
  readonly offset: number;
  readonly rowStride: number;
  readonly columnStride: number;
  readonly outerStride: number;
  readonly innerStride: number;
}

export type Axis = "token" | "head" | "dim";

const AXES: readonly Axis[] = ["token", "head", "dim"];

/** What is held fixed; an axis that is neither shown nor fixed is pooled over. */
export type Fixed = Readonly<Partial<Record<Axis, number>>>;

function lengthOf({ tokens, heads, width }: OutputExtents, axis: Axis): number {
  return axis === "token" ? tokens : axis === "head" ? heads : width;
}

function strideOf({ heads, width }: OutputExtents, axis: Axis): number {
  return axis === "token" ? heads * width : axis === "head" ? width : 1;
}

/** Length of an axis of an output. */
export const axisLength = lengthOf;

/**
 * The matrix whose rows run along `rowAxis` (one row where it is null) and whose columns run along `columnAxis`. Throws
 * RangeError where both are the same, or something shown is fixed, or a fixed index is outside.
 */
export function matrixView(
  extents: OutputExtents,
  rowAxis: Axis | null,
  columnAxis: Axis,
  fixed: Fixed = {},
): MatrixView {
  if (rowAxis === columnAxis) throw new RangeError(`rows and columns are both "${columnAxis}": show two axes`);
  let offset = 0;
  const free: Axis[] = [];
  for (const axis of AXES) {
    const at = fixed[axis];
    const shown = axis === rowAxis || axis === columnAxis;
    if (at === undefined) {
      if (!shown) free.push(axis);
      continue;
    }
    if (shown) throw new RangeError(`"${axis}" is shown and fixed at ${at}: do one of them`);
    const length = lengthOf(extents, axis);
    if (!Number.isInteger(at) || at < 0 || at >= length) {
      throw new RangeError(`${axis} is ${at}; it must be 0 to ${length - 1}`);
    }
    offset += at * strideOf(extents, axis);
  }
  const [outer, inner] = free;
  const size = (axis: Axis | undefined): number => (axis === undefined ? 1 : lengthOf(extents, axis));
  const stride = (axis: Axis | null | undefined): number => (axis ? strideOf(extents, axis) : 0);
  return {
    rows: rowAxis === null ? 1 : lengthOf(extents, rowAxis),
    columns: lengthOf(extents, columnAxis),
    outer: size(outer),
    inner: size(inner),
    offset,
    rowStride: stride(rowAxis),
    columnStride: stride(columnAxis),
    outerStride: stride(outer),
    innerStride: stride(inner),
  };
}

/** Cells in row-major order. */
export interface Cells {
  readonly rows: number;
  readonly columns: number;
  /** Value of largest magnitude among the elements with a finite output, with its sign; NaN where a cell has none. */
  readonly values: Float64Array;
  /** Mean magnitude of the same elements; NaN where a cell has none. */
  readonly means: Float64Array;
  /** Flat index of the first flagged element, else of the one that `values` shows; -1 for no element. */
  readonly at: Int32Array;
  /** `FLAG` bits of all elements of the cell. */
  readonly flags: Uint8Array;
}

/** Every cell of a view, at full resolution. */
export function cellsOf(view: MatrixView, measure: Float64Array, flags: Uint8Array): Cells {
  const { rows, columns, outer, inner } = view;
  const count = rows * columns;
  const values = new Float64Array(count).fill(Number.NaN);
  const means = new Float64Array(count).fill(Number.NaN);
  const at = new Int32Array(count).fill(-1);
  const seen = new Uint8Array(count);
  for (let row = 0, cell = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, cell++) {
      const first = view.offset + row * view.rowStride + column * view.columnStride;
      let best = Number.NaN;
      let bestAt = -1;
      let flaggedAt = -1;
      let sum = 0;
      let taken = 0;
      let bits = 0;
      for (let i = 0; i < outer; i++) {
        for (let j = 0; j < inner; j++) {
          const index = first + i * view.outerStride + j * view.innerStride;
          if (flags[index] !== 0) {
            bits |= flags[index]!;
            if (flaggedAt < 0) flaggedAt = index;
            continue;
          }
          const value = measure[index]!;
          const magnitude = Math.abs(value);
          sum += magnitude;
          taken++;
          if (bestAt < 0 || magnitude > Math.abs(best)) {
            best = value;
            bestAt = index;
          }
        }
      }
      values[cell] = best;
      if (taken > 0) means[cell] = sum / taken;
      at[cell] = flaggedAt >= 0 ? flaggedAt : bestAt;
      seen[cell] = bits;
    }
  }
  return { rows, columns, values, means, at, flags: seen };
}

/** Bins of `length` places in at most `bins`: place p is in bin b where `binStart(b) <= p < binStart(b + 1)`. */
export function binStart(bin: number, bins: number, length: number): number {
  return Math.floor((bin * length) / bins);
}

/** Pools cells by magnitude to at most `rows` x `columns`. Fewer cells than that are left as they are. */
export function poolCells(cells: Cells, rows: number, columns: number): Omit<Cells, "means"> {
  const height = Math.min(rows, cells.rows);
  const width = Math.min(columns, cells.columns);
  const values = new Float64Array(height * width).fill(Number.NaN);
  const at = new Int32Array(height * width).fill(-1);
  const flags = new Uint8Array(height * width);
  for (let y = 0, pooled = 0; y < height; y++) {
    const rowEnd = binStart(y + 1, height, cells.rows);
    for (let x = 0; x < width; x++, pooled++) {
      const columnEnd = binStart(x + 1, width, cells.columns);
      for (let row = binStart(y, height, cells.rows); row < rowEnd; row++) {
        for (let column = binStart(x, width, cells.columns); column < columnEnd; column++) {
          const cell = row * cells.columns + column;
          const flag = cells.flags[cell]!;
          const first = flag !== 0 && flags[pooled] === 0;
          flags[pooled]! |= flag;
          const value = cells.values[cell]!;
          const better = Number.isNaN(values[pooled]!)
            ? !Number.isNaN(value) || at[pooled] === -1
            : Math.abs(value) > Math.abs(values[pooled]!);
          if (better) values[pooled] = value;
          // What is not finite is what the cell leads to.
          if (first || (better && flags[pooled] === 0)) at[pooled] = cells.at[cell]!;
        }
      }
    }
  }
  return { rows: height, columns: width, values, at, flags };
}
