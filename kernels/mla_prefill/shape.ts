/** What the prefill routes require of a shape, and the sizes that follow from it. */
import { predicate } from "../predicates.ts";
import type { PredicateResult, PrefillShape } from "../route.ts";
import { MAX_ROWS } from "../sizes.ts";

/** Widest value row of the tiled routes: its accumulators are registers, value / 4 floats a lane with 8x8 tiles. */
const MAX_VALUE_DIM = 512;
/** Widest key row (nope + rope) of the tiled routes. */
const MAX_KEY_DIM = 1024;

/** Query and key tokens, sequences, and the longest of either kind. */
export interface PrefillExtent {
  readonly sequences: number;
  readonly queries: number;
  readonly keys: number;
  readonly maxQueries: number;
  readonly maxKeys: number;
}

export function prefillExtent(shape: PrefillShape): PrefillExtent {
  const longest = (bounds: readonly number[]): number =>
    bounds.slice(1).reduce((most, end, index) => Math.max(most, end - bounds[index]!), 0);
  return {
    sequences: shape.qOffset.length,
    queries: shape.cuSeqlensQ.at(-1) ?? 0,
    keys: shape.cuSeqlensK.at(-1) ?? 0,
    maxQueries: longest(shape.cuSeqlensQ),
    maxKeys: longest(shape.cuSeqlensK),
  };
}

/** What is wrong with a list of sequence bounds, or undefined. */
function boundsFault(name: string, bounds: readonly number[], sequences: number): string | undefined {
  if (bounds.length !== sequences + 1) return `${name} has ${bounds.length} entries for ${sequences} sequences`;
  if (bounds[0] !== 0) return `${name} starts at ${bounds[0]}`;
  for (const [index, bound] of bounds.entries()) {
    if (!Number.isInteger(bound)) return `${name}[${index}] is ${bound}`;
    if (index > 0 && bound < bounds[index - 1]!) return `${name}[${index}] is ${bound} after ${bounds[index - 1]}`;
  }
  const last = bounds.at(-1)!;
  return last > MAX_ROWS ? `${name} ends at ${last}` : undefined;
}

/** Requirements of every prefill route. Sequences without queries or keys are legal. */
export function prefillPredicates(shape: PrefillShape): readonly PredicateResult[] {
  const { heads, nope, rope, value, cuSeqlensQ, cuSeqlensK, qOffset, scale } = shape;
  const sequences = qOffset.length;
  const fault =
    sequences === 0
      ? "no sequence"
      : (boundsFault("cu_seqlens_q", cuSeqlensQ, sequences) ?? boundsFault("cu_seqlens_k", cuSeqlensK, sequences));
  const badOffset = qOffset.findIndex((offset) => !Number.isInteger(offset) || Math.abs(offset) > MAX_ROWS / 2);
  const multiple = (width: number): boolean => Number.isInteger(width) && width > 0 && width % 16 === 0;
  return [
    predicate(
      "heads",
      "at least one head",
      `${heads}`,
      Number.isInteger(heads) && heads > 0,
      "the grid has one threadgroup row per head",
    ),
    predicate(
      "widths",
      "nope, rope and value widths that are multiples of 16",
      `${nope} + ${rope} / ${value}`,
      multiple(nope) && multiple(rope) && multiple(value),
      "rows are read as vectors of four and multiplied as 8x8 or 16x16 tiles",
    ),
    predicate(
      "cu_seqlens",
      "bounds that start at 0 and do not decrease, one more than there are sequences",
      fault ?? `${sequences} ${sequences === 1 ? "sequence" : "sequences"}`,
      fault === undefined,
      "sequence b has the rows from bound b to bound b + 1",
    ),
    predicate(
      "q_offset",
      "integer positions that 32 bits hold with room for a sequence",
      badOffset < 0
        ? `${qOffset.length} ${qOffset.length === 1 ? "offset" : "offsets"}`
        : `q_offset[${badOffset}] is ${qOffset[badOffset]}`,
      badOffset < 0,
      "query i stands at position q_offset + i and sees the keys up to it",
    ),
    predicate(
      "scale_finite",
      "a softmax scale that is finite in f32",
      `${scale}`,
      Number.isFinite(Math.fround(scale)),
      "the scale multiplies every score",
    ),
  ];
}

/** What the routes that hold tiles of a row in registers require besides; `naive` takes any width. */
export function tilePredicates({ nope, rope, value }: PrefillShape): readonly PredicateResult[] {
  return [
    predicate(
      "widths_limit",
      `nope + rope up to ${MAX_KEY_DIM.toLocaleString("en-US")}, value up to ${MAX_VALUE_DIM}`,
      `${nope + rope} / ${value}`,
      nope + rope <= MAX_KEY_DIM && value <= MAX_VALUE_DIM,
      "the accumulators of a query row are registers",
    ),
  ];
}
