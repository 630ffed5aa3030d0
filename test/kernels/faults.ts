/**
 * Deliberately wrong kernels: each fault is a patch of a real source. They show that parity gates catch the mistakes
 * that kernels are prone to.
 */
import type { Operator } from "../../kernels/route.ts";

export interface Fault {
  readonly name: string;
  readonly operator: Operator;
  /** A route whose plan uses the file. */
  readonly route: string;
  /** File below `kernels/`. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The mistake in words, and which cases show it. */
  readonly what: string;
}

/** The source with the fault. Throws unless the pattern occurs exactly once. */
export function applyFault(fault: Fault, text: string): string {
  const parts = text.split(fault.find);
  if (parts.length !== 2) {
    throw new Error(`${fault.name}: the pattern occurs ${parts.length - 1} times in ${fault.file}, not once`);
  }
  return parts.join(fault.replace);
}

const FUSED = { operator: "gqa_decode", route: "fused_split_kv_p32", file: "gqa_decode/fused_split_kv.metal" } as const;
const THREE_STAGE = { operator: "gqa_decode", route: "three_stage", file: "gqa_decode/three_stage.metal" } as const;
const STAGES = { operator: "gqa_decode", route: "three_stage", file: "gqa_decode/stages.h" } as const;
const PREFILL = { operator: "mla_prefill", route: "simdgroup_8x8" } as const;

export const FAULTS: readonly Fault[] = [
  {
    ...FUSED,
    name: "fused_last_token_dropped",
    find: "const uint end = partition_start(params.live, params.partitions, partition + 1);",
    replace:
      "const uint end = min(max(params.live, 1u) - 1, partition_start(params.live, params.partitions, partition + 1));",
    what: "the last live token takes no part; at 8,192 tokens only an input whose last token carries weight shows it",
  },
  {
    ...FUSED,
    name: "fused_partition_edge_dropped",
    find: "const uint end = partition_start(params.live, params.partitions, partition + 1);",
    replace:
      "const uint end = partition_start(params.live, params.partitions, partition + 1) - " +
      "uint(partition == 5 && params.live >= 6 * params.partitions);",
    what: "the last row of partition 5 takes no part; inputs whose partition edges carry weight show it",
  },
  {
    ...FUSED,
    name: "fused_wrong_head_mapping",
    find: "const uint head = kv_head * HEADS_PER_KV + simdgroup;",
    replace: "const uint head = simdgroup * params.kv_heads + kv_head;",
    what: "query head h reads KV head h mod Hk instead of h / (H / Hk); one KV head hides it",
  },
  {
    ...FUSED,
    name: "fused_wrong_scale",
    find: "score = simd_sum_of_four(score) * params.scale;",
    replace: "score = simd_sum_of_four(score) * params.scale * 0.04419417382f;",
    what: "the scores are multiplied by 512^-0.5 a second time",
  },
  {
    ...FUSED,
    name: "fused_missing_rescale",
    find: "float4 x = numerator[i] * rescale;",
    replace: "float4 x = numerator[i];",
    what: "the numerator is not rescaled when the maximum rises; a first tile that holds the maximum hides it",
  },
  {
    ...FUSED,
    name: "fused_missing_merge_rescale",
    find: "threadgroup_sum(partition_sum * weight, slots,",
    replace: "threadgroup_sum(partition_sum, slots,",
    what: "the denominators of the partitions are added without rescaling",
  },
  {
    ...FUSED,
    name: "fused_missing_barrier",
    find: "    threadgroup_barrier(mem_flags::mem_threadgroup);\n\n    // Four scores",
    replace: "    // Four scores",
    what: "the staged rows are read before every thread has written its part",
  },
  {
    ...THREE_STAGE,
    name: "value_partition_edge_dropped",
    find: "const uint end = partition_start(params.live, VALUE_PARTITIONS, group.y + 1);",
    replace:
      "const uint end = partition_start(params.live, VALUE_PARTITIONS, group.y + 1) - " +
      "uint(group.y == 5 && params.live >= 6 * VALUE_PARTITIONS);",
    what: "the last row of value partition 5 takes no part",
  },
  {
    ...STAGES,
    name: "normalise_without_maximum",
    find: "const float base = softmax_base(maximum);",
    replace: "const float base = 0.0f;",
    what: "the maximum is not subtracted before exp; only large scores show it",
  },
  {
    ...PREFILL,
    file: "mla_prefill/sequence.h",
    name: "prefill_diagonal_dropped",
    find: "return clamp(sequence.offset + index + 1, 0, sequence.key_count);",
    replace: "return clamp(sequence.offset + index, 0, sequence.key_count);",
    what: "a query does not see its own position",
  },
  {
    ...PREFILL,
    file: "mla_prefill/sequence.h",
    name: "prefill_ragged_bounds_ignored",
    find: "sequence.key_start = cu_seqlens_k[index];\n  sequence.key_count = cu_seqlens_k[index + 1] - sequence.key_start;",
    replace: "sequence.key_count = cu_seqlens_k[index + 1] - cu_seqlens_k[index];\n  sequence.key_start = 0;",
    what: "every sequence reads the keys of the first one; a batch of one hides it",
  },
  {
    ...PREFILL,
    file: "mla_prefill/prefill.h",
    name: "prefill_missing_rescale",
    find: "        Fragment::rescale(output[i], factor);\n",
    replace: "        (void)factor;\n",
    what: "the output is not rescaled when the maximum rises; sequences of up to 32 keys hide it",
  },
  {
    ...PREFILL,
    file: "mla_prefill/prefill.h",
    name: "prefill_missing_barrier",
    find: "sequence.key_count, chunk * VALUE_CHUNK, thread_index);\n      threadgroup_barrier(mem_flags::mem_threadgroup);\n",
    replace: "sequence.key_count, chunk * VALUE_CHUNK, thread_index);\n",
    what: "the staged values are read before every thread has written its part",
  },
  {
    ...PREFILL,
    file: "mla_prefill/fragment_8x8.h",
    name: "prefill_wrong_row_reduction",
    find: "return max(x, simd_shuffle_xor(x, 8));",
    replace: "return max(x, simd_shuffle_xor(x, 2));",
    what: "the row maximum is taken over lanes of a neighbouring row; the weights of a row then differ in their base",
  },
  {
    ...PREFILL,
    file: "mla_prefill/prefill.h",
    name: "prefill_wrong_rope_row",
    find: "const HeadRows key_rope = head_rows(k_rope, sequence.key_start, 1, 0, ROPE_DIM);",
    replace: "const HeadRows key_rope = head_rows(k_rope, 0, 1, 0, ROPE_DIM);",
    what: "the shared rope keys are read from the start of the batch",
  },
];
