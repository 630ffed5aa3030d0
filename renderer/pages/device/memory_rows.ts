/** The longest context for each size of memory, by the type of the cache. Pure. */
import {
  type BudgetQuestion,
  GIB,
  type LongestContext,
  longestContext,
  MAX_CONTEXT,
  MEMORY_SIZES_GIB,
  workingSetLimit,
} from "../../../electron/device/budget.ts";
import { countText } from "../../parts/text.ts";

/** `131,072`, `≥ 2,097,152`, `none`. */
export function longestText({ tokens, endedBy }: LongestContext): string {
  if (endedBy === "search") return `≥ ${countText(MAX_CONTEXT)}`;
  return tokens === 0 ? "none" : countText(tokens);
}

export const ROW_DTYPES = ["f32", "f16"] as const;

export interface MemoryRow {
  readonly gib: number;
  /** Low end of the estimated limit, bytes. */
  readonly limit: number;
  readonly longest: Readonly<Record<(typeof ROW_DTYPES)[number], LongestContext>>;
}

export function memoryRows(question: BudgetQuestion): readonly MemoryRow[] {
  return MEMORY_SIZES_GIB.map((gib) => {
    const limit = workingSetLimit(gib * GIB);
    const of = (dtype: (typeof ROW_DTYPES)[number]): LongestContext =>
      longestContext({ ...question, dtype }, limit.low);
    return { gib, limit: limit.low, longest: { f32: of("f32"), f16: of("f16") } };
  });
}
