/**
 * Deliberately wrong kernels: patches of real sources, most of them mutants of the campaign, each with a route that runs
 * it. They show that parity gates catch the mistakes that kernels are prone to.
 */
import { PLANTED } from "../../electron/mutation/planted.ts";
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

/** Fault, the planted mutant that it is, and a route that shows it. */
const OF_PLANTED: readonly (readonly [name: string, planted: string, route: string])[] = [
  ["fused_last_token_dropped", "fused_last_token", "fused_split_kv_p32"],
  ["fused_partition_edge_dropped", "fused_partition_edge", "fused_split_kv_p32"],
  ["fused_wrong_head_mapping", "fused_head_mapping", "fused_split_kv_p32"],
  ["fused_wrong_scale", "fused_scale_twice", "fused_split_kv_p32"],
  ["fused_missing_rescale", "fused_numerator_rescale", "fused_split_kv_p32"],
  ["fused_missing_merge_rescale", "fused_merge_denominator_rescale", "fused_split_kv_p32"],
  ["value_partition_edge_dropped", "value_partition_edge", "three_stage"],
  ["normalise_without_maximum", "normalise_without_maximum", "three_stage"],
  ["prefill_diagonal_dropped", "prefill_diagonal", "simdgroup_8x8"],
  ["prefill_ragged_bounds_ignored", "prefill_ragged_bounds", "simdgroup_8x8"],
  ["prefill_missing_rescale", "prefill_output_rescale", "simdgroup_8x8"],
  ["prefill_wrong_row_reduction", "fragment_row_reduction", "simdgroup_8x8"],
  ["prefill_wrong_rope_row", "prefill_rope_from_batch_start", "simdgroup_8x8"],
];

/** Barriers that the campaign finds by their place; here they are found by what stands beside them. */
const BARRIERS: readonly Fault[] = [
  {
    operator: "gqa_decode",
    route: "fused_split_kv_p32",
    file: "gqa_decode/fused_split_kv.metal",
    name: "fused_missing_barrier",
    find: "    threadgroup_barrier(mem_flags::mem_threadgroup);\n\n    // Four scores",
    replace: "    // Four scores",
    what: "the staged rows are read before every thread has written its part",
  },
  {
    operator: "mla_prefill",
    route: "simdgroup_8x8",
    file: "mla_prefill/prefill.h",
    name: "prefill_missing_barrier",
    find: "sequence.key_count, chunk * VALUE_CHUNK, thread_index);\n      threadgroup_barrier(mem_flags::mem_threadgroup);\n",
    replace: "sequence.key_count, chunk * VALUE_CHUNK, thread_index);\n",
    what: "the staged values are read before every thread has written its part",
  },
];

function ofPlanted([name, planted, route]: (typeof OF_PLANTED)[number]): Fault {
  const found = PLANTED.find((entry) => entry.name === planted);
  if (found === undefined) throw new Error(`${name}: there is no planted mutant ${planted}`);
  const { operator, file, find, replace, what } = found;
  return { name, operator, route, file, find, replace, what };
}

export const FAULTS: readonly Fault[] = [...OF_PLANTED.map(ofPlanted), ...BARRIERS];
