/**
 * The pixels of a heat map: cells to colours, pooled once more by largest magnitude where a pixel covers several cells, so
 * that no cell disappears. Pure.
 */
import { STEPS } from "./colors.ts";
import { type Range, rangePlace } from "./scale.ts";

export interface HeatCells {
  readonly rows: number;
  readonly columns: number;
  /** Row-major; NaN where a cell has no element with a finite output. */
  readonly values: Float32Array;
}

/** Level of a cell without a value. */
const EMPTY = -32768;

/** Levels of the cells: the magnitude's step on the scale, with the value's sign. */
function levelsOf(values: Float32Array, range: Range): Int16Array {
  const levels = new Int16Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) {
      levels[i] = EMPTY;
      continue;
    }
    const level = 1 + Math.round(rangePlace(range, value) * (STEPS - 1));
    levels[i] = value < 0 ? -level : level;
  }
  return levels;
}

/** For each pixel of an axis the first and the last cell that it shows. */
function spans(pixels: number, cells: number): { readonly first: Int32Array; readonly last: Int32Array } {
  const first = new Int32Array(pixels);
  const last = new Int32Array(pixels);
  for (let pixel = 0; pixel < pixels; pixel++) {
    first[pixel] = Math.min(cells - 1, Math.floor((pixel * cells) / pixels));
    last[pixel] = Math.max(first[pixel]!, Math.min(cells - 1, Math.ceil(((pixel + 1) * cells) / pixels) - 1));
    // Where cells are larger than pixels, a pixel belongs to one of them.
    if (pixels >= cells) last[pixel] = first[pixel]!;
  }
  return { first, last };
}

/**
 * Fills `pixels`, width x height words. `scale` has `STEPS` colours; where `signed`, its middle is 0 and both ends are the
 * white point. Cells without a value stay as they are.
 */
export function paintCells(
  pixels: Uint32Array,
  width: number,
  height: number,
  cells: HeatCells,
  range: Range,
  scale: Uint32Array,
  signed: boolean,
): void {
  const levels = levelsOf(cells.values, range);
  const across = spans(width, cells.columns);
  const down = spans(height, cells.rows);
  const colorOf = (level: number): number => {
    const step = Math.abs(level) - 1;
    if (!signed) return scale[step]!;
    const half = (STEPS - 1) / 2;
    return scale[Math.round(half + (Math.sign(level) * step) / 2)]!;
  };
  for (let y = 0; y < height; y++) {
    const top = down.first[y]!;
    const bottom = down.last[y]!;
    if (y > 0 && top === down.first[y - 1] && bottom === down.last[y - 1]) {
      pixels.copyWithin(y * width, (y - 1) * width, y * width);
      continue;
    }
    for (let x = 0; x < width; x++) {
      let level = 0;
      for (let row = top; row <= bottom; row++) {
        const base = row * cells.columns;
        for (let column = across.first[x]!; column <= across.last[x]!; column++) {
          const candidate = levels[base + column]!;
          if (candidate !== EMPTY && Math.abs(candidate) > Math.abs(level)) level = candidate;
        }
      }
      if (level !== 0) pixels[y * width + x] = colorOf(level);
    }
  }
}
