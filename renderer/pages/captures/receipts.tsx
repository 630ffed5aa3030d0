/** Resource receipts: what each pipeline of the route reports and dispatches, against the contract. */
import type { ReactElement } from "react";
import type { DispatchCheck } from "../../../kernels/contract.ts";
import { Glyph } from "../../parts/glyph.tsx";
import type { ReceiptCell, ReceiptRow } from "./receipt_table.ts";

function Cell({ cell, span }: { readonly cell: ReceiptCell; readonly span: number }): ReactElement {
  const { text, held, title } = cell;
  return (
    <td className={held === false ? "num bad" : "num"} colSpan={span} title={title}>
      <span className={held === false ? "receipt fail b" : held === null ? "receipt t3" : "receipt"}>
        {text}
        {held === null ? null : <Glyph name={held ? "pass" : "fail"} />}
        {held === null ? null : <span className="sr">{held ? "held" : "failed"}</span>}
      </span>
    </td>
  );
}

interface ReceiptsProps {
  readonly dispatches: readonly DispatchCheck[];
  readonly rows: readonly ReceiptRow[];
  /** The pipeline that the estimate is about. */
  readonly stage: string;
  /** Stages that are no part of the route. */
  readonly variants: readonly string[];
  readonly onStage: (stage: string) => void;
}

export function Receipts({ dispatches, rows, stage, variants, onStage }: ReceiptsProps): ReactElement {
  return (
    <div className="body scroll">
      <table className="tbl receipts" data-table="receipts">
        <thead>
          <tr>
            <th>requirement</th>
            <th className="num">contract</th>
            {dispatches.map((dispatch) => (
              <th key={dispatch.stage} className="num" aria-current={dispatch.stage === stage}>
                <button
                  type="button"
                  className={dispatch.stage === stage ? "colpick on" : "colpick"}
                  aria-pressed={dispatch.stage === stage}
                  title={`${dispatch.kernel}: estimate the occupancy of this pipeline`}
                  onClick={() => onStage(dispatch.stage)}
                >
                  {dispatch.stage}
                  {variants.includes(dispatch.stage) ? <span className="t3">, what if</span> : null}
                </button>
              </th>
            ))}
            <th>known by</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, title, contract, cells, by }) => (
            <tr key={id} data-requirement={id}>
              <td>{title}</td>
              <td className="num t2" title={contract}>
                {contract}
              </td>
              {cells.map((cell, index) => (
                <Cell
                  key={dispatches[index]!.stage}
                  cell={cell}
                  span={cells.length === 1 ? Math.max(1, dispatches.length) : 1}
                />
              ))}
              <td className="t3">{by}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
