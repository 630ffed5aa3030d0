/**
 * How far an output is from the reference. Every figure is normalised by the reference and summed in float64; a figure
 * that the reference does not define (all zero, or constant for the correlation) is undefined, never 0. NaN and
 * infinities in the output are never skipped: they make the figures NaN or infinite and are counted.
 */
import { type FloatDtype, roundTo } from "./tensor.ts";

/** The largest deviation and where it is. `index` is undefined for an empty output. */
export interface Worst {
  readonly value: number;
  readonly index: number | undefined;
}

/** Error of a contiguous group of elements: the case, a row, a head. */
export interface GroupError {
  readonly count: number;
  readonly nonFinite: number;
  readonly maxAbs: Worst;
  /** Sum of (o - r)^2. */
  readonly errorSquares: number;
  /** Sum of r^2. */
  readonly referenceSquares: number;
  /** errorSquares / referenceSquares; undefined where the reference is all zero. */
  readonly nmse: number | undefined;
  /** True if every reference element is exactly 0. */
  readonly zeroReference: boolean;
  /** True if every output element is exactly 0 (of either sign). */
  readonly zeroOutput: boolean;
}

/** Error of a whole output. */
export interface CaseError extends GroupError {
  /** Pearson correlation; undefined where either side is constant. */
  readonly correlation: number | undefined;
  /** Least-squares slope <o, r> / <r, r>; undefined where the reference is all zero. */
  readonly slope: number | undefined;
  /** Largest |r|. */
  readonly maxAbsReference: number;
}

function checkLengths(output: ArrayLike<number>, reference: ArrayLike<number>): void {
  if (output.length !== reference.length) {
    throw new RangeError(
      `the output has ${output.length} elements and the reference ${reference.length}: compare equal shapes`,
    );
  }
}

/** Error over the elements whose indices `at(0..count)` yields. */
function errorOver(
  output: ArrayLike<number>,
  reference: ArrayLike<number>,
  count: number,
  at: (i: number) => number,
): GroupError {
  let errorSquares = 0;
  let referenceSquares = 0;
  let nonFinite = 0;
  let worst = 0;
  let worstIndex: number | undefined;
  let zeroReference = true;
  let zeroOutput = true;
  for (let i = 0; i < count; i++) {
    const index = at(i);
    const o = output[index]!;
    const r = reference[index]!;
    const error = Math.abs(o - r);
    errorSquares += error * error;
    referenceSquares += r * r;
    if (!Number.isFinite(o)) nonFinite++;
    if (r !== 0) zeroReference = false;
    if (o !== 0) zeroOutput = false;
    // The first NaN stays the worst; nothing compares greater than it.
    if (worstIndex === undefined || error > worst || (Number.isNaN(error) && !Number.isNaN(worst))) {
      worst = error;
      worstIndex = index;
    }
  }
  return {
    count,
    nonFinite,
    maxAbs: { value: worst, index: worstIndex },
    errorSquares,
    referenceSquares,
    nmse: zeroReference ? undefined : errorSquares / referenceSquares,
    zeroReference,
    zeroOutput,
  };
}

/** Error of the whole output. Throws RangeError where the lengths differ. */
export function caseError(output: ArrayLike<number>, reference: ArrayLike<number>): CaseError {
  checkLengths(output, reference);
  const n = output.length;
  const group = errorOver(output, reference, n, (i) => i);
  let sumO = 0;
  let sumR = 0;
  let maxAbsReference = 0;
  for (let i = 0; i < n; i++) {
    sumO += output[i]!;
    sumR += reference[i]!;
    maxAbsReference = Math.max(maxAbsReference, Math.abs(reference[i]!));
  }
  const meanO = sumO / n;
  const meanR = sumR / n;
  let dot = 0;
  let covariance = 0;
  let varianceO = 0;
  let varianceR = 0;
  for (let i = 0; i < n; i++) {
    const o = output[i]!;
    const r = reference[i]!;
    dot += o * r;
    covariance += (o - meanO) * (r - meanR);
    varianceO += (o - meanO) ** 2;
    varianceR += (r - meanR) ** 2;
  }
  // The two roots apart, so that values near 1e-40 or 1e80 neither vanish nor overflow in the product.
  const spread = Math.sqrt(varianceO) * Math.sqrt(varianceR);
  return {
    ...group,
    correlation: spread === 0 ? undefined : covariance / spread,
    slope: group.zeroReference ? undefined : dot / group.referenceSquares,
    maxAbsReference,
  };
}

/** Error of each row of `width` contiguous elements. */
export function rowErrors(
  output: ArrayLike<number>,
  reference: ArrayLike<number>,
  width: number,
): readonly GroupError[] {
  checkLengths(output, reference);
  return Array.from({ length: Math.ceil(output.length / width) }, (_, row) =>
    errorOver(output, reference, Math.min(width, output.length - row * width), (i) => row * width + i),
  );
}

/** Error of each head of an output `[rows, heads, width]`. For decode, `rows` is 1. */
export function headErrors(
  output: ArrayLike<number>,
  reference: ArrayLike<number>,
  heads: number,
  width: number,
): readonly GroupError[] {
  checkLengths(output, reference);
  const rows = output.length / (heads * width);
  if (!Number.isInteger(rows)) {
    throw new RangeError(`${output.length} elements are no whole number of rows of ${heads} heads x ${width}`);
  }
  return Array.from({ length: heads }, (_, head) =>
    errorOver(output, reference, rows * width, (i) => (Math.floor(i / width) * heads + head) * width + (i % width)),
  );
}

/** The group with the largest NMSE, NaN first; groups with an all-zero reference have none. Undefined if no group has. */
export function worstGroup(
  groups: readonly GroupError[],
): { readonly group: number; readonly nmse: number } | undefined {
  let worst: { group: number; nmse: number } | undefined;
  for (const [group, { nmse }] of groups.entries()) {
    if (nmse === undefined) continue;
    if (Number.isNaN(nmse)) return { group, nmse };
    if (worst === undefined || nmse > worst.nmse) worst = { group, nmse };
  }
  return worst;
}

const pattern = new Int32Array(1);
const patternAsF32 = new Float32Array(pattern.buffer);

/** Position of a value of `dtype` on the line of all its values, in steps of one unit in the last place. */
function ordinal(x: number, dtype: FloatDtype): number {
  patternAsF32[0] = x;
  let bits = pattern[0]! & 0x7fffffff;
  if (dtype === "bf16") bits >>>= 16;
  if (dtype === "f16") {
    // f16 patterns from the value: subnormals are multiples of 2^-24, binades hold 1024 steps each.
    const magnitude = Math.abs(x);
    if (magnitude === Number.POSITIVE_INFINITY) bits = 0x7c00;
    else if (magnitude < 2 ** -14) bits = magnitude * 2 ** 24;
    else {
      const exponent = (bits >>> 23) - 127;
      bits = ((exponent + 14) << 10) + magnitude * 2 ** (10 - exponent);
    }
  }
  return x < 0 ? -bits : bits;
}

/** Steps between a value of `dtype` and the reference rounded to it. Infinite where either is NaN. */
export function ulpDistance(output: number, reference: number, dtype: FloatDtype): number {
  const rounded = roundTo(reference, dtype);
  if (Number.isNaN(output) || Number.isNaN(rounded)) return Number.POSITIVE_INFINITY;
  return Math.abs(ordinal(output, dtype) - ordinal(rounded, dtype));
}

/** Distribution of ULP distances. Bucket i counts distances up to `ULP_BUCKETS[i]`, above the one before. */
export interface UlpHistogram {
  readonly counts: readonly number[];
  /** Nearest-rank percentiles. */
  readonly p50: number;
  readonly p999: number;
  readonly max: number;
}

export const ULP_BUCKETS: readonly number[] = [
  0,
  1,
  2,
  4,
  8,
  16,
  64,
  256,
  1024,
  2 ** 16,
  2 ** 24,
  Number.POSITIVE_INFINITY,
];

/** ULP histogram of an output of `dtype`. An empty output gives zeros. */
export function ulpHistogram(output: ArrayLike<number>, reference: ArrayLike<number>, dtype: FloatDtype): UlpHistogram {
  checkLengths(output, reference);
  const distances = new Float64Array(output.length);
  const counts = ULP_BUCKETS.map(() => 0);
  for (let i = 0; i < distances.length; i++) {
    const distance = ulpDistance(output[i]!, reference[i]!, dtype);
    distances[i] = distance;
    counts[ULP_BUCKETS.findIndex((limit) => distance <= limit)]!++;
  }
  distances.sort();
  const percentile = (share: number) => distances[Math.max(0, Math.ceil(share * distances.length) - 1)] ?? 0;
  return { counts, p50: percentile(0.5), p999: percentile(0.999), max: percentile(1) };
}

/** How many elements no longer hold the poison pattern, and the first that does. */
export interface WrittenCount {
  readonly count: number;
  readonly written: number;
  readonly firstUnwritten: number | undefined;
}

/**
 * Compares raw element patterns (a Uint32Array for f32, a Uint16Array for f16 and bf16) with the poison word they were
 * filled with; 16-bit elements compare with its halves.
 */
export function writtenCount(patterns: Uint32Array | Uint16Array, poisonWord: number): WrittenCount {
  const halves = patterns instanceof Uint16Array;
  let written = 0;
  let firstUnwritten: number | undefined;
  for (let i = 0; i < patterns.length; i++) {
    const poison = halves ? (i % 2 === 0 ? poisonWord & 0xffff : poisonWord >>> 16) : poisonWord >>> 0;
    if (patterns[i] !== poison) written++;
    else firstUnwritten ??= i;
  }
  return { count: patterns.length, written, firstUnwritten };
}
