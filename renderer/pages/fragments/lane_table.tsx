/** The table twin of the maps: one row for each lane. */
import { type ReactElement, useEffect, useRef } from "react";
import { figureText } from "../../../electron/words.ts";
import { FRAGMENT_MAPS } from "../../../kernels/fragments.ts";
import { barsOf, type LaneErrors } from "./lane_errors.ts";
import { LANES, laneBits, partnersOf, placeWords } from "./ownership.ts";

interface LaneTableProps {
  readonly lane: number;
  readonly errors: LaneErrors | null;
  readonly onPick: (lane: number) => void;
}

export function LaneTable({ lane: selected, errors, onPick }: LaneTableProps): ReactElement {
  const first = FRAGMENT_MAPS[0]!;
  const bars = errors === null ? null : barsOf(errors);
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    body.current?.rows[selected]?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  return (
    <div className="body scroll">
      <table className="tbl fix lanes">
        <thead>
          <tr>
            <th className="c-lane">lane</th>
            <th className="c-bits">bits</th>
            {FRAGMENT_MAPS.map((map) => (
              <th key={map.name} className={map === first ? "c-first" : ""}>
                {map.name}, elements e0 to e{map.elementsPerLane - 1}
              </th>
            ))}
            {partnersOf(first, 0).map(({ name }) => (
              <th key={name} className={name === "row group" ? "c-group" : "c-xor"}>
                {name}
              </th>
            ))}
            {bars === null ? null : <th className="num c-error">max |error|</th>}
          </tr>
        </thead>
        <tbody ref={body}>
          {LANES.map((lane) => (
            <tr
              key={lane}
              className={lane === selected ? "pickable sel" : "pickable"}
              aria-selected={lane === selected}
              onClick={() => onPick(lane)}
            >
              <td className="m">{lane}</td>
              <td className="mono t3">{laneBits(lane)}</td>
              {FRAGMENT_MAPS.map((map) => (
                <td key={map.name}>{placeWords(map, lane)}</td>
              ))}
              {partnersOf(first, lane).map(({ name, lanes }) => (
                <td key={name} className="t2">
                  {lanes.join(", ")}
                </td>
              ))}
              {bars === null ? null : (
                <td className="num">{bars[lane]!.flagged ? "NaN or Inf" : figureText(bars[lane]!.max)}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
