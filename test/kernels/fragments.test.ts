import { describe, expect, test } from "vitest";
import { FRAGMENT_8X8, FRAGMENT_16X16, FRAGMENT_MAPS, ownerOf, rowGroup, rowsOf } from "../../kernels/fragments.ts";

describe.each(FRAGMENT_MAPS)("$name", (map) => {
  const elements = Array.from({ length: map.lanes * map.elementsPerLane }, (_, index) => ({
    lane: Math.floor(index / map.elementsPerLane),
    element: index % map.elementsPerLane,
  }));

  test("is a bijection onto the tile", () => {
    const cells = elements.map(({ lane, element }) => {
      const { row, column } = map.positionOf(lane, element);
      return row * map.side + column;
    });
    expect(cells.toSorted((a, b) => a - b)).toEqual(Array.from({ length: map.side ** 2 }, (_, index) => index));
  });

  test("ownerOf is the inverse", () => {
    for (const owner of elements) expect(ownerOf(map, map.positionOf(owner.lane, owner.element))).toEqual(owner);
  });

  test("xor 1, then 8 reaches exactly the lanes that share the rows", () => {
    for (let lane = 0; lane < 32; lane++) {
      const rows = rowsOf(map, lane);
      expect(rows.length).toBe(map.rowsPerLane);
      const sharing = Array.from({ length: 32 }, (_, other) => other).filter((other) =>
        rowsOf(map, other).some((row) => rows.includes(row)),
      );
      expect(rowGroup(map, lane)).toEqual(sharing);
      expect(sharing.length * (map.elementsPerLane / map.rowsPerLane)).toBe(map.side);
    }
  });

  test("refuses what is outside", () => {
    expect(() => map.positionOf(32, 0)).toThrow("lane is 32; it must be 0 to 31");
    expect(() => map.positionOf(0, map.elementsPerLane)).toThrow(RangeError);
    expect(() => ownerOf(map, { row: map.side, column: 0 })).toThrow(RangeError);
  });
});

test("the 8x8 map as a picture", () => {
  const lanes = Array.from({ length: 8 }, (_, row) =>
    Array.from({ length: 8 }, (_, column) => ownerOf(FRAGMENT_8X8, { row, column }).lane).join(" "),
  );
  expect(lanes).toEqual([
    "0 0 1 1 8 8 9 9",
    "2 2 3 3 10 10 11 11",
    "4 4 5 5 12 12 13 13",
    "6 6 7 7 14 14 15 15",
    "16 16 17 17 24 24 25 25",
    "18 18 19 19 26 26 27 27",
    "20 20 21 21 28 28 29 29",
    "22 22 23 23 30 30 31 31",
  ]);
});

test("16x16: rows rb and rb + 8, four columns each", () => {
  const owned = Array.from({ length: 8 }, (_, element) => FRAGMENT_16X16.positionOf(19, element));
  expect(owned.map(({ row }) => row)).toEqual([5, 5, 5, 5, 13, 13, 13, 13]);
  expect(owned.map(({ column }) => column)).toEqual([4, 5, 6, 7, 4, 5, 6, 7]);
});
