/** The plans of the decode routes: buffers, dispatches and resource contracts for a shape. */
import { packParams } from "../params.ts";
import { requireAll } from "../predicates.ts";
import type { DecodeShape, ResourceContract, RouteBuffer, RouteDispatch, RoutePlan, Size3 } from "../route.ts";
import { ceilDiv, checkedProduct, routeBuffer, scratchBytes, THREADGROUP_BYTES_LIMIT } from "../sizes.ts";
import {
  FUSED_THREADS,
  fusedTileBytes,
  NAIVE_THREADS,
  NORMALISE_THREADS,
  REDUCE_THREADS,
  SCORE_BLOCK,
  SIMD_WIDTH,
  VALUE_PARTITIONS,
  VALUE_THREADS,
  VALUE_TILE_DIM,
} from "./geometry.ts";
import { decodePredicates, fusedPredicates, groupSize } from "./shape.ts";

/** `DecodeParams` of decode.h. */
function decodeParams(shape: DecodeShape, partitions: number): Uint8Array {
  return packParams([
    { name: "heads", type: "u32", value: shape.heads },
    { name: "kv_heads", type: "u32", value: shape.kvHeads },
    { name: "live", type: "u32", value: shape.live },
    { name: "partitions", type: "u32", value: partitions },
    { name: "scale", type: "f32", value: shape.scale },
  ]);
}

function inputs({ heads, kvHeads, dim, capacity }: DecodeShape): readonly RouteBuffer[] {
  return [
    routeBuffer("q", "input", "f32", [heads, dim]),
    routeBuffer("k", "input", "f32", [capacity, kvHeads, dim]),
    routeBuffer("v", "input", "f32", [capacity, kvHeads, dim]),
  ];
}

function outputs({ heads, dim }: DecodeShape): readonly RouteBuffer[] {
  return [routeBuffer("out", "output", "f32", [heads, dim]), routeBuffer("lse", "output", "f32", [heads])];
}

function contract(kernel: string, threads: number, dynamicThreadgroupBytes: number, reason: string): ResourceContract {
  return {
    kernel,
    simdWidth: SIMD_WIDTH,
    threads,
    dynamicThreadgroupBytes,
    threadgroupBytesLimit: THREADGROUP_BYTES_LIMIT,
    reason,
  };
}

function defines(shape: DecodeShape): Readonly<Record<string, number>> {
  return { HEAD_DIM: shape.dim, HEADS_PER_KV: groupSize(shape) };
}

/**
 * score, normalise, value, reduce. Scratch: heads x live scores and 16 x heads x dim partials, both f32
 * (1 MiB of partials in the production shape).
 */
export function planThreeStage(shape: DecodeShape, route: "three_stage" | "three_stage_staged"): RoutePlan {
  requireAll(route, decodePredicates(shape));
  const { heads, kvHeads, dim, live } = shape;
  const group = groupSize(shape);
  const value = route === "three_stage" ? "gqa_value" : "gqa_value_staged";
  const params = decodeParams(shape, VALUE_PARTITIONS);
  const buffers = [
    ...inputs(shape),
    routeBuffer("scores", "scratch", "f32", [heads, live]),
    routeBuffer("partials", "scratch", "f32", [VALUE_PARTITIONS, heads, dim]),
    ...outputs(shape),
  ];
  const stage = (
    name: string,
    kernel: string,
    threadgroups: Size3,
    threads: number,
    names: readonly string[],
  ): RouteDispatch => ({
    stage: name,
    kernel,
    threadgroups,
    threadsPerThreadgroup: [threads, 1, 1],
    buffers: names,
    params,
    threadgroupMemory: [],
  });
  return {
    route,
    source: `gqa_decode/${route}.metal`,
    includes: ["gqa_decode/decode.h", "gqa_decode/stages.h"],
    defines: defines(shape),
    buffers,
    dispatches: [
      stage("score", "gqa_score", [kvHeads, Math.max(1, ceilDiv(live, SCORE_BLOCK)), 1], SIMD_WIDTH * group, [
        "q",
        "k",
        "scores",
      ]),
      stage("normalise", "gqa_normalise", [heads, 1, 1], NORMALISE_THREADS, ["scores", "lse"]),
      stage("value", value, [dim / VALUE_TILE_DIM, VALUE_PARTITIONS, kvHeads], VALUE_THREADS, [
        "scores",
        "v",
        "partials",
      ]),
      stage(
        "reduce",
        "gqa_reduce",
        [ceilDiv(checkedProduct("output elements", [heads, dim]), REDUCE_THREADS), 1, 1],
        REDUCE_THREADS,
        ["partials", "out"],
      ),
    ],
    contracts: [
      contract("gqa_score", SIMD_WIDTH * group, 0, "one simdgroup per query head that shares a staged K row"),
      contract("gqa_normalise", NORMALISE_THREADS, 0, "one threadgroup owns the whole row of a query head"),
      contract(value, VALUE_THREADS, 0, "eight simdgroups share a dimension tile and a sequence partition"),
      contract("gqa_reduce", REDUCE_THREADS, 0, "one thread per output element"),
    ],
    scratchBytes: scratchBytes(buffers),
  };
}

/**
 * partial, merge. Scratch per partition: heads maxima, heads denominators and heads x 512 numerators, all f32; for
 * P = 32 and 32 heads 4,096 + 4,096 + 2,097,152 = 2,105,344 bytes, linear in P.
 */
export function planFused(shape: DecodeShape, partitions: number): RoutePlan {
  const route = `fused_split_kv_p${partitions}`;
  requireAll(route, [...decodePredicates(shape), ...fusedPredicates(shape)]);
  const { heads, kvHeads, dim } = shape;
  const params = decodeParams(shape, partitions);
  const tileBytes = fusedTileBytes(dim);
  const buffers = [
    ...inputs(shape),
    routeBuffer("maxima", "scratch", "f32", [partitions, heads]),
    routeBuffer("sums", "scratch", "f32", [partitions, heads]),
    routeBuffer("numerators", "scratch", "f32", [partitions, heads, dim]),
    ...outputs(shape),
  ];
  return {
    route,
    source: "gqa_decode/fused_split_kv.metal",
    includes: ["gqa_decode/decode.h"],
    defines: defines(shape),
    buffers,
    dispatches: [
      {
        stage: "partial",
        kernel: "gqa_fused_partial",
        threadgroups: [kvHeads, partitions, 1],
        threadsPerThreadgroup: [FUSED_THREADS, 1, 1],
        buffers: ["q", "k", "v", "maxima", "sums", "numerators"],
        params,
        threadgroupMemory: [tileBytes],
      },
      {
        stage: "merge",
        kernel: "gqa_fused_merge",
        threadgroups: [heads, 1, 1],
        threadsPerThreadgroup: [FUSED_THREADS, 1, 1],
        buffers: ["maxima", "sums", "numerators", "out", "lse"],
        params,
        threadgroupMemory: [],
      },
    ],
    contracts: [
      contract(
        "gqa_fused_partial",
        FUSED_THREADS,
        tileBytes,
        "eight simdgroups, one per query head, share four staged K and V rows; with fewer launchable threads the " +
          "candidate fails, it never falls back to a layout that reads K and V again",
      ),
      contract("gqa_fused_merge", FUSED_THREADS, 0, "thread p takes the scalars of partition p, up to 256 partitions"),
    ],
    scratchBytes: scratchBytes(buffers),
  };
}

/** One dispatch. Scratch: heads x live scores, f32. */
export function planNaive(shape: DecodeShape): RoutePlan {
  requireAll("naive", decodePredicates(shape));
  const { heads, live } = shape;
  const buffers = [...inputs(shape), routeBuffer("scores", "scratch", "f32", [heads, live]), ...outputs(shape)];
  return {
    route: "naive",
    source: "gqa_decode/naive.metal",
    includes: ["gqa_decode/decode.h"],
    defines: defines(shape),
    buffers,
    dispatches: [
      {
        stage: "attention",
        kernel: "gqa_naive",
        threadgroups: [heads, 1, 1],
        threadsPerThreadgroup: [NAIVE_THREADS, 1, 1],
        buffers: ["q", "k", "v", "scores", "out", "lse"],
        params: decodeParams(shape, 0),
        threadgroupMemory: [],
      },
    ],
    contracts: [contract("gqa_naive", NAIVE_THREADS, 0, "one threadgroup owns a query head")],
    scratchBytes: scratchBytes(buffers),
  };
}
