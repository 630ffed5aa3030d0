/** Every chip of the table with all its variants: a row is a chip to emulate. */
import type { ReactElement } from "react";
import { csvText, saveCsv } from "../../charts/save.ts";
import { setParams } from "../../state/view.ts";
import { bandwidthText, type Chip, coresText } from "./words.ts";

const FAMILIES = ["apple10", "apple9", "apple8", "apple7"] as const;

export function saveChips(chips: readonly Chip[]): void {
  const rows = chips.flatMap((chip) =>
    chip.variants.map(({ gpuCores, memoryBandwidthGbS }) => [
      chip.shortName,
      chip.generation,
      chip.family,
      chip.architecture ?? "not known",
      chip.architectureConfidence,
      gpuCores,
      memoryBandwidthGbS ?? "not known",
      chip.clockGhz ?? "not known",
      chip.clockConfidence,
      chip.sources.join(" "),
    ]),
  );
  const head = ["chip", "generation", "family", "architecture", "architecture is", "GPU cores", "GB/s", "GHz"];
  saveCsv("chips", csvText("chip table, public sources", [...head, "clock is", "sources"], rows));
}

interface ChipsTableProps {
  readonly chips: readonly Chip[];
  /** Short name of the chip that is emulated. */
  readonly current: string | undefined;
}

export function ChipsTable({ chips, current }: ChipsTableProps): ReactElement {
  return (
    <div className="body scroll">
      <table className="tbl fix chiptable">
        <thead>
          <tr>
            <th className="c-chip">chip</th>
            <th className="c-arch">architecture</th>
            <th className="num c-figure">GPU cores</th>
            <th className="num c-figure">GB/s</th>
            <th className="num c-figure">GHz</th>
            <th>clock is</th>
          </tr>
        </thead>
        {FAMILIES.map((family) => (
          <tbody key={family}>
            <tr className="grp">
              <td colSpan={6}>{family.replace("apple", "Apple")}</td>
            </tr>
            {chips
              .filter((chip) => chip.family === family)
              .reverse()
              .map((chip) => (
                <tr
                  key={chip.shortName}
                  className={chip.shortName === current ? "sel pickable" : "pickable"}
                  aria-selected={chip.shortName === current}
                  onClick={() => setParams({ chip: chip.shortName, device: null })}
                >
                  <td className="el" title={`Emulate ${chip.name}`}>
                    <button type="button" className="rowbtn">
                      {chip.shortName}
                    </button>
                  </td>
                  <td className="t2 el" title={`${chip.architectureConfidence}: ${chip.sources.join(", ")}`}>
                    {chip.architecture ?? "not known"} <span className="t3">{chip.architectureConfidence}</span>
                  </td>
                  <td className="num">{coresText(chip)}</td>
                  <td className="num">{bandwidthText(chip)}</td>
                  <td className="num">{chip.clockGhz ?? "not known"}</td>
                  <td className="t3 el" title={chip.clockConfidence}>
                    {chip.clockConfidence}
                  </td>
                </tr>
              ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}
