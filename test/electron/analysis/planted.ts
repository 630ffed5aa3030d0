/** Outputs with planted faults: every summary must show each of them at its place. */

import { elementsOf, extentsOf, indexOf } from "../../../electron/analysis/layout.ts";
import type { PrefillShape } from "../../../kernels/route.ts";

/** Two sequences of 40 and 30 query tokens: blocks of 32 rows and tiles of 8 restart at token 40. */
export const PREFILL: PrefillShape = {
  operator: "mla_prefill",
  heads: 3,
  nope: 32,
  rope: 16,
  value: 32,
  cuSeqlensQ: [0, 40, 70],
  cuSeqlensK: [0, 40, 70],
  qOffset: [0, 0],
  scale: 0.125,
  dtype: "f32",
};

export const EXTENTS = extentsOf(PREFILL);
export const ELEMENTS = elementsOf(EXTENTS);

/** A reference near 1 whose values differ from element to element, exact in f32. */
export function reference(): Float64Array {
  return Float64Array.from({ length: ELEMENTS }, (_, i) => 1 + (i % 128) / 128);
}

export interface Planted {
  readonly reference: Float64Array;
  readonly output: Float64Array;
}

/** The reference with changes at chosen elements. */
export function planted(change: (output: Float64Array) => void): Planted {
  const exact = reference();
  const output = exact.slice();
  change(output);
  return { reference: exact, output };
}

export function at(token: number, head: number, dim: number): number {
  return indexOf(EXTENTS, { token, head, dim });
}
