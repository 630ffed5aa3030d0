/**
 * Output against oracle: sums per row, head and case, all in float64. Nothing here decides; `gates/evaluate.ts` does.
 *
 * Rows are `outer * heads + head`: the query head for decode (`outer` is 0), token and head for prefill.
 */

/** The float64 side of a comparison. `width` elements a row; `absolute` is sum_j p_j |v_j| of every element. */
export interface OracleRows {
  readonly out: Float64Array;
  readonly lse: Float64Array;
  readonly conditioning: Float64Array;
  readonly absolute: Float64Array;
}

/** The tested side, widened exactly to float64. */
export interface OutputRows {
  readonly out: Float64Array;
  readonly lse: Float64Array | undefined;
  /** Elements of out and lse that still hold the poison pattern; undefined where the outputs came from elsewhere. */
  readonly unwritten: number | undefined;
}

/** Sums over a group of elements: a row, a head or the whole case. */
export interface Group {
  readonly label: string;
  readonly count: number;
  readonly errorSquares: number;
  readonly referenceSquares: number;
  readonly absoluteSquares: number;
  readonly outputTimesReference: number;
  readonly maxError: number;
  /** Flat index into `out` of the largest error; -1 while nothing differs. */
  readonly maxErrorIndex: number;
  readonly maxReference: number;
  readonly maxAbsolute: number;
  readonly maxOutput: number;
  /** Largest finite scale * sum |q_d k_d| of the group. */
  readonly conditioning: number;
  /** Errors of the low-precision twin; 0 where there is none. */
  readonly twinErrorSquares: number;
  readonly twinMaxError: number;
}

export interface LseRow {
  readonly label: string;
  readonly value: number;
  readonly reference: number;
  readonly conditioning: number;
}

export interface Comparison {
  readonly whole: Group;
  readonly heads: readonly Group[];
  readonly rows: readonly Group[];
  readonly lse: readonly LseRow[] | undefined;
  readonly notFinite: number;
  readonly unwritten: number | undefined;
  /** Elements of out and lse together. */
  readonly elements: number;
}

export interface ComparisonShape {
  readonly heads: number;
  readonly width: number;
  /** Names a row for people: `head 5`, `token 12 head 3`. */
  readonly rowLabel: (row: number) => string;
}

interface MutableGroup {
  label: string;
  count: number;
  errorSquares: number;
  referenceSquares: number;
  absoluteSquares: number;
  outputTimesReference: number;
  maxError: number;
  maxErrorIndex: number;
  maxReference: number;
  maxAbsolute: number;
  maxOutput: number;
  conditioning: number;
  twinErrorSquares: number;
  twinMaxError: number;
}

function emptyGroup(label: string): MutableGroup {
  return {
    label,
    count: 0,
    errorSquares: 0,
    referenceSquares: 0,
    absoluteSquares: 0,
    outputTimesReference: 0,
    maxError: 0,
    maxErrorIndex: -1,
    maxReference: 0,
    maxAbsolute: 0,
    maxOutput: 0,
    conditioning: 0,
    twinErrorSquares: 0,
    twinMaxError: 0,
  };
}

/** The larger of two sizes; NaN wins, so that it cannot hide behind a number. */
function larger(a: number, b: number): number {
  return b > a || Number.isNaN(b) ? b : a;
}

function add(into: MutableGroup, from: Group): void {
  into.count += from.count;
  into.errorSquares += from.errorSquares;
  into.referenceSquares += from.referenceSquares;
  into.absoluteSquares += from.absoluteSquares;
  into.outputTimesReference += from.outputTimesReference;
  if (from.maxErrorIndex >= 0 && !Number.isNaN(into.maxError) && !(from.maxError <= into.maxError)) {
    into.maxError = from.maxError;
    into.maxErrorIndex = from.maxErrorIndex;
  }
  into.maxReference = larger(into.maxReference, from.maxReference);
  into.maxAbsolute = larger(into.maxAbsolute, from.maxAbsolute);
  into.maxOutput = larger(into.maxOutput, from.maxOutput);
  into.conditioning = larger(into.conditioning, from.conditioning);
  into.twinErrorSquares += from.twinErrorSquares;
  into.twinMaxError = larger(into.twinMaxError, from.twinMaxError);
}

function compareRow(
  row: number,
  shape: ComparisonShape,
  output: OutputRows,
  oracle: OracleRows,
  twin: Float64Array | undefined,
): MutableGroup {
  const group = emptyGroup(shape.rowLabel(row));
  const begin = row * shape.width;
  for (let index = begin; index < begin + shape.width; index++) {
    const o = output.out[index]!;
    const r = oracle.out[index]!;
    const error = Math.abs(o - r);
    group.errorSquares += error * error;
    group.referenceSquares += r * r;
    group.absoluteSquares += oracle.absolute[index]! ** 2;
    group.outputTimesReference += o * r;
    if (!Number.isNaN(group.maxError) && !(error <= group.maxError)) {
      group.maxError = error;
      group.maxErrorIndex = index;
    }
    group.maxReference = larger(group.maxReference, Math.abs(r));
    group.maxAbsolute = larger(group.maxAbsolute, oracle.absolute[index]!);
    group.maxOutput = larger(group.maxOutput, Math.abs(o));
    if (twin !== undefined) {
      const twinError = Math.abs(twin[index]! - r);
      group.twinErrorSquares += twinError * twinError;
      group.twinMaxError = larger(group.twinMaxError, twinError);
    }
  }
  group.count = shape.width;
  group.conditioning = oracle.conditioning[row]!;
  return group;
}

/** Compares an output with the oracle. Throws RangeError where the two sides differ in size. */
export function compare(
  shape: ComparisonShape,
  output: OutputRows,
  oracle: OracleRows,
  twin?: Float64Array,
): Comparison {
  if (output.out.length !== oracle.out.length) {
    throw new RangeError(`The output has ${output.out.length} elements; the oracle has ${oracle.out.length}.`);
  }
  if (oracle.absolute.length !== oracle.out.length) {
    throw new RangeError(
      `The oracle's sum p|v| has ${oracle.absolute.length} elements; its output has ${oracle.out.length}.`,
    );
  }
  if (twin !== undefined && twin.length !== oracle.out.length) {
    throw new RangeError(`The twin has ${twin.length} elements; the oracle has ${oracle.out.length}.`);
  }
  const rowCount = oracle.lse.length;
  if (output.lse !== undefined && output.lse.length !== rowCount) {
    throw new RangeError(`lse has ${output.lse.length} elements; the oracle has ${rowCount}.`);
  }
  const rows: Group[] = [];
  const heads = Array.from({ length: shape.heads }, (_, head) => emptyGroup(`head ${head}`));
  const whole = emptyGroup("case");
  for (let row = 0; row < rowCount; row++) {
    const group = compareRow(row, shape, output, oracle, twin);
    rows.push(group);
    add(heads[row % shape.heads]!, group);
    add(whole, group);
  }
  const lse = output.lse && [...output.lse].map((value, row) => lseRow(row, value, shape, oracle));
  return {
    whole,
    heads,
    rows,
    lse,
    notFinite: countNotFinite(output),
    unwritten: output.unwritten,
    elements: output.out.length + (output.lse?.length ?? 0),
  };
}

function lseRow(row: number, value: number, shape: ComparisonShape, oracle: OracleRows): LseRow {
  const conditioning = oracle.conditioning[row]!;
  return { label: shape.rowLabel(row), value, reference: oracle.lse[row]!, conditioning };
}

/** -inf is a legal lse (an empty row); nothing else that is not finite is legal anywhere. */
function countNotFinite(output: OutputRows): number {
  let count = 0;
  for (const value of output.out) if (!Number.isFinite(value)) count++;
  for (const value of output.lse ?? []) if (Number.isNaN(value) || value === Number.POSITIVE_INFINITY) count++;
  return count;
}

/** A plain comparison of a case against a stored float64 output, for the gates on stored references. */
export interface StoredComparison {
  readonly nmse: number;
  readonly maxError: number;
  /** Largest |oracle - stored|. */
  readonly oracleMaxError: number;
}

/** Compares output and oracle with the stored float64 output, over the whole case. */
export function compareStored(
  out: Float64Array,
  oracle: OracleRows,
  stored: Float64Array,
  cancelling: boolean,
): StoredComparison {
  if (stored.length !== out.length) {
    throw new RangeError(`The stored reference has ${stored.length} elements; the output has ${out.length}.`);
  }
  let squares = 0;
  let normaliser = 0;
  let maxError = 0;
  let oracleMaxError = 0;
  for (let index = 0; index < out.length; index++) {
    const r = stored[index]!;
    const error = Math.abs(out[index]! - r);
    squares += error * error;
    normaliser += cancelling ? oracle.absolute[index]! ** 2 : r * r;
    maxError = Number.isNaN(maxError) ? maxError : larger(maxError, error);
    oracleMaxError = larger(oracleMaxError, Math.abs(oracle.out[index]! - r));
  }
  return { nmse: squares / normaliser, maxError, oracleMaxError };
}
