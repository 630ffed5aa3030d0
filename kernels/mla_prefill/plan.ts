/** The plans of the prefill routes: buffers, dispatches and resource contracts for a shape. */
import { packParams } from "../params.ts";
import { requireAll } from "../predicates.ts";
import type { PrefillShape, ResourceContract, RouteBuffer, RoutePlan } from "../route.ts";
import { ceilDiv, MSL_TYPE, routeBuffer, scratchBytes, THREADGROUP_BYTES_LIMIT } from "../sizes.ts";
import { prefillExtent, prefillPredicates, tilePredicates } from "./shape.ts";
import { KV_ROWS, PREFILL_THREADS, QUERY_ROWS, stagePlan } from "./tiles.ts";

export const NAIVE_THREADS = 128;
/** One maximum and one sum per simdgroup. */
export const NAIVE_STATIC_BYTES = 2 * (NAIVE_THREADS / 32) * 4;

/** `PrefillParams` of sequence.h. */
function prefillParams(shape: PrefillShape, scoreStride: number): Uint8Array {
  return packParams([
    { name: "heads", type: "u32", value: shape.heads },
    { name: "score_stride", type: "u32", value: scoreStride },
    { name: "scale", type: "f32", value: shape.scale },
  ]);
}

function inputs(shape: PrefillShape): readonly RouteBuffer[] {
  const { heads, nope, rope, value, dtype } = shape;
  const { sequences, queries, keys } = prefillExtent(shape);
  return [
    routeBuffer("q_nope", "input", dtype, [queries, heads, nope]),
    routeBuffer("q_rope", "input", dtype, [queries, heads, rope]),
    routeBuffer("k_nope", "input", dtype, [keys, heads, nope]),
    routeBuffer("k_rope", "input", dtype, [keys, rope]),
    routeBuffer("v", "input", dtype, [keys, heads, value]),
    routeBuffer("cu_seqlens_q", "input", "i32", [sequences + 1]),
    routeBuffer("cu_seqlens_k", "input", "i32", [sequences + 1]),
    routeBuffer("q_offset", "input", "i32", [sequences]),
  ];
}

function outputs(shape: PrefillShape): readonly RouteBuffer[] {
  const { queries } = prefillExtent(shape);
  return [
    routeBuffer("out", "output", shape.dtype, [queries, shape.heads, shape.value]),
    routeBuffer("lse", "output", "f32", [queries, shape.heads]),
  ];
}

function defines(shape: PrefillShape): Readonly<Record<string, string | number>> {
  return {
    ELEMENT: MSL_TYPE[shape.dtype],
    NOPE_DIM: shape.nope,
    ROPE_DIM: shape.rope,
    VALUE_DIM: shape.value,
  };
}

function contract(kernel: string, threads: number, dynamicThreadgroupBytes: number, reason: string): ResourceContract {
  return {
    kernel,
    simdWidth: 32,
    threads,
    dynamicThreadgroupBytes,
    threadgroupBytesLimit: THREADGROUP_BYTES_LIMIT,
    reason,
  };
}

/** One dispatch: 128 threads per (32 query rows, head, sequence). No scratch. */
export function planSimdgroup8x8(shape: PrefillShape): RoutePlan {
  requireAll("simdgroup_8x8", [...prefillPredicates(shape), ...tilePredicates(shape)]);
  const { sequences, maxQueries } = prefillExtent(shape);
  const stage = stagePlan(shape.nope + shape.rope, shape.value, shape.dtype);
  const buffers = [...inputs(shape), ...outputs(shape)];
  return {
    route: "simdgroup_8x8",
    source: "mla_prefill/simdgroup_8x8.metal",
    includes: ["mla_prefill/sequence.h", "mla_prefill/fragment_8x8.h", "mla_prefill/prefill.h"],
    defines: {
      ...defines(shape),
      KV_ROWS,
      KEY_CHUNK: stage.keyChunk,
      VALUE_CHUNK: stage.valueChunk,
      QUERY_RESIDENT: stage.queryResident ? 1 : 0,
    },
    buffers,
    dispatches: [
      {
        stage: "attention",
        kernel: "mla_prefill_8x8",
        threadgroups: [Math.max(1, ceilDiv(maxQueries, QUERY_ROWS)), shape.heads, sequences],
        threadsPerThreadgroup: [PREFILL_THREADS, 1, 1],
        buffers: buffers.map((buffer) => buffer.name),
        params: prefillParams(shape, 0),
        threadgroupMemory: [stage.bytes],
      },
    ],
    contracts: [
      contract(
        "mla_prefill_8x8",
        PREFILL_THREADS,
        stage.bytes,
        "four simdgroups of eight query rows share the staged keys and values",
      ),
    ],
    scratchBytes: scratchBytes(buffers),
  };
}

/** One dispatch: 128 threads per (query row, head). Scratch: query rows x heads x longest key sequence, f32. */
export function planNaive(shape: PrefillShape): RoutePlan {
  requireAll("naive", prefillPredicates(shape));
  const { sequences, queries, maxQueries, maxKeys } = prefillExtent(shape);
  const scores = routeBuffer("scores", "scratch", "f32", [queries, shape.heads, maxKeys]);
  const buffers = [...inputs(shape), scores, ...outputs(shape)];
  return {
    route: "naive",
    source: "mla_prefill/naive.metal",
    includes: ["mla_prefill/sequence.h"],
    defines: defines(shape),
    buffers,
    dispatches: [
      {
        stage: "attention",
        kernel: "mla_prefill_naive",
        threadgroups: [Math.max(1, maxQueries), shape.heads, sequences],
        threadsPerThreadgroup: [NAIVE_THREADS, 1, 1],
        buffers: buffers.map((buffer) => buffer.name),
        params: prefillParams(shape, maxKeys),
        threadgroupMemory: [],
      },
    ],
    contracts: [contract("mla_prefill_naive", NAIVE_THREADS, 0, "one threadgroup owns a query row of a head")],
    scratchBytes: scratchBytes(buffers),
  };
}
