/**
 * The boundary set: lengths at tile and partition edges, heavy tokens at the ends, adversarial scores and values, chunked
 * and ragged prefill. A claim reaches the level `boundary` only if every case of its operator and dtype is in the run.
 */
import type { KernelDtype, Operator } from "../../kernels/route.ts";

const DECODE_GENERATED = [
  "L1.spread",
  "L2.spread",
  "L31.spread",
  "L33.spread",
  "L127.spread",
  "L1023.spread",
  "L1023.tail4",
  "L8191.tail4",
  "L8191.edges32",
  "L8192.tail4",
  "L8192.edges32",
  "L8192.peaky",
  "L8193.tail4",
  "L8193.edges32",
] as const;

/** Cases of `softmax_stress`, without those whose rows differ in length. */
const SOFTMAX_STRESS = [
  "uniform_scores_1e4",
  "offset_plus_1e4",
  "offset_minus_1e4",
  "all_zero",
  "all_plus_1e4",
  "all_minus_1e4",
  "all_minus_3e38",
  "dominant_first_12",
  "dominant_first_1e4",
  "dominant_last_12",
  "dominant_last_1e4",
  "dominant_middle_12",
  "dominant_middle_1e4",
  "dominant_partition0_of4",
  "dominant_partition1_of4",
  "dominant_partition2_of4",
  "dominant_partition3_of4",
  "increasing",
  "increasing_steep",
  "decreasing",
  "decreasing_steep",
  "alternating_50",
  "two_equal_maxima",
  "scores_denormal",
  "v_denormal",
  "weights_denormal",
  "exp_edge",
  "flt_max_pair",
  "random_mask",
  "first_half_masked",
  "last_half_masked",
  "single_live",
  "rows_fully_masked",
  "v_large_cancel",
  "v_1e30",
] as const;

const GQA_STRESS = [
  "gqa.scores_1e4",
  "gqa.q_zero",
  "gqa.first_and_last",
  "gqa.kv_denormal",
  "gqa.cancelling_dot",
  "gqa.offset_1e4",
] as const;

const MLA_STRESS = [
  "mla.prefix_mean",
  "mla.rope_only",
  "mla.nope_only",
  "mla.scores_1e4",
  "mla.first_last",
  "mla.offset_1e4",
] as const;

const MLA_X16 = [
  "mla_prefill_t77_h4_x16",
  "mla_prefill_ragged_h2_x16",
  "mla_prefill_t77_h4_x16.chunk1",
  "mla_prefill_t77_h4_x16.chunk13",
] as const;

/** Rows that see no key, in every dtype. Not in the set of bundles before edition 2. */
const BLIND = ["blind_rows.before_keys", "blind_rows.no_keys"] as const;

/** Changes with the set: what an earlier bundle claims follows from the edition that it was written with. */
export const BOUNDARY_EDITIONS = [1, 2] as const;
export type BoundaryEdition = (typeof BOUNDARY_EDITIONS)[number];

const BOUNDARY: Readonly<Record<Operator, Readonly<Record<KernelDtype, readonly string[]>>>> = {
  gqa_decode: {
    f32: [
      ...DECODE_GENERATED,
      ...SOFTMAX_STRESS.map((name) => `softmax_stress.${name}`),
      ...GQA_STRESS.map((name) => `attention_stress.${name}`),
    ],
    f16: [],
    bf16: [],
  },
  mla_prefill: {
    f32: [
      "mla_prefill_t77_h4_f32",
      "mla_prefill_ragged_h3_f32",
      "mla_prefill_t77_h4_f32.chunk1",
      "mla_prefill_t77_h4_f32.chunk8",
      "mla_prefill_t77_h4_f32.chunk33",
      ...MLA_X16,
      ...MLA_STRESS.map((name) => `attention_stress.${name}`),
      ...BLIND,
    ],
    f16: [...MLA_X16, ...BLIND],
    bf16: [...MLA_X16, ...BLIND],
  },
};

/** Aliases of the boundary set. Empty where none is defined, and then no claim reaches `boundary`. */
export function boundarySet(operator: Operator, dtype: KernelDtype, edition: BoundaryEdition = 2): readonly string[] {
  const set = BOUNDARY[operator][dtype];
  return edition === 1 ? set.filter((alias) => !BLIND.some((blind) => blind === alias)) : set;
}
