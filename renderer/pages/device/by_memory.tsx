/** The longest context for each size of memory, by the type of the cache. A row is a size to choose. */
import type { ReactElement } from "react";
import { GIB } from "../../../electron/device/budget.ts";
import { setParams } from "../../state/view.ts";
import { longestText, type MemoryRow, ROW_DTYPES } from "./memory_rows.ts";

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
              {ROW_DTYPES.map((dtype) => (
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
