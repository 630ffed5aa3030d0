/**
 * Which lane of a simdgroup owns which element of a matrix tile, as data.
 *
 * 8x8: two neighbouring columns of one row a lane. 16x16: four neighbouring columns of the rows `rb` and `rb + 8`. The
 * MSL specification (section 2.4) leaves the 8x8 mapping open; public kernels for M1 to M5 agree on these two, and in
 * both the lanes that share a row differ in bits 0 and 3, so that row reductions are an xor of 1, then of 8.
 */

export interface Position {
  readonly row: number;
  readonly column: number;
}

export interface FragmentMap {
  readonly name: "8x8" | "16x16";
  /** Rows and columns of the tile. */
  readonly side: number;
  readonly lanes: 32;
  readonly elementsPerLane: number;
  readonly rowsPerLane: number;
  /** Xor masks that reduce over a row, in order. */
  readonly rowReduction: readonly number[];
  /** Where element `element` of lane `lane` lies. Throws RangeError outside the map. */
  readonly positionOf: (lane: number, element: number) => Position;
}

function inRange(map: string, what: string, value: number, end: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= end) {
    throw new RangeError(`${map}: ${what} is ${value}; it must be 0 to ${end - 1}`);
  }
}

export const FRAGMENT_8X8: FragmentMap = {
  name: "8x8",
  side: 8,
  lanes: 32,
  elementsPerLane: 2,
  rowsPerLane: 1,
  rowReduction: [1, 8],
  positionOf: (lane, element) => {
    inRange("8x8", "lane", lane, 32);
    inRange("8x8", "element", element, 2);
    return {
      row: ((lane & 6) >> 1) + ((lane & 16) >> 2),
      column: ((lane & 1) << 1) + ((lane & 8) >> 1) + element,
    };
  },
};

export const FRAGMENT_16X16: FragmentMap = {
  name: "16x16",
  side: 16,
  lanes: 32,
  elementsPerLane: 8,
  rowsPerLane: 2,
  rowReduction: [1, 8],
  positionOf: (lane, element) => {
    inRange("16x16", "lane", lane, 32);
    inRange("16x16", "element", element, 8);
    return {
      row: ((lane & 7) >> 1) + ((lane & 16) >> 2) + 8 * (element >> 2),
      column: ((lane & 1) << 2) + (lane & 8) + (element & 3),
    };
  },
};

export const FRAGMENT_MAPS: readonly FragmentMap[] = [FRAGMENT_8X8, FRAGMENT_16X16];

/** Lane and element that own a position: the inverse of `positionOf`. Throws RangeError outside the tile. */
export function ownerOf(
  map: FragmentMap,
  { row, column }: Position,
): { readonly lane: number; readonly element: number } {
  inRange(map.name, "row", row, map.side);
  inRange(map.name, "column", column, map.side);
  for (let lane = 0; lane < map.lanes; lane++) {
    for (let element = 0; element < map.elementsPerLane; element++) {
      const position = map.positionOf(lane, element);
      if (position.row === row && position.column === column) return { lane, element };
    }
  }
  throw new RangeError(`${map.name}: nobody owns row ${row}, column ${column}`);
}

/** Rows that a lane owns elements of, ascending. */
export function rowsOf(map: FragmentMap, lane: number): readonly number[] {
  const rows = Array.from({ length: map.elementsPerLane }, (_, element) => map.positionOf(lane, element).row);
  return [...new Set(rows)].sort((a, b) => a - b);
}

/** Lanes that own elements of the same rows as `lane`: what the xor masks of `rowReduction` reach. */
export function rowGroup(map: FragmentMap, lane: number): readonly number[] {
  let lanes = [lane];
  for (const mask of map.rowReduction) lanes = lanes.concat(lanes.map((other) => other ^ mask));
  return lanes.toSorted((a, b) => a - b);
}
