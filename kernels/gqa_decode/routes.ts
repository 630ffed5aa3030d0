/** The decode routes: the only place that states their geometry, buffers, scratch bytes and resource needs. */
import { familyPredicate, languagePredicate, limitPredicates } from "../predicates.ts";
import type { DecodeShape, PredicateResult, Route, RouteCapabilities } from "../route.ts";
import {
  FUSED_PARTITIONS,
  FUSED_THREADS,
  fusedTileBytes,
  NAIVE_THREADS,
  NORMALISE_THREADS,
  STAGED_TOKENS,
  STATIC_BYTES,
  VALUE_PARTITIONS,
} from "./geometry.ts";
import { planFused, planNaive, planThreeStage } from "./plan.ts";
import { decodePredicates, fusedPredicates, groupSize } from "./shape.ts";

const NEEDS = "simd_sum, simd_max and simd_shuffle_xor";

function devicePredicates(
  capabilities: RouteCapabilities,
  threads: number,
  threadgroupBytes: number,
): readonly PredicateResult[] {
  return [
    familyPredicate(capabilities, NEEDS),
    languagePredicate(capabilities),
    ...limitPredicates(capabilities, threads, threadgroupBytes),
  ];
}

function threeStage(name: "three_stage" | "three_stage_staged", summary: string): Route<DecodeShape> {
  const value = name === "three_stage" ? STATIC_BYTES.gqa_value : STATIC_BYTES.gqa_value_staged;
  return {
    name,
    operator: "gqa_decode",
    summary,
    status: "built",
    // The staged value kernel begins a second block of tokens in each partition; the last one is not full.
    ...(name === "three_stage_staged" ? { loopTokens: VALUE_PARTITIONS * (STAGED_TOKENS + 4) - 13 } : {}),
    predicates: (shape, capabilities) => [
      ...decodePredicates(shape),
      ...devicePredicates(
        capabilities,
        NORMALISE_THREADS,
        Math.max(STATIC_BYTES.gqa_score(shape.dim), value(groupSize(shape))),
      ),
    ],
    plan: (shape) => planThreeStage(shape, name),
  };
}

function fused(partitions: number): Route<DecodeShape> {
  return {
    name: `fused_split_kv_p${partitions}`,
    operator: "gqa_decode",
    summary: `one pass over K and V with an online softmax in ${partitions} sequence partitions, then an exact merge`,
    status: "built",
    predicates: (shape, capabilities) => [
      ...decodePredicates(shape),
      ...fusedPredicates(shape),
      ...devicePredicates(capabilities, FUSED_THREADS, fusedTileBytes(shape.dim)),
    ],
    plan: (shape) => planFused(shape, partitions),
  };
}

const naive: Route<DecodeShape> = {
  name: "naive",
  operator: "gqa_decode",
  summary: "a threadgroup per query head, plain softmax over the full row: the route to compare with",
  status: "built",
  predicates: (shape, capabilities) => [
    ...decodePredicates(shape),
    ...devicePredicates(capabilities, NAIVE_THREADS, STATIC_BYTES.gqa_naive(shape.dim)),
  ],
  plan: planNaive,
};

/** In the order in which they are listed; the first is the production route. */
export const GQA_DECODE_ROUTES: readonly Route<DecodeShape>[] = [
  threeStage("three_stage", "score, normalise, value and reduce, with the scores in device memory"),
  threeStage("three_stage_staged", "three_stage with the weights staged in threadgroup memory: the strong baseline"),
  ...FUSED_PARTITIONS.map(fused),
  naive,
];
