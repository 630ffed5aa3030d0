/** Figures of groups of elements: heads, sequences of a prefill batch, and the distribution of ULP distances. */
import { ULP_BUCKETS, ulpHistogram } from "../../oracle/metrics.ts";
import type { FloatDtype } from "../../oracle/tensor.ts";
import type { ErrorArrays } from "./errors.ts";
import { FLAG } from "./errors.ts";
import type { OutputExtents } from "./layout.ts";

export interface GroupSummary {
  readonly label: string;
  readonly elements: number;
  /** Over the elements with a finite output; 0 where there is none. */
  readonly maxAbs: number;
  readonly meanAbs: number;
  readonly maxUlp: number;
  /** Flat index of the largest absolute error; the first flagged element where no output is finite; null for no element. */
  readonly at: number | null;
  /** sum (o - r)^2 / sum r^2 over the elements with a finite output; null where the reference is all zero. */
  readonly nmse: number | null;
  readonly nan: number;
  readonly infinite: number;
  /** Elements at a ULP distance of 0. The zeros of both signs count as equal. */
  readonly identical: number;
}

/** Sums over a group whose elements come one by one. */
class Group {
  readonly #errors: ErrorArrays;
  readonly #reference: ArrayLike<number>;
  readonly #label: string;
  #elements = 0;
  #finite = 0;
  #maxAbs = 0;
  #sumAbs = 0;
  #maxUlp = 0;
  #at = -1;
  #flaggedAt = -1;
  #errorSquares = 0;
  #referenceSquares = 0;
  #nan = 0;
  #infinite = 0;
  #identical = 0;

  constructor(label: string, errors: ErrorArrays, reference: ArrayLike<number>) {
    this.#label = label;
    this.#errors = errors;
    this.#reference = reference;
  }

  add(index: number): void {
    this.#elements++;
    const flag = this.#errors.flags[index]!;
    if (flag !== 0) {
      if (flag & FLAG.nan) this.#nan++;
      else this.#infinite++;
      if (this.#flaggedAt < 0) this.#flaggedAt = index;
      return;
    }
    this.#finite++;
    const error = this.#errors.abs[index]!;
    const ulp = this.#errors.ulp[index]!;
    if (this.#at < 0 || error > this.#maxAbs) {
      this.#maxAbs = error;
      this.#at = index;
    }
    this.#sumAbs += error;
    this.#errorSquares += error * error;
    this.#referenceSquares += this.#reference[index]! ** 2;
    if (ulp > this.#maxUlp) this.#maxUlp = ulp;
    if (ulp === 0) this.#identical++;
  }

  summary(): GroupSummary {
    const at = this.#at >= 0 ? this.#at : this.#flaggedAt;
    return {
      label: this.#label,
      elements: this.#elements,
      maxAbs: this.#maxAbs,
      meanAbs: this.#finite === 0 ? 0 : this.#sumAbs / this.#finite,
      maxUlp: this.#maxUlp,
      at: at < 0 ? null : at,
      nmse: this.#referenceSquares === 0 ? null : this.#errorSquares / this.#referenceSquares,
      nan: this.#nan,
      infinite: this.#infinite,
      identical: this.#identical,
    };
  }
}

/** The whole output as one group. */
export function wholeSummary(errors: ErrorArrays, reference: ArrayLike<number>): GroupSummary {
  const group = new Group("case", errors, reference);
  for (let i = 0; i < errors.flags.length; i++) group.add(i);
  return group.summary();
}

/** One group for each query head. */
export function headSummaries(
  errors: ErrorArrays,
  reference: ArrayLike<number>,
  { heads, width }: OutputExtents,
): readonly GroupSummary[] {
  const groups = Array.from({ length: heads }, (_, head) => new Group(`head ${head}`, errors, reference));
  for (let i = 0; i < errors.flags.length; i++) groups[Math.floor(i / width) % heads]!.add(i);
  return groups.map((group) => group.summary());
}

/** A group for each sequence of a ragged batch: how the error goes with the length. */
export interface SequenceSummary extends GroupSummary {
  readonly queries: number;
  readonly keys: number;
}

export function sequenceSummaries(
  errors: ErrorArrays,
  reference: ArrayLike<number>,
  extents: OutputExtents,
  bounds: { readonly cuSeqlensQ: readonly number[]; readonly cuSeqlensK: readonly number[] },
): readonly SequenceSummary[] {
  const rowElements = extents.heads * extents.width;
  const { cuSeqlensQ, cuSeqlensK } = bounds;
  return cuSeqlensQ.slice(0, -1).map((begin, b) => {
    const end = cuSeqlensQ[b + 1]!;
    const group = new Group(`sequence ${b}`, errors, reference);
    for (let i = begin * rowElements; i < end * rowElements; i++) group.add(i);
    return { ...group.summary(), queries: end - begin, keys: cuSeqlensK[b + 1]! - cuSeqlensK[b]! };
  });
}

/** ULP distances with their sign, in the buckets of `ULP_BUCKETS`: bucket i counts distances up to `limits[i]`. */
export interface UlpSummary {
  readonly limits: readonly number[];
  /** Output above the reference. Bucket 0 (distance 0) is 0 here and in `below`: it is `identical`. */
  readonly above: readonly number[];
  readonly below: readonly number[];
  readonly identical: number;
  /** Elements whose output is NaN; they have no side. */
  readonly nan: number;
  readonly p50: number;
  readonly p999: number;
  /** Infinity where an output is NaN. */
  readonly max: number;
}

/** `output` is exact in `dtype`. Distances are those of `errors.ulp`; percentiles are nearest-rank over all elements. */
export function ulpSummary(
  output: ArrayLike<number>,
  reference: ArrayLike<number>,
  errors: ErrorArrays,
  dtype: FloatDtype,
): UlpSummary {
  const { p50, p999, max } = ulpHistogram(output, reference, dtype);
  const above = ULP_BUCKETS.map(() => 0);
  const below = ULP_BUCKETS.map(() => 0);
  let identical = 0;
  let nan = 0;
  for (let i = 0; i < errors.flags.length; i++) {
    const distance = errors.ulp[i]!;
    if (errors.flags[i]! & FLAG.nan) nan++;
    else if (distance === 0) identical++;
    else (errors.signed[i]! > 0 ? above : below)[ULP_BUCKETS.findIndex((limit) => distance <= limit)]!++;
  }
  return { limits: ULP_BUCKETS, above, below, identical, nan, p50, p999, max };
}
