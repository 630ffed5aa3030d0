/** What the decode routes require of a shape. */
import { predicate } from "../predicates.ts";
import type { DecodeShape, PredicateResult } from "../route.ts";
import { MAX_ROWS } from "../sizes.ts";

/** Query heads per KV head; NaN-free only where `heads_divide` holds. */
export function groupSize(shape: DecodeShape): number {
  return shape.heads / shape.kvHeads;
}

/** Requirements of every decode route. */
export function decodePredicates(shape: DecodeShape): readonly PredicateResult[] {
  const { heads, kvHeads, dim, live, capacity, scale } = shape;
  const counts = Number.isInteger(heads) && Number.isInteger(kvHeads) && heads > 0 && kvHeads > 0;
  const group = groupSize(shape);
  return [
    predicate(
      "heads_divide",
      "query heads are a multiple of the KV heads",
      `${heads} / ${kvHeads}`,
      counts && Number.isInteger(group),
      "query head h reads KV head h / (H / Hk)",
    ),
    predicate(
      "group_size",
      "1 to 8 query heads per KV head",
      counts ? `${group}` : "not defined",
      counts && group <= 8,
      "a score threadgroup has one simdgroup per query head of its KV head",
    ),
    predicate(
      "head_dim",
      "a multiple of 32, 32 to 512",
      `${dim}`,
      Number.isInteger(dim) && dim % 32 === 0 && dim >= 32 && dim <= 512,
      "the value stage works in dimension tiles of 32; rows are staged in threadgroup memory",
    ),
    predicate(
      "live_tokens",
      `0 to ${MAX_ROWS.toLocaleString("en-US")} live tokens within the capacity`,
      `${live} of ${capacity}`,
      Number.isInteger(live) && Number.isInteger(capacity) && live >= 0 && live <= capacity && capacity <= MAX_ROWS,
      "token indices are 32-bit; rows at and beyond the live length are never read",
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

/** Requirements of the fused route: one fixed geometry, and no fallback to another one. */
export function fusedPredicates(shape: DecodeShape): readonly PredicateResult[] {
  return [
    predicate(
      "fused_head_dim",
      "a head width of exactly 512",
      `${shape.dim}`,
      shape.dim === 512,
      "each of 32 lanes keeps 16 dimensions of q and of the numerator",
    ),
    predicate(
      "fused_group_size",
      "exactly 8 query heads per KV head",
      `${groupSize(shape)}`,
      groupSize(shape) === 8,
      "256 threads are 8 simdgroups, one per query head that shares the staged K and V",
    ),
  ];
}
