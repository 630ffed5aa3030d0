/**
 * What a wrong attention kernel would have computed: for each known way to go wrong, the output that it gives. Every one of
 * them is a sum over the keys, sum_j a_j v_j / b, with other numerators a and another denominator b than the softmax has.
 * Pure, in float64.
 */
import type { KeySchedule } from "./geometry.ts";

/** What one row's softmax is made of. */
export interface RowScores {
  /** Keys that the row sees. */
  readonly keys: number;
  /** Scaled scores: of the keys that it sees, then of those that it must not see but might. */
  readonly scores: Float64Array;
  /** The softmax scale that is in the scores. */
  readonly scale: number;
  /** Elements of a q row: kernels that scale by themselves take its square root. */
  readonly width: number;
  readonly schedule: KeySchedule;
}

/** A column of v: as many values as there are scores. */
export type Column = ArrayLike<number>;

export interface Hypothesis {
  /** Completes "It looks as if ...": `the last key (16) were left out`. */
  readonly words: () => string;
  /** The output that it gives for a column of v. */
  readonly predict: (column: Column) => number;
  /** One of many alike: only more than one element can tell them apart. */
  readonly oneOfMany: boolean;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function dot(weights: ArrayLike<number>, column: Column, begin: number, end: number): number {
  let sum = 0;
  // A key without weight adds nothing, whatever its value holds.
  for (let j = begin; j < end; j++) if (weights[j] !== 0) sum += weights[j]! * column[j]!;
  return sum;
}

/** Numerators and denominator by themselves. */
function weighted(words: string, numerators: Float64Array, denominator: number): Hypothesis {
  return {
    words: () => words,
    predict: (column) => dot(numerators, column, 0, numerators.length) / denominator,
    oneOfMany: false,
  };
}

function total(weights: Float64Array): number {
  return weights.reduce((sum, weight) => sum + weight, 0);
}

/** The row as it should be: weights without their denominator, largest 1, and the maximum. */
class Row {
  readonly keys: number;
  readonly scores: Float64Array;
  readonly schedule: KeySchedule;
  readonly scale: number;
  readonly width: number;
  readonly max: number;
  readonly weights: Float64Array;
  readonly sum: number;
  readonly #whole = new WeakMap<object, number>();

  constructor({ keys, scores, schedule, scale, width }: RowScores) {
    this.keys = keys;
    this.scores = scores;
    this.schedule = schedule;
    this.scale = scale;
    this.width = width;
    this.max = scores.subarray(0, keys).reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    this.weights = this.map((score) => Math.exp(score - this.max));
    this.sum = total(this.weights);
  }

  /** A weight for each key that the row sees; 0 for a score of -inf. */
  map(weight: (score: number, key: number) => number): Float64Array {
    const { scores } = this;
    return Float64Array.from({ length: this.keys }, (_, j) =>
      scores[j] === Number.NEGATIVE_INFINITY ? 0 : weight(scores[j]!, j),
    );
  }

  /** Begin and end of the partitions that hold a key, with their number. */
  partitions(): readonly (readonly [begin: number, end: number, partition: number])[] {
    const { bounds } = this.schedule;
    return bounds
      .slice(0, -1)
      .map((begin, p) => [begin, bounds[p + 1]!, p] as const)
      .filter(([begin, end]) => end > begin);
  }

  maxOf(begin: number, end: number): number {
    let max = Number.NEGATIVE_INFINITY;
    for (let j = begin; j < end; j++) max = Math.max(max, this.scores[j]!);
    return max;
  }

  /** sum_j weights[j] v_j over all keys, worked out once for a column. */
  #wholeOf(column: Column): number {
    const known = this.#whole.get(column);
    const whole = known ?? dot(this.weights, column, 0, this.keys);
    this.#whole.set(column, whole);
    return whole;
  }

  /** Keys [begin, end) are left out, or taken once more: of the sum and of the values, or of the values alone. */
  without(
    words: () => string,
    begin: number,
    end: number,
    options: { times?: 0 | 2; sumKept?: boolean } = {},
  ): Hypothesis {
    const { times = 0, sumKept = false } = options;
    const part = total(this.weights.subarray(begin, end));
    const denominator = sumKept ? this.sum : this.sum + (times - 1) * part;
    return {
      words,
      predict: (column) => (this.#wholeOf(column) + (times - 1) * dot(this.weights, column, begin, end)) / denominator,
      oneOfMany: false,
    };
  }
}

/** Ends of the row, and the keys after the last whole tile. */
function* ends(row: Row): Iterable<Hypothesis> {
  const { keys } = row;
  const last = keys - 1;
  if (keys > 1) {
    yield row.without(() => `the last key (${count(last)}) were left out`, last, keys);
    yield row.without(() => "the first key (0) were left out", 0, 1);
    yield row.without(() => `the value of the last key (${count(last)}) were left out, not its weight`, last, keys, {
      sumKept: true,
    });
    yield row.without(() => `the last key (${count(last)}) were counted twice`, last, keys, { times: 2 });
  }
  const { tile } = row.schedule;
  const tail = tile === null ? 0 : keys % tile;
  if (tail > 1 && tail < keys) {
    yield row.without(
      () => `the last, partial tile (keys ${count(keys - tail)} to ${count(last)}) were left out`,
      keys - tail,
      keys,
    );
  }
  if (row.scores.length > keys) {
    const extended = Float64Array.from({ length: keys + 1 }, (_, j) => Math.exp(row.scores[j]! - row.max));
    yield weighted(`key ${count(keys)}, which the row must not see, were taken in`, extended, total(extended));
  }
}

/** Whole partitions left out or taken alone, and wrong merges of them. */
function* merges(row: Row): Iterable<Hypothesis> {
  const partitions = row.partitions();
  if (partitions.length < 2) return;
  for (const [begin, end, p] of partitions) {
    const range = `keys ${count(begin)} to ${count(end - 1)}`;
    yield { ...row.without(() => `partition ${p} (${range}) were left out`, begin, end), oneOfMany: true };
    const first = `the first key of partition ${p} (${count(begin)}) were left out`;
    const last = `the last key of partition ${p} (${count(end - 1)}) were left out`;
    yield { ...row.without(() => first, begin, begin + 1), oneOfMany: true };
    yield { ...row.without(() => last, end - 1, end), oneOfMany: true };
    const alone = row.map((_, j) => (j >= begin && j < end ? row.weights[j]! : 0));
    yield { ...weighted(`partition ${p} (${range}) alone were taken`, alone, total(alone)), oneOfMany: true };
  }
  const own = new Float64Array(row.keys);
  const mean = new Float64Array(row.keys);
  for (const [begin, end] of partitions) {
    const max = row.maxOf(begin, end);
    let sum = 0;
    for (let j = begin; j < end; j++) {
      own[j] = max === Number.NEGATIVE_INFINITY ? 0 : Math.exp(row.scores[j]! - max);
      sum += own[j]!;
    }
    for (let j = begin; j < end; j++) mean[j] = sum === 0 ? 0 : own[j]! / sum;
  }
  yield weighted("the partitions were added up without the factors exp(m − M)", own, total(own));
  yield weighted("the partitions' sums were added up without the factors exp(m − M)", row.weights, total(own));
  yield weighted("the partitions' outputs were added up without the factors exp(m − M)", own, row.sum);
  yield weighted("the partitions' results were averaged, not weighted by their sums", mean, partitions.length);
}

/** The online softmax without its rescale when the maximum rises. */
function* rescales(row: Row): Iterable<Hypothesis> {
  const { schedule } = row;
  if (!schedule.online || schedule.tile === null) return;
  const { tile } = schedule;
  const stale = new Float64Array(row.keys);
  let rises = false;
  for (const [begin, end] of row.partitions()) {
    let running = Number.NEGATIVE_INFINITY;
    const factor = Math.exp(row.maxOf(begin, end) - row.max);
    for (let from = begin; from < end; from += tile) {
      const to = Math.min(end, from + tile);
      const before = running;
      running = Math.max(running, row.maxOf(from, to));
      rises ||= before !== Number.NEGATIVE_INFINITY && running > before;
      for (let j = from; j < to; j++) {
        stale[j] = row.scores[j] === Number.NEGATIVE_INFINITY ? 0 : Math.exp(row.scores[j]! - running) * factor;
      }
    }
  }
  if (!rises) return;
  const sum = total(stale);
  yield weighted("sum and output were not rescaled when the maximum rose", stale, sum);
  yield weighted("the output were not rescaled when the maximum rose", stale, row.sum);
  yield weighted("the sum were not rescaled when the maximum rose", row.weights, sum);
}

/** The whole row with another softmax. */
function* softmaxes(row: Row): Iterable<Hypothesis> {
  const { scale, width, max } = row;
  yield weighted("the output were not divided by the sum", row.weights, 1);
  const even = row.map(() => 1);
  yield weighted("every key had the same weight", even, total(even));
  const root = Math.sqrt(width);
  const factors: readonly (readonly [words: string, factor: number])[] = [
    ["2^x were taken for exp(x)", Math.LN2],
    ["the softmax scale were left out", 1 / scale],
    ["the softmax scale were applied twice", scale],
    [`the scores were scaled by ${count(width)}^−0.5 besides`, 1 / root],
    [`the scores were scaled by ${count(width)}^0.5 besides`, root],
  ];
  for (const [words, factor] of factors) {
    if (factor === 1 || !Number.isFinite(factor)) continue;
    const other = row.map((score) => Math.exp((score - max) * factor));
    yield weighted(words, other, total(other));
  }
}

/** Any one tile, then any one key. */
function* anywhere(row: Row): Iterable<Hypothesis> {
  const { tile } = row.schedule;
  for (const [first, last] of tile === null ? [] : row.partitions()) {
    for (let begin = first; begin < last; begin += tile ?? last) {
      const end = Math.min(last, begin + (tile ?? last));
      const words = (): string => `the tile of keys ${count(begin)} to ${count(end - 1)} were left out`;
      yield { ...row.without(words, begin, end), oneOfMany: true };
    }
  }
  for (let j = 0; j < row.keys; j++) {
    if (row.weights[j] === 0) continue;
    yield { ...row.without(() => `key ${count(j)} were left out`, j, j + 1), oneOfMany: true };
    yield { ...row.without(() => `key ${count(j)} were counted twice`, j, j + 1, { times: 2 }), oneOfMany: true };
  }
}

/** The softmax of a row as it should be, over other scores: what a kernel gives that reads other keys. */
export function plainSoftmax(words: string, scores: RowScores): Hypothesis {
  const row = new Row(scores);
  return weighted(words, row.weights, row.sum);
}

/** Every way to go wrong that is known, the most common first. None for a row without a key that counts. */
export function* hypotheses(scores: RowScores): Iterable<Hypothesis> {
  const row = new Row(scores);
  if (!(row.sum > 0)) return;
  yield* ends(row);
  yield* rescales(row);
  yield* merges(row);
  yield* softmaxes(row);
  yield* anywhere(row);
}
