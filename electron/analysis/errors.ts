/**
 * The error of every element, in four measures. Elements whose output is NaN or infinite are flagged and never take part
 * in a measure: charts draw them apart, so that they neither vanish nor push everything else off the scale.
 */

import { ulpDistance } from "../../oracle/metrics.ts";
import { FLOAT_FORMATS, type FloatDtype, roundTo } from "../../oracle/tensor.ts";
import type { Measure } from "./messages.ts";

export type { Measure };

/** Flags of an element or of a cell; a cell holds those of all its elements. */
export const FLAG = { nan: 1, infinite: 2 } as const;

/** Every array has one value for each element of the output. */
export interface ErrorArrays {
  /** `FLAG` bits of the output itself. */
  readonly flags: Uint8Array;
  readonly abs: Float64Array;
  /** 0 where output and reference are equal; Infinity where the reference is 0 and the output is not. */
  readonly relative: Float64Array;
  readonly ulp: Float64Array;
  readonly signed: Float64Array;
}

/** Throws RangeError where the sides differ in size. `output` is exact in `dtype`. */
export function errorArrays(output: ArrayLike<number>, reference: ArrayLike<number>, dtype: FloatDtype): ErrorArrays {
  const count = output.length;
  if (reference.length !== count) {
    throw new RangeError(
      `the output has ${count} elements and the reference ${reference.length}: compare equal shapes`,
    );
  }
  const flags = new Uint8Array(count);
  const abs = new Float64Array(count);
  const relative = new Float64Array(count);
  const ulp = new Float64Array(count);
  const signed = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const o = output[i]!;
    const r = reference[i]!;
    const error = o - r;
    if (Number.isNaN(o)) flags[i] = FLAG.nan;
    else if (!Number.isFinite(o)) flags[i] = FLAG.infinite;
    signed[i] = error;
    abs[i] = Math.abs(error);
    relative[i] = error === 0 ? 0 : Math.abs(error) / Math.abs(r);
    ulp[i] = ulpDistance(o, r, dtype);
  }
  return { flags, abs, relative, ulp, signed };
}

/** Size of one unit in the last place of `dtype` at the reference: the gap above |r| rounded to it. */
export function ulpSize(reference: number, dtype: FloatDtype): number {
  const { mantissaBits, minExponent } = FLOAT_FORMATS[dtype];
  const magnitude = Math.abs(roundTo(reference, dtype));
  if (!Number.isFinite(magnitude)) return Number.NaN;
  // log2 may land on the wrong side of a power of two; the comparison puts that right.
  let exponent = magnitude === 0 ? minExponent : Math.floor(Math.log2(magnitude));
  if (2 ** (exponent + 1) <= magnitude) exponent += 1;
  if (2 ** exponent > magnitude) exponent -= 1;
  return 2 ** (Math.max(exponent, minExponent) - mantissaBits);
}
