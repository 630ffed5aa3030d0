/** What the page says and draws of a fragment map. Everything is asked of the map itself. Pure. */
import { FRAGMENT_MAPS, type FragmentMap, ownerOf, rowGroup, rowsOf } from "../../../kernels/fragments.ts";

/** A place of a tile and who owns it. */
export interface Cell {
  readonly row: number;
  readonly column: number;
  readonly lane: number;
  readonly element: number;
}

/** 0 to 31. */
export const LANES: readonly number[] = Array.from({ length: 32 }, (_, lane) => lane);

/** Numbers of the elements that a lane owns. */
export function elementsOf(map: FragmentMap): readonly number[] {
  return Array.from({ length: map.elementsPerLane }, (_, element) => element);
}

/** Every place of the tile, row by row. */
export function cellsOf(map: FragmentMap): readonly Cell[] {
  return LANES.flatMap((lane) =>
    elementsOf(map).map((element) => ({ lane, element, ...map.positionOf(lane, element) })),
  ).sort((a, b) => a.row - b.row || a.column - b.column);
}

/** Elements of one lane that stand side by side in a row. */
export interface Run {
  readonly row: number;
  readonly first: number;
  readonly last: number;
  /** Of the element in `first`. */
  readonly element: number;
}

/** What a lane owns, row by row. */
export function runsOf(map: FragmentMap, lane: number): readonly Run[] {
  return rowsOf(map, lane).map((row) => {
    const elements = elementsOf(map).filter((element) => map.positionOf(lane, element).row === row);
    const columns = elements.map((element) => map.positionOf(lane, element).column);
    return { row, first: Math.min(...columns), last: Math.max(...columns), element: elements[0] ?? 0 };
  });
}

/** A lane, one of its elements, and the map in which it is looked at. */
export interface Cursor {
  readonly map: FragmentMap;
  readonly lane: number;
  readonly element: number;
}

export type Direction = "left" | "right" | "up" | "down";

/** The lane beside, above or below; the same cursor at an edge of the tile. */
export function walk(cursor: Cursor, direction: Direction): Cursor {
  const { map, lane, element } = cursor;
  const { row, column } = map.positionOf(lane, element);
  const wide = map.elementsPerLane / map.rowsPerLane;
  const to = {
    left: { row, column: column - wide },
    right: { row, column: column + wide },
    up: { row: row - 1, column },
    down: { row: row + 1, column },
  }[direction];
  const inside = to.row >= 0 && to.row < map.side && to.column >= 0 && to.column < map.side;
  return inside ? { map, ...ownerOf(map, to) } : cursor;
}

/** The cursor of a view's parameters; what is not there or makes no sense is lane 0, element 0 of the 8x8 map. */
export function cursorOf(params: Readonly<Record<string, string>>): Cursor {
  const map = FRAGMENT_MAPS.find((entry) => entry.name === params.map) ?? FRAGMENT_MAPS[0]!;
  const number = (text: string | undefined, end: number): number => {
    const value = text === undefined || !/^\d{1,3}$/.test(text) ? 0 : Number(text);
    return value < end ? value : 0;
  };
  return { map, lane: number(params.lane, map.lanes), element: number(params.element, map.elementsPerLane) };
}

/** A lane from what was typed; undefined where it is none. */
export function laneOf(text: string): number | undefined {
  const word = text.trim();
  return /^\d{1,2}$/.test(word) && Number(word) < 32 ? Number(word) : undefined;
}

/** `0b01101`. */
export function laneBits(lane: number): string {
  return `0b${lane.toString(2).padStart(5, "0")}`;
}

function listWords(numbers: readonly number[]): string {
  return numbers.length < 2 ? numbers.join("") : `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}

/** `columns 6 and 7`, `columns 12 to 15`. */
export function columnWords(first: number, last: number): string {
  return last - first === 1 ? `columns ${first} and ${last}` : `columns ${first} to ${last}`;
}

/** `row 2, columns 6 and 7`; `rows 2 and 10, columns 12 to 15`. */
export function placeWords(map: FragmentMap, lane: number): string {
  const runs = runsOf(map, lane);
  const rows = runs.map(({ row }) => row);
  return `${rows.length === 1 ? "row" : "rows"} ${listWords(rows)}, ${columnWords(runs[0]!.first, runs[0]!.last)}`;
}

/** A way to name other lanes from one: by the xor masks, one after another, or all that share a row. */
export interface Partner {
  readonly name: string;
  readonly lanes: readonly number[];
  readonly meaning: string;
}

/** Partners of a lane in the reduction over a row; both maps use the same masks. */
export function partnersOf(map: FragmentMap, lane: number): readonly Partner[] {
  const group = rowGroup(map, lane);
  const masks = map.rowReduction.map((mask): Partner => {
    const other = lane ^ mask;
    const mine = runsOf(map, lane)[0]!;
    const its = runsOf(map, other)[0]!;
    const near = Math.abs(its.first - mine.first) === mine.last - mine.first + 1;
    return { name: `xor ${mask}`, lanes: [other], meaning: near ? "next columns" : "other half" };
  });
  return [...masks, { name: "row group", lanes: group, meaning: "whole row" }];
}

/** What one lane holds after a step of the reduction. */
export interface Held {
  readonly lane: number;
  readonly first: number;
  readonly last: number;
}

export interface Step {
  /** Null for what each lane does with its own elements. */
  readonly mask: number | null;
  /** By column. */
  readonly held: readonly Held[];
}

/** The reduction over the row of a lane, step by step: which columns each lane of the row has taken in. */
export function reductionSteps(map: FragmentMap, lane: number): readonly Step[] {
  const own = rowGroup(map, lane)
    .map((member): Held => {
      const { first, last } = runsOf(map, member)[0]!;
      return { lane: member, first, last };
    })
    .sort((a, b) => a.first - b.first);
  const steps: Step[] = [{ mask: null, held: own }];
  for (const mask of map.rowReduction) {
    const before = steps.at(-1)!.held;
    const held = before.map((mine): Held => {
      const its = before.find(({ lane: other }) => other === (mine.lane ^ mask)) ?? mine;
      return { lane: mine.lane, first: Math.min(mine.first, its.first), last: Math.max(mine.last, its.last) };
    });
    steps.push({ mask, held });
  }
  return steps;
}

/** The formulas of the maps, with `l` for the lane and `i` for the element; a test holds them against `positionOf`. */
export const FORMULAS: Readonly<Record<FragmentMap["name"], readonly (readonly [name: string, formula: string])[]>> = {
  "8x8": [
    ["row", "((l & 6) >> 1) + ((l & 16) >> 2)"],
    ["col", "((l & 1) << 1) + ((l & 8) >> 1) + i"],
  ],
  "16x16": [
    ["row", "((l & 7) >> 1) + ((l & 16) >> 2) + 8 * (i >> 2)"],
    ["col", "((l & 1) << 2) + (l & 8) + (i & 3)"],
  ],
};

/** The largest error of each element, for the map that an output was held in: index `lane * elementsPerLane + element`. */
export interface ElementErrors {
  readonly map: FragmentMap["name"];
  readonly elementsPerLane: number;
  readonly max: ArrayLike<number>;
}

/** Every element of every map as a file; with errors, a last column that is empty where they are of the other map. */
export function ownershipCsv(errors: ElementErrors | null): string {
  const lines = FRAGMENT_MAPS.flatMap((map) =>
    LANES.flatMap((lane) =>
      elementsOf(map).map((element) => {
        const { row, column } = map.positionOf(lane, element);
        const error = errors?.map === map.name ? errors.max[lane * errors.elementsPerLane + element] : undefined;
        const last = errors === null ? [] : [error ?? ""];
        return [map.name, lane, element, row, column, ...map.rowReduction.map((mask) => lane ^ mask), ...last].join(
          ",",
        );
      }),
    ),
  );
  const masks = FRAGMENT_MAPS[0]!.rowReduction.map((mask) => `xor_${mask}`);
  const last = errors === null ? [] : ["max_abs_error"];
  return `${["map", "lane", "element", "row", "column", ...masks, ...last].join(",")}\n${lines.join("\n")}\n`;
}
