import { describe, expect, it } from "vitest";
import { FRAGMENT_8X8, FRAGMENT_16X16, FRAGMENT_MAPS, type FragmentMap } from "../../../../kernels/fragments.ts";
import {
  cellsOf,
  cursorOf,
  elementsOf,
  FORMULAS,
  LANES,
  laneBits,
  laneOf,
  ownershipCsv,
  partnersOf,
  placeWords,
  reductionSteps,
  runsOf,
  walk,
} from "../../../../renderer/pages/fragments/ownership.ts";

/** Value of a formula as the page writes it. */
function evaluate(formula: string, lane: number, element: number): unknown {
  return new Function("l", "i", `return ${formula};`)(lane, element);
}

/** First place where a formula and the map differ. */
function difference(map: FragmentMap, formulas: readonly (readonly [string, string])[]): string | undefined {
  for (const lane of LANES) {
    for (const element of elementsOf(map)) {
      const { row, column } = map.positionOf(lane, element);
      const said = formulas.map(([, formula]) => evaluate(formula, lane, element));
      if (said[0] !== row || said[1] !== column) return `lane ${lane}, element ${element}`;
    }
  }
  return undefined;
}

describe("the formulas that the page shows", () => {
  it.each(FRAGMENT_MAPS)("say for $name what the map says", (map) => {
    expect(FORMULAS[map.name].map(([name]) => name)).toEqual(["row", "col"]);
    expect(difference(map, FORMULAS[map.name])).toBeUndefined();
  });

  it("are told apart from wrong ones", () => {
    expect(difference(FRAGMENT_16X16, FORMULAS["8x8"])).toBe("lane 0, element 4");
  });
});

describe("places", () => {
  it.each(FRAGMENT_MAPS)("of $name are each there once, row by row", (map) => {
    const places = cellsOf(map).map(({ row, column }) => row * map.side + column);
    expect(places).toEqual(Array.from({ length: map.side ** 2 }, (_, index) => index));
  });

  it("of a lane are said in words", () => {
    expect(placeWords(FRAGMENT_8X8, 13)).toBe("row 2, columns 6 and 7");
    expect(placeWords(FRAGMENT_16X16, 13)).toBe("rows 2 and 10, columns 12 to 15");
    expect(runsOf(FRAGMENT_16X16, 13)).toEqual([
      { row: 2, first: 12, last: 15, element: 0 },
      { row: 10, first: 12, last: 15, element: 4 },
    ]);
    expect(laneBits(13)).toBe("0b01101");
  });
});

describe("walking", () => {
  it("goes to the lane beside, above and below", () => {
    const start = { map: FRAGMENT_8X8, lane: 13, element: 1 };
    expect(walk(start, "left")).toEqual({ map: FRAGMENT_8X8, lane: 12, element: 1 });
    expect(walk(start, "up")).toEqual({ map: FRAGMENT_8X8, lane: 11, element: 1 });
    expect(walk(start, "down")).toEqual({ map: FRAGMENT_8X8, lane: 15, element: 1 });
    expect(walk({ map: FRAGMENT_16X16, lane: 22, element: 2 }, "down")).toEqual({
      map: FRAGMENT_16X16,
      lane: 0,
      element: 6,
    });
  });

  it("stays at the edges", () => {
    const last = { map: FRAGMENT_8X8, lane: 31, element: 0 };
    expect(walk(last, "right")).toBe(last);
    expect(walk(last, "down")).toBe(last);
    const first = { map: FRAGMENT_16X16, lane: 0, element: 0 };
    expect(walk(first, "left")).toBe(first);
    expect(walk(first, "up")).toBe(first);
  });

  it.each(FRAGMENT_MAPS)("reaches every lane of $name", (map) => {
    const reached = new Set<number>();
    let row = walk({ map, lane: 0, element: 0 }, "up");
    for (let y = 0; y < map.side; y++, row = walk(row, "down")) {
      let at = row;
      for (let x = 0; x < map.side; x++, at = walk(at, "right")) reached.add(at.lane);
    }
    expect(reached.size).toBe(32);
  });
});

describe("the reduction", () => {
  it("pairs the lanes of a row", () => {
    expect(partnersOf(FRAGMENT_8X8, 13)).toEqual([
      { name: "xor 1", lanes: [12], meaning: "next columns" },
      { name: "xor 8", lanes: [5], meaning: "other half" },
      { name: "row group", lanes: [4, 5, 12, 13], meaning: "whole row" },
    ]);
  });

  it.each(FRAGMENT_MAPS)("of $name ends with the whole row in every lane of it", (map) => {
    for (const lane of LANES) {
      const steps = reductionSteps(map, lane);
      expect(steps.map(({ mask }) => mask)).toEqual([null, 1, 8]);
      const end = steps.at(-1)!.held;
      expect(end.map(({ first, last }) => [first, last])).toEqual(Array(4).fill([0, map.side - 1]));
      expect(end.some((entry) => entry.lane === lane)).toBe(true);
    }
  });

  it("does not cover the row with a mask left out", () => {
    const short = reductionSteps({ ...FRAGMENT_8X8, rowReduction: [1] }, 13);
    expect(short.at(-1)!.held).toEqual([
      { lane: 12, first: 4, last: 7 },
      { lane: 13, first: 4, last: 7 },
    ]);
  });
});

describe("what comes from outside", () => {
  it("is a cursor, or the first element where it makes no sense", () => {
    expect(cursorOf({ map: "16x16", lane: "13", element: "7" })).toEqual({
      map: FRAGMENT_16X16,
      lane: 13,
      element: 7,
    });
    const first = { map: FRAGMENT_8X8, lane: 0, element: 0 };
    expect(cursorOf({})).toEqual(first);
    expect(cursorOf({ map: "4x4", lane: "32", element: "2" })).toEqual(first);
    expect(cursorOf({ lane: "-1", element: "1e0" })).toEqual(first);
  });

  it("is a lane or none", () => {
    expect(["0", " 31 ", "32", "", "1.5", "x"].map(laneOf)).toEqual([
      0,
      31,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("the exported file", () => {
  it("holds every element of both maps", () => {
    const lines = ownershipCsv(null).trimEnd().split("\n");
    expect(lines[0]).toBe("map,lane,element,row,column,xor_1,xor_8");
    expect(lines).toHaveLength(1 + 64 + 256);
    expect(lines).toContain("8x8,13,1,2,7,12,5");
    expect(lines).toContain("16x16,13,4,10,12,12,5");
  });

  it("has a last column with errors of the map they belong to", () => {
    const max = Float64Array.from({ length: 64 }, (_, slot) => slot / 64);
    const lines = ownershipCsv({ map: "8x8", elementsPerLane: 2, max }).trimEnd().split("\n");
    expect(lines[0]).toBe("map,lane,element,row,column,xor_1,xor_8,max_abs_error");
    expect(lines).toContain("8x8,13,1,2,7,12,5,0.421875");
    expect(lines).toContain("16x16,13,4,10,12,12,5,");
  });
});
