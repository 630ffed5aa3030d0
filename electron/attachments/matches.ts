/**
 * Which labels of an attachment are called like dispatches of the run. A match is one by name alone: that the interval was
 * this dispatch is not known, and its times are not the run's. Pure.
 */
import type { RunRecord } from "../runs/record.ts";

/** A label of a dispatch, and what of the run has it. */
export interface DispatchLabel {
  readonly label: string;
  /** Results that have a dispatch of this label. */
  readonly results: number;
  readonly routes: readonly string[];
}

export function dispatchLabels({ results }: Pick<RunRecord, "results">): readonly DispatchLabel[] {
  const found = new Map<string, { count: number; routes: Set<string> }>();
  for (const { route, timings } of results) {
    for (const label of new Set(timings.map((timing) => timing.label))) {
      const entry = found.get(label) ?? { count: 0, routes: new Set<string>() };
      entry.count += 1;
      entry.routes.add(route);
      found.set(label, entry);
    }
  }
  return [...found].map(([label, { count, routes }]) => ({ label, results: count, routes: [...routes] }));
}

/**
 * The dispatch label that equals an attached label, or null. Instruments writes `command buffer label:encoder label`; the part
 * behind the first colon counts as well. Nothing is guessed from parts of words or from order.
 */
export function matchByName(label: string, labels: readonly DispatchLabel[]): DispatchLabel | null {
  const colon = label.indexOf(":");
  const encoder = colon < 0 ? null : label.slice(colon + 1).trim();
  return labels.find((entry) => entry.label === label || entry.label === encoder) ?? null;
}
