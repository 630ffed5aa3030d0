/** Error along one axis of the output: the largest and the mean at each place. */
import { type Axis, cellsOf, type Fixed, matrixView } from "./cells.ts";
import type { ErrorArrays, Measure } from "./errors.ts";
import type { OutputExtents } from "./layout.ts";

/** One value for each place of the axis. */
export interface PositionProfile {
  readonly axis: Axis;
  readonly length: number;
  /** Value of largest magnitude, with its sign; NaN where no output of the place is finite. */
  readonly max: Float64Array;
  /** Mean magnitude; NaN likewise. */
  readonly mean: Float64Array;
  /** Flat index of the first flagged element, else of the one that `max` shows. */
  readonly at: Int32Array;
  /** `FLAG` bits of all elements of the place. */
  readonly flags: Uint8Array;
}

/**
 * For decode the axis is `dim` or `head`; its one query token has no positions. For prefill it is `token`, `head` or
 * `dim`. Throws RangeError for a fixed index outside the output.
 */
export function positionProfile(
  errors: ErrorArrays,
  extents: OutputExtents,
  axis: Axis,
  measure: Measure,
  fixed: Fixed = {},
): PositionProfile {
  const cells = cellsOf(matrixView(extents, null, axis, fixed), errors[measure], errors.flags);
  return { axis, length: cells.columns, max: cells.values, mean: cells.means, at: cells.at, flags: cells.flags };
}
