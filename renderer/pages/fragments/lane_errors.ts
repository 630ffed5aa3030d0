/** Errors of a result by the lane that owns the element, as numbers for the chart and words for its head. Pure. */
import type { CallOutput } from "../../../electron/contract.ts";
import { type LogScale, logPlace } from "../../charts/scale.ts";
import type { Cursor } from "./ownership.ts";

export type LaneErrors = NonNullable<Extract<CallOutput<"parity.inspect">, { kind: "lanes" }>["lanes"]>;

/** The largest error among the elements of one lane. */
export interface LaneBar {
  readonly lane: number;
  /** Absolute; 0 where no element is finite. */
  readonly max: number;
  /** Flat index of the first element that is not finite, else of the largest, in the output; -1 for none. */
  readonly at: number;
  /** The lane owns a NaN or an infinity. */
  readonly flagged: boolean;
}

export function barsOf({ max, at, flags, elementsPerLane }: LaneErrors): readonly LaneBar[] {
  return Array.from({ length: max.length / elementsPerLane }, (_, lane): LaneBar => {
    const first = lane * elementsPerLane;
    let worst = first;
    let bad = -1;
    for (let slot = first; slot < first + elementsPerLane; slot++) {
      if (max[slot]! > max[worst]!) worst = slot;
      if (flags[slot] !== 0 && bad < 0) bad = slot;
    }
    return { lane, max: max[worst]!, at: at[bad < 0 ? worst : bad]!, flagged: bad >= 0 };
  });
}

/**
 * Flat index of the worst element that a place of a map owns: of its element where the errors are of that map, else of its
 * lane; -1 where there is none.
 */
export function worstOf(errors: LaneErrors, { map, lane, element }: Cursor): number {
  if (map.name === errors.map) return errors.at[lane * errors.elementsPerLane + element] ?? -1;
  return barsOf(errors)[lane]?.at ?? -1;
}

/** What the bars say about single lanes. `limit` is that of the gate on the largest error; null where it was not judged. */
export function laneVerdict(bars: readonly LaneBar[], limit: number | null): string {
  const flagged = bars.filter((bar) => bar.flagged).length;
  if (flagged > 0) return `NaN or Inf in ${flagged} of ${bars.length} lanes`;
  if (limit === null) return "no limit to compare with";
  const over = bars.filter(({ max }) => max > limit);
  if (over.length === 0) return "no lane over the limit";
  if (over.length === bars.length) return `all ${bars.length} lanes over the limit: not a fault of one lane`;
  if (over.length > 4) return `${over.length} of ${bars.length} lanes over the limit`;
  return `over the limit: ${over.length === 1 ? "only lane" : "only lanes"} ${over.map(({ lane }) => lane).join(", ")}`;
}

/** Stops of the sequential scale that leave the text on them readable in both themes. */
const STOPS = [0, 1, 2, 3, 4, 6, 7, 8] as const;

/** The stop of a value on the axis of a chart. */
export function stopOf(scale: LogScale, value: number): number {
  return STOPS[Math.min(STOPS.length - 1, Math.floor(logPlace(scale, value) * STOPS.length))]!;
}
