/**
 * Mutants with a meaning: the mistakes that attention kernels are prone to, each a change of one place in a real source.
 * The pattern must occur exactly once, so that an edit of a kernel cannot leave a mutant behind that changes nothing.
 */
import type { Operator } from "../../kernels/route.ts";
import { lineOf, type Mutant, type MutantClass, short } from "./mutant.ts";

export interface Planted {
  readonly name: string;
  readonly class: MutantClass;
  readonly operator: Operator;
  /** File below `kernels/`. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The mistake in words, and what hides it. */
  readonly what: string;
}

const FUSED = { operator: "gqa_decode", file: "gqa_decode/fused_split_kv.metal" } as const;
const THREE_STAGE = { operator: "gqa_decode", file: "gqa_decode/three_stage.metal" } as const;
const STAGED = { operator: "gqa_decode", file: "gqa_decode/three_stage_staged.metal" } as const;
const STAGES = { operator: "gqa_decode", file: "gqa_decode/stages.h" } as const;
const DECODE = { operator: "gqa_decode", file: "gqa_decode/decode.h" } as const;
const NAIVE = { operator: "gqa_decode", file: "gqa_decode/naive.metal" } as const;
const PREFILL = { operator: "mla_prefill", file: "mla_prefill/prefill.h" } as const;
const FRAGMENT = { operator: "mla_prefill", file: "mla_prefill/fragment_8x8.h" } as const;
const SEQUENCE = { operator: "mla_prefill", file: "mla_prefill/sequence.h" } as const;
const PLAIN = { operator: "mla_prefill", file: "mla_prefill/naive.metal" } as const;

export const PLANTED: readonly Planted[] = [
  {
    ...FUSED,
    class: "last_token",
    name: "fused_last_token",
    find: "const uint end = partition_start(params.live, params.partitions, partition + 1);",
    replace:
      "const uint end = min(max(params.live, 1u) - 1, partition_start(params.live, params.partitions, partition + 1));",
    what: "the last live token takes no part; only an input whose last token carries weight shows it at 8,192 tokens",
  },
  {
    ...FUSED,
    class: "partition",
    name: "fused_partition_edge",
    find: "const uint end = partition_start(params.live, params.partitions, partition + 1);",
    replace:
      "const uint end = partition_start(params.live, params.partitions, partition + 1) - " +
      "uint(partition == 5 && params.live >= 6 * params.partitions);",
    what: "the last row of partition 5 takes no part",
  },
  {
    ...FUSED,
    class: "partition",
    name: "fused_merge_drops_partition",
    find: "for (uint partition = 0; partition < params.partitions; ++partition) {",
    replace: "for (uint partition = 0; partition + 1 < params.partitions; ++partition) {",
    what: "the merge leaves out the last partition's numerator",
  },
  {
    ...FUSED,
    class: "partition",
    name: "fused_merge_drops_scalars",
    find: "if (thread_index < params.partitions) {",
    replace: "if (thread_index + 1 < params.partitions) {",
    what: "the merge leaves out the last partition's maximum and sum",
  },
  {
    ...FUSED,
    class: "head_mapping",
    name: "fused_head_mapping",
    find: "const uint head = kv_head * HEADS_PER_KV + simdgroup;",
    replace: "const uint head = simdgroup * params.kv_heads + kv_head;",
    what: "query head h reads KV head h mod Hk; one KV head hides it",
  },
  {
    ...FUSED,
    class: "scale",
    name: "fused_scale_twice",
    find: "score = simd_sum_of_four(score) * params.scale;",
    replace: "score = simd_sum_of_four(score) * params.scale * 0.04419417382f;",
    what: "the scores are multiplied by 512^-0.5 a second time",
  },
  {
    ...FUSED,
    class: "rescale",
    name: "fused_numerator_rescale",
    find: "float4 x = numerator[i] * rescale;",
    replace: "float4 x = numerator[i];",
    what: "the numerator is not rescaled when the maximum rises",
  },
  {
    ...FUSED,
    class: "rescale",
    name: "fused_denominator_rescale",
    find: "sum = sum * rescale + sum_of(weight);",
    replace: "sum = sum + sum_of(weight);",
    what: "the denominator is not rescaled when the maximum rises",
  },
  {
    ...FUSED,
    class: "rescale",
    name: "fused_merge_denominator_rescale",
    find: "threadgroup_sum(partition_sum * weight, slots,",
    replace: "threadgroup_sum(partition_sum, slots,",
    what: "the denominators of the partitions are added without rescaling",
  },
  {
    ...FUSED,
    class: "rescale",
    name: "fused_merge_numerator_rescale",
    find: "x += weights[partition] * ((device const float2*)numerators)",
    replace: "x += ((device const float2*)numerators)",
    what: "the numerators of the partitions are added without rescaling",
  },
  {
    ...FUSED,
    class: "stale_partial",
    name: "fused_empty_partition_unwritten",
    find: "destination[i * SIMD_WIDTH + lane] = numerator[i];",
    replace: "if (begin < end) destination[i * SIMD_WIDTH + lane] = numerator[i];",
    what: "an empty partition leaves its numerator as it was; the merge reads it",
  },
  {
    ...FUSED,
    class: "stale_partial",
    name: "fused_empty_scalars_unwritten",
    find: "if (lane == 0) {\n    maxima[state] = maximum;",
    replace: "if (lane == 0 && begin < end) {\n    maxima[state] = maximum;",
    what: "an empty partition leaves its maximum and sum as they were",
  },
  {
    ...FUSED,
    class: "bounds",
    name: "fused_masked_tail",
    find: "score = select(float4(-INFINITY), score, uint4(0, 1, 2, 3) < uint4(count));",
    replace: "",
    what: "rows of a tile beyond the partition take part with the score of a zero key",
  },
  {
    ...FUSED,
    class: "strides",
    name: "fused_value_quad",
    find: "x += weight.y * tile_values[ROW_QUADS + quad];",
    replace: "x += weight.y * tile_values[quad];",
    what: "the second token's weight multiplies the first token's value",
  },
  {
    ...FUSED,
    class: "strides",
    name: "fused_keys_for_values",
    find: "value = values[source];",
    replace: "value = keys[source];",
    what: "K is read for V",
  },
  {
    ...DECODE,
    class: "rescale",
    name: "decode_softmax_base",
    find: "return maximum == -INFINITY ? 0.0f : maximum;",
    replace: "return maximum;",
    what: "a row without a finite score subtracts -inf from -inf",
  },
  {
    ...DECODE,
    class: "strides",
    name: "decode_row_stride",
    find: "return ((ulong)token * kv_heads + kv_head) * ROW_QUADS;",
    replace: "return ((ulong)kv_head * kv_heads + token) * ROW_QUADS;",
    what: "the strides of token and KV head are swapped",
  },
  {
    ...DECODE,
    class: "partition",
    name: "decode_partition_floor",
    find: "const uint tokens = (live + partitions - 1) / partitions;",
    replace: "const uint tokens = max(live / partitions, 1u);",
    what: "partitions are cut by the floor rule, so that the tail belongs to none; multiples of the partitions hide it",
  },
  {
    ...STAGES,
    class: "head_mapping",
    name: "score_head_mapping",
    find: "const uint head = kv_head * HEADS_PER_KV + simdgroup;",
    replace: "const uint head = simdgroup * params.kv_heads + kv_head;",
    what: "query head h reads KV head h mod Hk; one KV head hides it",
  },
  {
    ...STAGES,
    class: "scale",
    name: "score_without_scale",
    find: "score = simd_sum_of_four(score) * params.scale;",
    replace: "score = simd_sum_of_four(score);",
    what: "the scores are not scaled; a scale of 1 hides it",
  },
  {
    ...STAGES,
    class: "last_token",
    name: "score_last_token",
    find: "const uint end = min(params.live, begin + SCORE_BLOCK);",
    replace: "const uint end = min(max(params.live, 1u) - 1, begin + SCORE_BLOCK);",
    what: "the last live token gets no score",
  },
  {
    ...STAGES,
    class: "rescale",
    name: "normalise_without_maximum",
    find: "const float base = softmax_base(maximum);",
    replace: "const float base = 0.0f;",
    what: "the maximum is not subtracted before exp; only large scores show it",
  },
  {
    ...STAGES,
    class: "scale",
    name: "normalise_without_sum",
    find: "row[token] *= inverse;",
    replace: "row[token] *= 1.0f;",
    what: "the weights are not divided by their sum",
  },
  {
    ...STAGES,
    class: "partition",
    name: "reduce_drops_partition",
    find: "for (uint partition = 0; partition < VALUE_PARTITIONS; ++partition) {",
    replace: "for (uint partition = 0; partition + 1 < VALUE_PARTITIONS; ++partition) {",
    what: "the last partial is not added",
  },
  {
    ...STAGES,
    class: "stale_partial",
    name: "reduce_stale_partial",
    find: "sum += partials[(ulong)partition * elements + index];",
    replace: "sum += partials[(ulong)max(partition, 1u) * elements + index];",
    what: "partial 1 is added twice and partial 0 never",
  },
  {
    ...STAGES,
    class: "fragment",
    name: "value_lane_exchange",
    find: "x += simd_shuffle_xor(x, 16);",
    replace: "x += simd_shuffle_xor(x, 4);",
    what: "sums are exchanged with a lane of another column",
  },
  {
    ...THREE_STAGE,
    class: "partition",
    name: "value_partition_edge",
    find: "const uint end = partition_start(params.live, VALUE_PARTITIONS, group.y + 1);",
    replace:
      "const uint end = partition_start(params.live, VALUE_PARTITIONS, group.y + 1) - " +
      "uint(group.y == 5 && params.live >= 6 * VALUE_PARTITIONS);",
    what: "the last row of value partition 5 takes no part",
  },
  {
    ...THREE_STAGE,
    class: "strides",
    name: "value_weight_stride",
    find: "held[g] += head_weights[(ulong)g * params.live + token] * x;",
    replace: "held[g] += head_weights[(ulong)g + HEADS_PER_KV * token] * x;",
    what: "the strides of head and token in the weights are swapped",
  },
  {
    ...STAGED,
    class: "last_token",
    name: "staged_last_token",
    find: "const uint end = partition_start(params.live, VALUE_PARTITIONS, group.y + 1);",
    replace:
      "const uint end = min(max(params.live, 1u) - 1, partition_start(params.live, VALUE_PARTITIONS, group.y + 1));",
    what: "the last live token's value takes no part",
  },
  {
    ...STAGED,
    class: "strides",
    name: "staged_transposed",
    find: "staged_floats[token * HEAD_QUADS * 4 + g] = x;",
    replace: "staged_floats[g * STAGED_TOKENS + token] = x;",
    what: "the weights are staged as they came, not transposed",
  },
  {
    ...NAIVE,
    class: "head_mapping",
    name: "naive_head_mapping",
    find: "const uint kv_head = head / HEADS_PER_KV;",
    replace: "const uint kv_head = head % params.kv_heads;",
    what: "query head h reads KV head h mod Hk; one KV head hides it",
  },
  {
    ...NAIVE,
    class: "last_token",
    name: "naive_last_token",
    find: "const uint end = partition_start(params.live, NAIVE_SIMDGROUPS, simdgroup + 1);",
    replace:
      "const uint end = min(max(params.live, 1u) - 1, partition_start(params.live, NAIVE_SIMDGROUPS, simdgroup + 1));",
    what: "the last live token's value takes no part",
  },
  {
    ...PREFILL,
    class: "rescale",
    name: "prefill_output_rescale",
    find: "        Fragment::rescale(output[i], factor);\n",
    replace: "        (void)factor;\n",
    what: "the output is not rescaled when the maximum rises; sequences of up to 32 keys hide it",
  },
  {
    ...PREFILL,
    class: "rescale",
    name: "prefill_sum_rescale",
    find: "sum = sum * factor + Fragment::row_sum(block_sum);",
    replace: "sum = sum + Fragment::row_sum(block_sum);",
    what: "the denominator is not rescaled when the maximum rises",
  },
  {
    ...PREFILL,
    class: "rope_head",
    name: "prefill_rope_of_a_head",
    find: "const HeadRows key_rope = head_rows(k_rope, sequence.key_start, 1, 0, ROPE_DIM);",
    replace: "const HeadRows key_rope = head_rows(k_rope, sequence.key_start, 1, head, ROPE_DIM);",
    what: "the shared rope key is taken from the row of another token, as if each head had its own",
  },
  {
    ...PREFILL,
    class: "rope_head",
    name: "prefill_rope_from_batch_start",
    find: "const HeadRows key_rope = head_rows(k_rope, sequence.key_start, 1, 0, ROPE_DIM);",
    replace: "const HeadRows key_rope = head_rows(k_rope, 0, 1, 0, ROPE_DIM);",
    what: "the shared rope keys are read from the start of the batch; a batch of one hides it",
  },
  {
    ...PREFILL,
    class: "strides",
    name: "prefill_value_stride",
    find: "const HeadRows values = head_rows(v, sequence.key_start, params.heads, head, VALUE_DIM);",
    replace: "const HeadRows values = head_rows(v, sequence.key_start, params.heads, head, NOPE_DIM);",
    what: "V is walked with K's stride; equal widths hide it",
  },
  {
    ...PREFILL,
    class: "strides",
    name: "prefill_key_stride",
    find: "const HeadRows key_nope = head_rows(k_nope, sequence.key_start, params.heads, head, NOPE_DIM);",
    replace: "const HeadRows key_nope = head_rows(k_nope, sequence.key_start, params.heads, head, VALUE_DIM);",
    what: "K is walked with V's stride; equal widths hide it",
  },
  {
    ...PREFILL,
    class: "head_mapping",
    name: "prefill_value_head",
    find: "const HeadRows values = head_rows(v, sequence.key_start, params.heads, head, VALUE_DIM);",
    replace: "const HeadRows values = head_rows(v, sequence.key_start, params.heads, 0, VALUE_DIM);",
    what: "every head reads the values of head 0; one head hides it",
  },
  {
    ...PREFILL,
    class: "fragment",
    name: "prefill_key_not_transposed",
    find: "Fragment::load_transposed(right, stage + j * SIDE * KEY_STRIDE + i * SIDE, KEY_STRIDE);",
    replace: "Fragment::load(right, stage + j * SIDE * KEY_STRIDE + i * SIDE, KEY_STRIDE);",
    what: "the key fragment is loaded as it lies, not transposed",
  },
  {
    ...PREFILL,
    class: "fragment",
    name: "prefill_value_transposed",
    find: "Fragment::load(right, stage + j * SIDE * VALUE_STRIDE + i * SIDE, VALUE_STRIDE);",
    replace: "Fragment::load_transposed(right, stage + j * SIDE * VALUE_STRIDE + i * SIDE, VALUE_STRIDE);",
    what: "the value fragment is loaded transposed",
  },
  {
    ...PREFILL,
    class: "stale_partial",
    name: "prefill_stale_stage",
    find: "stage_values(stage, values, first_key, sequence.key_count, chunk * VALUE_CHUNK, thread_index);",
    replace:
      "if (chunk == 0 || first_key == 0) stage_values(stage, values, first_key, sequence.key_count, chunk * VALUE_CHUNK, thread_index);",
    what: "later blocks multiply with values that an earlier stage left there",
  },
  {
    ...FRAGMENT,
    class: "fragment",
    name: "fragment_row_reduction",
    find: "return max(x, simd_shuffle_xor(x, 8));",
    replace: "return max(x, simd_shuffle_xor(x, 2));",
    what: "the row maximum is taken over lanes of a neighbouring row",
  },
  {
    ...FRAGMENT,
    class: "fragment",
    name: "fragment_row_sum",
    find: "return x + simd_shuffle_xor(x, 8);",
    replace: "return x + simd_shuffle_xor(x, 2);",
    what: "the row sum is taken over lanes of a neighbouring row",
  },
  {
    ...FRAGMENT,
    class: "fragment",
    name: "fragment_swapped_ownership",
    find: "return ((lane & 1) << 1) + ((lane & 8) >> 1);",
    replace: "return ((lane & 1) << 2) + ((lane & 8) >> 2);",
    what: "a lane takes itself for the owner of another column",
  },
  {
    ...FRAGMENT,
    class: "scale",
    name: "fragment_without_scale",
    find: "float y = score.thread_elements()[1] * scale;",
    replace: "float y = score.thread_elements()[1];",
    what: "every second score is not scaled",
  },
  {
    ...SEQUENCE,
    class: "last_token",
    name: "prefill_diagonal",
    find: "return clamp(sequence.offset + index + 1, 0, sequence.key_count);",
    replace: "return clamp(sequence.offset + index, 0, sequence.key_count);",
    what: "a query does not see its own position",
  },
  {
    ...SEQUENCE,
    class: "bounds",
    name: "prefill_ragged_bounds",
    find: "sequence.key_start = cu_seqlens_k[index];\n  sequence.key_count = cu_seqlens_k[index + 1] - sequence.key_start;",
    replace: "sequence.key_count = cu_seqlens_k[index + 1] - cu_seqlens_k[index];\n  sequence.key_start = 0;",
    what: "every sequence reads the keys of the first one; a batch of one hides it",
  },
  {
    ...SEQUENCE,
    class: "rescale",
    name: "prefill_softmax_base",
    find: "return maximum == -INFINITY ? 0.0f : maximum;",
    replace: "return maximum;",
    what: "a row without a visible key subtracts -inf from -inf",
  },
  {
    ...PLAIN,
    class: "rope_head",
    name: "plain_rope_of_a_head",
    find: "k_rope + key_token * ROPE_DIM",
    replace: "k_rope + (key_token + head) * ROPE_DIM",
    what: "the shared rope key is taken from the row of another token",
  },
  {
    ...PLAIN,
    class: "scale",
    name: "plain_scale_of_nope",
    find: "const float score = (nope + rope) * params.scale;",
    replace: "const float score = nope * params.scale + rope;",
    what: "the rope part is not scaled",
  },
];

/** The mutant of a planted fault. Throws unless its pattern occurs exactly once. */
export function plantedMutant(fault: Planted, text: string): Mutant {
  const parts = text.split(fault.find);
  if (parts.length !== 2) {
    throw new Error(`${fault.name}: its pattern occurs ${parts.length - 1} times in ${fault.file}, not once`);
  }
  const line = lineOf(text, text.indexOf(fault.find));
  return {
    id: fault.name,
    class: fault.class,
    operator: fault.operator,
    file: fault.file,
    line,
    was: short(fault.find),
    now: short(fault.replace),
    what: fault.what,
    text: parts.join(fault.replace),
  };
}
