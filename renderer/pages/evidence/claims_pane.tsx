/** The claims: computed from records, never typed. */
import type { ReactElement } from "react";
import { PaneHead } from "../../parts/pane.tsx";
import { Pips } from "../../parts/pips.tsx";
import { STANDING_TITLES, type Standing } from "../../parts/standing.tsx";
import { useAnswer, useRuns } from "../../state/session.ts";
import { setParams } from "../../state/view.ts";
import { type ClaimCell, type ClaimColumn, type ClaimRow, claimTable } from "./claims.ts";

const INKS: Readonly<Partial<Record<Standing, string>>> = {
  emulated: "emuink",
  virtual: "virtualink",
  unsure: "virtualink",
};
const GROUNDS: Readonly<Partial<Record<Standing, string>>> = {
  emulated: "emucol",
  virtual: "virtualcol",
  unsure: "virtualcol",
};

/** `emu m3-max`, `Apple Paravirtual device, virtual`. */
function columnTitle({ title, standing }: ClaimColumn): string {
  if (standing === "emulated") return title.replace("emulated:", "emu ");
  if (standing === "unsure") return `${title}, no chip`;
  return standing === "virtual" ? `${title}, virtual` : title;
}

function columnHint({ id, standing }: ClaimColumn): string {
  return standing === "chip" ? id : `${id}. ${STANDING_TITLES[standing]}`;
}

function Cell({
  row,
  column,
  cell,
}: {
  readonly row: ClaimRow;
  readonly column: ClaimColumn;
  readonly cell: ClaimCell | undefined;
}) {
  if (cell === undefined) {
    return <span className="t3 micro">{row.planned ? "kernel not built" : "no evidence"}</span>;
  }
  const words = `${cell.claim.provides}. Not: ${cell.claim.doesNotProvide}`;
  return (
    <button
      type="button"
      className="cell"
      title={`${words} (${cell.bundles === 1 ? "1 bundle" : `${cell.bundles} bundles`})`}
      onClick={() => setParams({ bundle: cell.bundle })}
    >
      <Pips level={cell.level} standing={column.standing} />
      <span className={`w ${INKS[column.standing] ?? ""}`}>
        {cell.level}
        {cell.validation ? ", validation" : ""}
      </span>
    </button>
  );
}

export function ClaimsPane(): ReactElement {
  const runs = useRuns() ?? [];
  const kernels = useAnswer("kernels.list", {});
  const { columns, rows } = claimTable(runs, kernels.state === "there" ? kernels.value.routes : []);
  return (
    <>
      <PaneHead
        title="Claims"
        meta="computed from the records below, never typed; emulated and virtual columns support no chip"
      />
      <div className="body scroll claims-body">
        <table className="tbl claims">
          <thead>
            <tr>
              <th>operator and route</th>
              {columns.map((column) => (
                <th
                  key={column.id}
                  className={`${GROUNDS[column.standing] ?? ""} ${INKS[column.standing] ?? ""}`}
                  title={columnHint(column)}
                >
                  {columnTitle(column)}
                </th>
              ))}
              <td className="rest" />
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td>
                  <span className="m">{row.route}</span>
                  <span className="w t3">
                    {row.operator}
                    {row.dtype === "" ? "" : `, ${row.dtype}`}
                  </span>
                </td>
                {columns.map((column) => (
                  <td key={column.id} className={GROUNDS[column.standing] ?? ""}>
                    <Cell row={row} column={column} cell={row.cells.get(column.id)} />
                  </td>
                ))}
                <td className="rest" />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
