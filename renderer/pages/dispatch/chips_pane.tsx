/** Every chip of the table and the route that it takes for this question: predicted, not run. */
import type { ReactElement } from "react";
import type { CallOutput } from "../../../electron/contract.ts";
import { FilterField } from "../../parts/filter_field.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { ShortName } from "../../parts/short_name.tsx";
import { matchWords } from "../../shell/match.ts";
import { setParams } from "../../state/view.ts";
import type { Decision } from "./words.ts";

export type Chip = CallOutput<"chips.list">["chips"][number];

interface ChipRow {
  readonly chip: Chip;
  readonly decision: Decision | null | undefined;
}

const FAMILIES = ["apple10", "apple9", "apple8", "apple7"] as const;

/** What stands in the way of the 16x16 route on a family, for its head. */
function matrixWord(decision: Decision | null | undefined): string {
  const matrix = decision?.candidates.find(({ route }) => route === "matrix_16x16");
  if (matrix === undefined) return "";
  if (matrix.applicable) return matrix.status === "planned" ? "16x16 would hold, not built" : "16x16";
  const family = matrix.predicates.find(({ id }) => id === "apple10");
  return family?.holds === false ? "16x16 refused, family" : "16x16 refused, shape";
}

function archText(chip: Chip): string {
  if (chip.architecture === null) return "not known";
  const short = chip.architecture.replace(/^applegpu_/, "");
  return chip.architectureConfidence.startsWith("expected") ? `${short} ?` : short;
}

function coresText(chip: Chip): string {
  return chip.variants.map(({ gpuCores }) => gpuCores).join("/");
}

interface ChipsPaneProps {
  readonly chips: readonly Chip[];
  readonly decisions: readonly (Decision | null)[];
  /** Short name of the chip that is asked about. */
  readonly current: string | undefined;
  /** Route of the question. */
  readonly route: string | null;
  readonly text: string;
  readonly note: string;
  readonly onChoose: (chip: string) => void;
}

export function ChipsPane({ chips, decisions, current, route, text, note, onChoose }: ChipsPaneProps): ReactElement {
  const match = matchWords(text);
  const rows: readonly ChipRow[] = chips.map((chip, index) => ({ chip, decision: decisions[index] }));
  const shown = rows.filter(({ chip, decision }) =>
    match.test(`${chip.name} ${chip.family} ${chip.architecture ?? ""} ${decision?.route ?? ""}`),
  );
  return (
    <Pane label="Chips" line>
      <PaneHead title="Chip" meta={`${chips.length} known`}>
        <FilterField label="Filter the chips" value={text} onChange={(q) => setParams({ q })} />
      </PaneHead>
      <div className="body scroll">
        <table className="tbl fix chips">
          <thead>
            <tr>
              <th className="c-chip">chip</th>
              <th className="c-arch">arch</th>
              <th className="c-cores num">cores</th>
              <th>route</th>
            </tr>
          </thead>
          {FAMILIES.map((family) => {
            const own = shown.filter(({ chip }) => chip.family === family).reverse();
            return own.length === 0 ? null : (
              <tbody key={family}>
                <tr className="grp">
                  <td>{family.replace("apple", "Apple")}</td>
                  <td colSpan={3} className="num">
                    {matrixWord(own[0]?.decision)}
                  </td>
                </tr>
                {own.map((row) => (
                  <ChipLine
                    key={row.chip.shortName}
                    row={row}
                    current={row.chip.shortName === current}
                    route={route}
                    onChoose={onChoose}
                  />
                ))}
              </tbody>
            );
          })}
        </table>
        {shown.length === 0 ? <p className="nothing t3">No chip matches "{text}"</p> : null}
      </div>
      <p className="hl micro t3 foot" title={note}>
        Predicted, not run. Decided by family, system and limits, never by name; systems are assumed. ? = inferred.
      </p>
    </Pane>
  );
}

interface ChipLineProps {
  readonly onChoose: (chip: string) => void;
  readonly row: ChipRow;
  readonly current: boolean;
  readonly route: string | null;
}

function ChipLine({ row, current, route, onChoose }: ChipLineProps): ReactElement {
  const { chip, decision } = row;
  const other = decision != null && decision.route !== route;
  return (
    <tr
      className={current ? "sel pickable" : "pickable"}
      aria-selected={current}
      data-chip={chip.shortName}
      onClick={() => onChoose(chip.shortName)}
    >
      <td className={current ? "b" : "m"} title={chip.name}>
        {chip.shortName.replace(/ \(.*\)$/, "")}
      </td>
      <td className="t2" title={`architecture: ${chip.architectureConfidence}`}>
        {archText(chip)}
      </td>
      <td className="num t2">{coresText(chip)}</td>
      <td className={decision == null ? "t3" : decision.route === null ? "fail m" : other ? "m runs" : "m"}>
        {decision === undefined ? (
          "asking"
        ) : decision === null ? (
          "not answered"
        ) : decision.route === null ? (
          "no route"
        ) : (
          <ShortName name={decision.route} />
        )}
      </td>
    </tr>
  );
}
