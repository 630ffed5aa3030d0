/** A level of the ladder as seven bars; the count is the level, and the word stands beneath. */
import type { ReactElement } from "react";
import { LEVELS } from "../../electron/contract.ts";

export type Level = (typeof LEVELS)[number];

/** `source` has no bar; `promoted` has all seven. */
export function levelRank(level: Level): number {
  return LEVELS.indexOf(level);
}

export function Pips({ level, emulated }: { readonly level: Level; readonly emulated: boolean }): ReactElement {
  const rank = levelRank(level);
  const tone = emulated ? " emu" : rank >= levelRank("parity") ? " hi" : "";
  return (
    <span className={`pips${tone}`} aria-hidden="true">
      {LEVELS.slice(1).map((name, index) => (
        <i key={name} className={index < rank ? "on" : ""} />
      ))}
    </span>
  );
}
