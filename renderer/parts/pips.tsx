/** A level of the ladder as seven bars; the count is the level, and the word stands beneath. */
import type { ReactElement } from "react";
import { LEVELS } from "../../electron/contract.ts";
import type { Standing } from "./standing.tsx";

export type Level = (typeof LEVELS)[number];

/** `source` has no bar; `promoted` has all seven. */
export function levelRank(level: Level): number {
  return LEVELS.indexOf(level);
}

interface PipsProps {
  readonly level: Level;
  /** Green from parity up is for chips alone. */
  readonly standing: Standing;
}

export function Pips({ level, standing }: PipsProps): ReactElement {
  const rank = levelRank(level);
  const high = rank >= levelRank("parity") ? " hi" : "";
  const supports = standing === "chip" || standing === "imported";
  const tone = supports ? high : standing === "emulated" ? " emu" : " virtual";
  return (
    <span className={`pips${tone}`} aria-hidden="true">
      {LEVELS.slice(1).map((name, index) => (
        <i key={name} className={index < rank ? "on" : ""} />
      ))}
    </span>
  );
}
