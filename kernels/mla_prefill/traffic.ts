/** Logical bytes of the prefill routes, from the loops of their kernels: causal, ragged, tails as they are. */
import type { PrefillShape } from "../route.ts";
import { ceilDiv, ELEMENT_BYTES } from "../sizes.ts";
import { type RouteTraffic, read, routeTraffic, write } from "../traffic.ts";
import { NAIVE_THREADS } from "./plan.ts";
import { KV_ROWS, QUERY_ROWS, stagePlan } from "./tiles.ts";

interface Extent {
  readonly queries: number;
  readonly keys: number;
  /** Keys that query i of the sequence sees: `visible_keys` of sequence.h. */
  readonly visible: (query: number) => number;
}

function sequencesOf({ cuSeqlensQ, cuSeqlensK, qOffset }: PrefillShape): readonly Extent[] {
  return qOffset.map((offset, index) => {
    const keys = cuSeqlensK[index + 1]! - cuSeqlensK[index]!;
    return {
      queries: cuSeqlensQ[index + 1]! - cuSeqlensQ[index]!,
      keys,
      visible: (query) => Math.min(keys, Math.max(0, offset + query + 1)),
    };
  });
}

/** Sum over the queries of all sequences of the keys that they see. */
function visiblePairs(shape: PrefillShape): number {
  let pairs = 0;
  for (const { queries, visible } of sequencesOf(shape)) {
    for (let query = 0; query < queries; query++) pairs += visible(query);
  }
  return pairs;
}

function queryTokens({ cuSeqlensQ }: PrefillShape): number {
  return cuSeqlensQ.at(-1) ?? 0;
}

/** A threadgroup of 32 query rows stages the keys and values in blocks of 32 rows up to the last key that it sees. */
function simdgroup8x8(shape: PrefillShape): RouteTraffic {
  const { heads, nope, rope, value, dtype } = shape;
  const element = ELEMENT_BYTES[dtype];
  const { queryResident } = stagePlan(nope + rope, value, dtype);
  let keyRows = 0;
  let queryRows = 0;
  for (const { queries, keys, visible } of sequencesOf(shape)) {
    for (let first = 0; first < queries; first += QUERY_ROWS) {
      const rows = Math.min(QUERY_ROWS, queries - first);
      const blocks = ceilDiv(visible(first + rows - 1), KV_ROWS);
      keyRows += Math.min(keys, blocks * KV_ROWS);
      queryRows += rows * (queryResident ? 1 : blocks);
    }
  }
  const tokens = queryTokens(shape);
  const bytes = (rows: number, width: number): number => rows * heads * width * element;
  const words = (rows: number, width: number): string => `${rows} rows x ${heads} heads x ${width} x ${element}`;
  return routeTraffic("simdgroup_8x8", [
    read("attention", "q_nope", bytes(queryRows, nope), words(queryRows, nope)),
    read("attention", "q_rope", bytes(queryRows, rope), words(queryRows, rope)),
    read("attention", "k_nope", bytes(keyRows, nope), words(keyRows, nope)),
    read("attention", "k_rope", bytes(keyRows, rope), words(keyRows, rope)),
    read("attention", "v", bytes(keyRows, value), words(keyRows, value)),
    write("attention", "out", bytes(tokens, value), words(tokens, value)),
    write("attention", "lse", tokens * heads * 4, `${tokens} x ${heads} x 4`),
  ]);
}

/** Every query of every head reads the keys and values that it sees. */
function naive(shape: PrefillShape): RouteTraffic {
  const { heads, nope, rope, value, dtype } = shape;
  const element = ELEMENT_BYTES[dtype];
  const pairs = visiblePairs(shape);
  const tokens = queryTokens(shape);
  // A pass of the weighted sum covers as many value columns as there are threads.
  const passes = ceilDiv(value, NAIVE_THREADS);
  const bytes = (rows: number, width: number): number => rows * heads * width * element;
  const words = (rows: number, width: number): string => `${rows} rows x ${heads} heads x ${width} x ${element}`;
  return routeTraffic("naive", [
    read("attention", "q_nope", bytes(tokens, nope), words(tokens, nope)),
    read("attention", "q_rope", bytes(tokens, rope), words(tokens, rope)),
    read("attention", "k_nope", bytes(pairs, nope), words(pairs, nope)),
    read("attention", "k_rope", bytes(pairs, rope), words(pairs, rope)),
    write("attention", "scores", 2 * pairs * heads * 4, `score, exp: 2 x ${pairs} x ${heads} x 4`),
    read(
      "attention",
      "scores",
      (1 + passes) * pairs * heads * 4,
      `exp, ${passes} of the weighted sum: ${1 + passes} x ${pairs} x ${heads} x 4`,
    ),
    read("attention", "v", bytes(pairs, value), words(pairs, value)),
    write("attention", "out", bytes(tokens, value), words(tokens, value)),
    write("attention", "lse", tokens * heads * 4, `${tokens} x ${heads} x 4`),
  ]);
}

export function prefillTraffic(shape: PrefillShape, route: string): RouteTraffic | undefined {
  if (route === "simdgroup_8x8") return simdgroup8x8(shape);
  return route === "naive" ? naive(shape) : undefined;
}

/** Queries, the keys and values that any query sees (the shared rope keys once), outputs and lse, each once. */
export function prefillMinimumBytes(shape: PrefillShape): number {
  const { heads, nope, rope, value, dtype } = shape;
  const tokens = queryTokens(shape);
  const seen = sequencesOf(shape).reduce(
    (sum, { queries, visible }) => sum + (queries > 0 ? visible(queries - 1) : 0),
    0,
  );
  const elements = tokens * heads * (nope + rope + value) + seen * (heads * (nope + value) + rope);
  return elements * ELEMENT_BYTES[dtype] + tokens * heads * 4;
}

/** Scores and weighted sum over the visible keys: 2 x heads x pairs x (nope + rope + value). */
export function prefillFlops(shape: PrefillShape): number {
  return 2 * shape.heads * visiblePairs(shape) * (shape.nope + shape.rope + shape.value);
}
