/**
 * Mutants that change nothing that can be observed, each with the reason. They are listed and not counted. A mutant belongs
 * here only if the reason holds for every input, not if no case happens to show it.
 */
import type { Mutant } from "./mutant.ts";

interface Equivalent {
  readonly class: Mutant["class"];
  /** Files below `kernels/`. */
  readonly files: readonly string[];
  /** What stands at the site. */
  readonly was: string;
  /** The line before, where what stands at the site stands elsewhere as well. */
  readonly line?: string;
  readonly reason: string;
}

const SAME_VALUE =
  "every lane or thread holds the same value and writes it to the same place; the checker lists it as a benign write";

const EQUIVALENT: readonly Equivalent[] = [
  {
    class: "guard_dropped",
    files: ["gqa_decode/decode.h", "gqa_decode/fused_split_kv.metal", "mla_prefill/naive.metal"],
    was: "lane == 0",
    reason: SAME_VALUE,
  },
  {
    class: "guard_dropped",
    files: [
      "gqa_decode/fused_split_kv.metal",
      "gqa_decode/naive.metal",
      "gqa_decode/stages.h",
      "mla_prefill/naive.metal",
    ],
    was: "thread_index == 0",
    reason: SAME_VALUE,
  },
  {
    class: "barrier_removed",
    files: ["gqa_decode/decode.h"],
    line: "  x = simd_sum(lane < simdgroups ? float(slots[lane]) : 0.0f);",
    was: "threadgroup_barrier(mem_flags::mem_threadgroup);",
    reason: "no kernel uses the slots again after its sum; the barrier keeps the helper safe for one that would",
  },
  {
    class: "guard_dropped",
    files: ["mla_prefill/fragment_8x8.h"],
    was: "index < rows ? visible_keys(sequence, first_query + index) : 0",
    reason: "rows of a fragment do not touch each other, and rows behind the last one are never stored",
  },
  {
    class: "guard_dropped",
    files: ["mla_prefill/prefill.h"],
    was: "block_query >= sequence.query_count",
    reason: "it saves work: a threadgroup behind the last query has no row to store, and stages within the row counts",
  },
  {
    class: "guard_dropped",
    files: ["mla_prefill/prefill.h"],
    was: "rows > 0 ? visible_keys(sequence, first_query + rows - 1) : 0",
    reason: "it saves work: a simdgroup without rows stores nothing",
  },
  {
    class: "guard_dropped",
    files: ["mla_prefill/prefill.h"],
    was: "sees",
    reason: "it saves work: keys that no row sees get weight 0, and what is staged is finite",
  },
];

/** Why a mutant is equivalent; undefined where it is not known to be. */
export function equivalence(mutant: Mutant): string | undefined {
  const before = mutant.text.split("\n")[mutant.line - 2];
  return EQUIVALENT.find(
    (entry) =>
      entry.class === mutant.class &&
      entry.files.includes(mutant.file) &&
      entry.was === mutant.was &&
      (entry.line === undefined || entry.line === before),
  )?.reason;
}
