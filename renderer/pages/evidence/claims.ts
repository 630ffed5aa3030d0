/** The table of claims: rows are operator, route and dtype, columns are devices, a cell is the highest level. Pure. */
import type { CallOutput } from "../../../electron/contract.ts";
import { type Level, levelRank } from "../../parts/pips.tsx";
import { underValidation } from "../../parts/run_entry.ts";
import type { Standing } from "../../parts/standing.tsx";
import type { RunEntryView } from "../../state/session.ts";

type Kept = Extract<RunEntryView, { state: "kept" }>;
type Claim = Kept["claims"][number];
type Routes = CallOutput<"kernels.list">["routes"];

export interface ClaimColumn {
  readonly id: string;
  readonly title: string;
  /** Only claims of a chip support one: what is emulated, or ran on a virtual GPU, never does. */
  readonly standing: Standing;
}

export interface ClaimCell {
  readonly claim: Claim;
  readonly level: Level;
  /** The bundle that the claim comes from. */
  readonly bundle: string;
  /** Bundles with a claim for this cell. */
  readonly bundles: number;
  /** The bundle ran under Metal's validation. */
  readonly validation: boolean;
}

export interface ClaimRow {
  readonly id: string;
  readonly operator: string;
  readonly route: string;
  readonly dtype: string;
  readonly planned: boolean;
  /** By id of the column. */
  readonly cells: ReadonlyMap<string, ClaimCell>;
}

export interface ClaimTable {
  readonly columns: readonly ClaimColumn[];
  readonly rows: readonly ClaimRow[];
}

/** Stands for all chips while there is no evidence about any. */
export const NO_CHIP: ClaimColumn = { id: "any", title: "any chip", standing: "chip" };

/** The first Metal device of every Mac is `metal:0`, so that its columns go by chip, or by name where it supports none. */
function columnOf({ deviceName, virtualGpu }: Kept, { execution, device, supportsChip }: Claim): ClaimColumn {
  if (execution !== "metal") {
    const standing = execution === "nvidia" ? "chip" : execution;
    return { id: `${execution} ${device}`, title: supportsChip ?? device, standing };
  }
  if (supportsChip !== null) return { id: `metal ${supportsChip}`, title: supportsChip, standing: "chip" };
  return { id: `metal ${deviceName}, no chip`, title: deviceName, standing: virtualGpu ? "virtual" : "unsure" };
}

function rowId(operator: string, route: string, dtype: string): string {
  return `${operator} ${route} ${dtype}`;
}

/**
 * Routes that no bundle names have a row of the dtypes that their operator's claims have, and no evidence. What another
 * engine computed comes after them, under the label of its outputs.
 */
export function claimTable(entries: readonly RunEntryView[], routes: Routes): ClaimTable {
  const columns = new Map<string, ClaimColumn>();
  const cells = new Map<string, Map<string, ClaimCell>>();
  const foreign = new Map<string, ClaimRow>();
  const dtypes = new Map<string, Set<string>>();
  for (const entry of entries) {
    if (entry.state !== "kept") continue;
    for (const claim of entry.claims) {
      const column = columnOf(entry, claim);
      columns.set(column.id, column);
      const { operator, route, dtype } = claim;
      const id = rowId(operator, route, dtype);
      const row = cells.get(id) ?? new Map<string, ClaimCell>();
      cells.set(id, row);
      if (routes.some((each) => each.operator === operator && each.name === route)) {
        dtypes.set(operator, (dtypes.get(operator) ?? new Set()).add(dtype));
      } else {
        foreign.set(id, { id, operator, route, dtype, planned: false, cells: row });
      }
      const known = row.get(column.id);
      const validation = underValidation(entry);
      const bundles = (known?.bundles ?? 0) + 1;
      const higher = known === undefined ? 1 : levelRank(claim.level) - levelRank(known.level);
      // Of two with one level the one whose pipelines nobody instrumented.
      const plainer = known?.validation === true && !validation;
      row.set(
        column.id,
        known === undefined || higher > 0 || (higher === 0 && plainer)
          ? { claim, level: claim.level, bundle: entry.id, bundles, validation }
          : { ...known, bundles },
      );
    }
  }
  const rows = routes.flatMap(({ operator, name, status }) =>
    // A kernel that is not built has one row, of no dtype.
    (status === "planned" ? [""] : [...(dtypes.get(operator) ?? ["f32"])]).map((dtype): ClaimRow => {
      const id = rowId(operator, name, dtype);
      return { id, operator, route: name, dtype, planned: status === "planned", cells: cells.get(id) ?? new Map() };
    }),
  );
  const of = (...standings: readonly Standing[]): readonly ClaimColumn[] =>
    [...columns.values()].filter(({ standing }) => standings.includes(standing));
  const real = of("chip", "imported");
  const ordered = [...(real.length > 0 ? real : [NO_CHIP]), ...of("virtual", "unsure"), ...of("emulated")];
  return { columns: ordered, rows: [...rows, ...foreign.values()] };
}
