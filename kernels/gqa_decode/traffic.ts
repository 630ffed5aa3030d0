/** Logical bytes of the decode routes, stage by stage, from the loops of their kernels. All buffers are f32. */
import type { DecodeShape } from "../route.ts";
import { ceilDiv } from "../sizes.ts";
import { type RouteTraffic, read, routeTraffic, type TrafficEntry, write } from "../traffic.ts";
import { FUSED_PARTITIONS, SCORE_BLOCK, VALUE_PARTITIONS, VALUE_TILE_DIM } from "./geometry.ts";

const F32 = 4;

/**
 * score writes the scores once; normalise reads them three times (maximum, exp, scale) and writes them twice; each of the
 * dim / 32 dimension tiles of value reads them once. For 512 dimensions that is 22 x heads x live x 4 bytes.
 */
function threeStage({ heads, kvHeads, dim, live }: DecodeShape, route: string): RouteTraffic {
  const scores = heads * live * F32;
  const cache = kvHeads * live * dim * F32;
  const rows = heads * dim * F32;
  const blocks = Math.max(1, ceilDiv(live, SCORE_BLOCK));
  const tiles = dim / VALUE_TILE_DIM;
  const partials = VALUE_PARTITIONS * rows;
  return routeTraffic(route, [
    read("score", "q", blocks * rows, `${blocks} blocks x ${heads} x ${dim} x 4`),
    read("score", "k", cache, `once: ${kvHeads} x ${live} x ${dim} x 4`),
    write("score", "scores", scores, `${heads} x ${live} x 4`),
    read("normalise", "scores", 3 * scores, `maximum, exp, scale: 3 x ${heads} x ${live} x 4`),
    write("normalise", "scores", 2 * scores, `exp, scale: 2 x ${heads} x ${live} x 4`),
    write("normalise", "lse", heads * F32, `${heads} x 4`),
    read("value", "scores", tiles * scores, `${tiles} dimension tiles x ${heads} x ${live} x 4`),
    read("value", "v", cache, `once: ${kvHeads} x ${live} x ${dim} x 4`),
    write("value", "partials", partials, `${VALUE_PARTITIONS} x ${heads} x ${dim} x 4`),
    read("reduce", "partials", partials, `${VALUE_PARTITIONS} x ${heads} x ${dim} x 4`),
    write("reduce", "out", rows, `${heads} x ${dim} x 4`),
  ]);
}

/** K and V exactly once; no scores in device memory. */
function fused({ heads, kvHeads, dim, live }: DecodeShape, partitions: number): RouteTraffic {
  const cache = kvHeads * live * dim * F32;
  const rows = heads * dim * F32;
  const scalars = partitions * heads * F32;
  const state = (access: typeof read, stage: string): readonly TrafficEntry[] => [
    access(stage, "maxima", scalars, `${partitions} x ${heads} x 4`),
    access(stage, "sums", scalars, `${partitions} x ${heads} x 4`),
    access(stage, "numerators", partitions * rows, `${partitions} x ${heads} x ${dim} x 4`),
  ];
  return routeTraffic(`fused_split_kv_p${partitions}`, [
    read("partial", "q", partitions * rows, `${partitions} partitions x ${heads} x ${dim} x 4`),
    read("partial", "k", cache, `once: ${kvHeads} x ${live} x ${dim} x 4`),
    read("partial", "v", cache, `once: ${kvHeads} x ${live} x ${dim} x 4`),
    ...state(write, "partial"),
    ...state(read, "merge"),
    write("merge", "out", rows, `${heads} x ${dim} x 4`),
    write("merge", "lse", heads * F32, `${heads} x 4`),
  ]);
}

/** K and V once for every query head: nothing is shared between the heads of a KV head. */
function naive({ heads, dim, live }: DecodeShape): RouteTraffic {
  const scores = heads * live * F32;
  const rows = heads * dim * F32;
  return routeTraffic("naive", [
    read("attention", "q", rows, `${heads} x ${dim} x 4`),
    read("attention", "k", heads * live * dim * F32, `once a query head: ${heads} x ${live} x ${dim} x 4`),
    write("attention", "scores", 2 * scores, `score, exp: 2 x ${heads} x ${live} x 4`),
    read("attention", "scores", 2 * scores, `exp, weighted sum: 2 x ${heads} x ${live} x 4`),
    read("attention", "v", heads * live * dim * F32, `once a query head: ${heads} x ${live} x ${dim} x 4`),
    write("attention", "out", rows, `${heads} x ${dim} x 4`),
    write("attention", "lse", heads * F32, `${heads} x 4`),
  ]);
}

export function decodeTraffic(shape: DecodeShape, route: string): RouteTraffic | undefined {
  if (route === "three_stage" || route === "three_stage_staged") return threeStage(shape, route);
  if (route === "naive") return naive(shape);
  const partitions = FUSED_PARTITIONS.find((count) => route === `fused_split_kv_p${count}`);
  return partitions === undefined ? undefined : fused(shape, partitions);
}

/** Q, the live rows of K and V, the output and its lse, each once. */
export function decodeMinimumBytes({ heads, kvHeads, dim, live }: DecodeShape): number {
  return F32 * (2 * heads * dim + 2 * kvHeads * live * dim + heads);
}

/** Scores and weighted sum: 2 x heads x live x (dim + dim). */
export function decodeFlops({ heads, dim, live }: DecodeShape): number {
  return 2 * heads * live * (dim + dim);
}
