/** Errors by the lane that owns the element in a simdgroup matrix, so that one wrong lane shows at once. */
import { FRAGMENT_8X8, type FragmentMap, ownerOf } from "../../kernels/fragments.ts";
import { QUERY_ROWS } from "../../kernels/mla_prefill/tiles.ts";
import type { CaseShape, PrefillShape, RoutePlan } from "../../kernels/route.ts";
import type { ErrorArrays, Measure } from "./errors.ts";
import { type Address, addressOf, elementsOf, extentsOf, sequenceOf } from "./layout.ts";

/** The lane of an output element. */
export interface ElementOwner {
  readonly map: "8x8" | "16x16";
  /** Simdgroup of the threadgroup. */
  readonly simdgroup: number;
  readonly lane: number;
  readonly element: number;
}

/** The fragment map that a route's output is held in; undefined where it uses no matrices. */
export function outputFragment(plan: RoutePlan | undefined): FragmentMap | undefined {
  return plan?.dispatches.some((dispatch) => dispatch.kernel === "mla_prefill_8x8") ? FRAGMENT_8X8 : undefined;
}

/** Owner of an element; null where the route holds its output in no matrices. */
export function elementOwner(shape: CaseShape, plan: RoutePlan | undefined, address: Address): ElementOwner | null {
  const map = outputFragment(plan);
  if (map === undefined || shape.operator !== "mla_prefill") return null;
  const { row } = sequenceOf(shape.cuSeqlensQ, address.token);
  const { side } = map;
  const owner = ownerOf(map, { row: row % side, column: address.dim % side });
  return { map: map.name, simdgroup: Math.floor((row % QUERY_ROWS) / side), ...owner };
}

/** One value for each lane and element of it: index `lane * elementsPerLane + element`. */
export interface LaneErrors {
  readonly map: "8x8" | "16x16";
  readonly elementsPerLane: number;
  /** Largest magnitude over all tiles; 0 where no output is finite. */
  readonly max: Float64Array;
  readonly mean: Float64Array;
  /** Flat index of the first flagged element, else of the largest; -1 for none. */
  readonly at: Int32Array;
  /** `FLAG` bits. */
  readonly flags: Uint8Array;
}

/** Every element of a prefill output under its owner. */
export function laneErrors(errors: ErrorArrays, shape: PrefillShape, map: FragmentMap, measure: Measure): LaneErrors {
  const { side, elementsPerLane, lanes } = map;
  const slots = lanes * elementsPerLane;
  const slotOf = new Int32Array(side * side);
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const { lane, element } = ownerOf(map, { row, column });
      slotOf[row * side + column] = lane * elementsPerLane + element;
    }
  }
  const extents = extentsOf(shape);
  const rowOfToken = Int32Array.from({ length: extents.tokens }, (_, token) => sequenceOf(shape.cuSeqlensQ, token).row);
  const max = new Float64Array(slots);
  const mean = new Float64Array(slots);
  const at = new Int32Array(slots).fill(-1);
  const counts = new Int32Array(slots);
  const flags = new Uint8Array(slots);
  const values = errors[measure];
  for (let i = 0; i < elementsOf(extents); i++) {
    const { token, dim } = addressOf(extents, i);
    const slot = slotOf[(rowOfToken[token]! % side) * side + (dim % side)]!;
    if (errors.flags[i] !== 0) {
      if (flags[slot] === 0) at[slot] = i;
      flags[slot]! |= errors.flags[i]!;
      continue;
    }
    const magnitude = Math.abs(values[i]!);
    if (counts[slot] === 0 || magnitude > max[slot]!) {
      max[slot] = magnitude;
      if (flags[slot] === 0) at[slot] = i;
    }
    counts[slot]!++;
    mean[slot]! += magnitude;
  }
  for (let slot = 0; slot < slots; slot++) if (counts[slot]! > 0) mean[slot] = mean[slot]! / counts[slot]!;
  return { map: map.name, elementsPerLane, max, mean, at, flags };
}
