/** Cells to pixels: the largest cell under a pixel is what is seen; cells without a value stay as they are. */
import { expect, it } from "vitest";
import { parseHex, pixel, ramp, STEPS } from "../../../renderer/charts/colors.ts";
import { paintCells } from "../../../renderer/charts/heat_map_pixels.ts";

const SCALE = Uint32Array.from({ length: STEPS }, (_, step) => step + 1);
const RANGE = { low: 0, high: 1, log: false };

function painted(
  width: number,
  height: number,
  rows: number,
  columns: number,
  values: readonly number[],
  signed = false,
) {
  const pixels = new Uint32Array(width * height);
  paintCells(pixels, width, height, { rows, columns, values: Float32Array.from(values) }, RANGE, SCALE, signed);
  return [...pixels];
}

it("one bad cell of a million is seen in every size of the drawing", () => {
  const values = new Array<number>(1024 * 1024).fill(0.001);
  values[700 * 1024 + 333] = 1;
  for (const [width, height] of [
    [1, 1],
    [33, 17],
    [511, 1023],
    [1024, 1024],
  ] as const) {
    expect(painted(width, height, 1024, 1024, values)).toContain(STEPS);
  }
});

it("large cells fill whole blocks, and a cell without a value leaves the ground", () => {
  expect(painted(4, 2, 1, 2, [0, 1])).toEqual([1, 1, STEPS, STEPS, 1, 1, STEPS, STEPS]);
  expect(painted(2, 1, 1, 2, [Number.NaN, 1])).toEqual([0, STEPS]);
  expect(painted(1, 1, 1, 2, [Number.NaN, 0])).toEqual([1]);
});

it("signs go to the two ends of a diverging scale", () => {
  const [negative, zero, positive] = painted(3, 1, 1, 3, [-1, 0, 1], true);
  expect(negative).toBe(1);
  expect(positive).toBe(STEPS);
  expect(Math.abs(zero! - STEPS / 2)).toBeLessThanOrEqual(1);
});

it("a colour scale runs from its first stop to its last", () => {
  expect(parseHex(" #f6f4ef")).toEqual([0xf6, 0xf4, 0xef]);
  const colors = ramp(["#000000", "#808080", "#ffffff"]);
  expect([colors[0], colors[STEPS - 1]]).toEqual([pixel([0, 0, 0]), 0xffffffff]);
  expect([...colors].every((color, step) => step === 0 || color >= colors[step - 1]!)).toBe(true);
});
