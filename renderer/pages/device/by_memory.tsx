/** The longest context for each size of memory, by the type of the cache. A row is a size to choose. */
import type { ReactElement } from "react";
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
import { setParams } from "../../state/view.ts";

/** `131,072`, `≥ 2,097,152`, `none`. */
export function longestText({ tokens, endedBy }: LongestContext): string {
  if (endedBy === "search") return `≥ ${countText(MAX_CONTEXT)}`;
  return tokens === 0 ? "none" : countText(tokens);
}

const DTYPES = ["f32", "f16"] as const;

export interface MemoryRow {
  readonly gib: number;
  /** Low end of the estimated limit, bytes. */
  readonly limit: number;
  readonly longest: Readonly<Record<(typeof DTYPES)[number], LongestContext>>;
}

export function memoryRows(question: BudgetQuestion): readonly MemoryRow[] {
  return MEMORY_SIZES_GIB.map((gib) => {
    const limit = workingSetLimit(gib * GIB);
    const of = (dtype: (typeof DTYPES)[number]): LongestContext => longestContext({ ...question, dtype }, limit.low);
    return { gib, limit: limit.low, longest: { f32: of("f32"), f16: of("f16") } };
  });
}

interface ByMemoryProps {
  readonly rows: readonly MemoryRow[];
  readonly current: number;
}

export function ByMemory({ rows, current }: ByMemoryProps): ReactElement {
  return (
    <div className="body scroll">
      <table className="tbl fix bymemory">
        <thead>
          <tr>
            <th className="num c-gib">GiB</th>
            <th className="num">limit, GiB</th>
            <th className="num">f32 cache</th>
            <th className="num">f16 or bf16</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ gib, limit, longest }) => (
            <tr
              key={gib}
              className={gib === current ? "sel pickable" : "pickable"}
              aria-selected={gib === current}
              onClick={() => setParams({ ram: String(gib) })}
            >
              <td className="num">
                <button type="button" className="rowbtn" aria-label={`${gib} GiB of memory`}>
                  {gib}
                </button>
              </td>
              <td className="num t2">{(limit / GIB).toFixed(1)}</td>
              {DTYPES.map((dtype) => (
                <td key={dtype} className={longest[dtype].tokens === 0 ? "num fail" : "num"}>
                  {longestText(longest[dtype])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
