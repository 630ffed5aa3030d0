/** The bars of a summary and the axis that they stand on. Pure. */
import { linearTicks } from "./dense_model.ts";
import { decadeText, decadeTicks, logPlace, logScaleOf } from "./scale.ts";

export type BarTone = "plain" | "b" | "middle" | "over" | "flagged" | "selected" | "selected over" | "selected flagged";

export interface SummaryBar {
  readonly key: string;
  readonly label: string;
  readonly value: number;
  /** `over` a limit; `flagged`: an output is not finite, whatever the value says. */
  readonly tone: BarTone;
  /** What the bar says when it is at hand. */
  readonly title: string;
  /** The bar's own limit, drawn across it. */
  readonly limit?: number | null;
}

/** A bar with its place among those that were given. */
export type PlacedBar = SummaryBar & { readonly index: number };

/** Marks that Recharts is given at most. */
export const MOST_BARS = 500;

/** Least width that a label is given, and that of a letter with the gap to the next label, in CSS pixels. */
const LABEL = 38;
const LETTER = 7;
const GAP = 6;
/** Ticks of an axis at most. */
const MOST_TICKS = 6;

export function isFlagged(tone: BarTone): boolean {
  return tone.endsWith("flagged");
}

/** The tone of a bar by what holds of it. */
export function toneOf(holds: {
  readonly over: boolean;
  readonly chosen: boolean;
  readonly flagged: boolean;
}): BarTone {
  if (holds.flagged) return holds.chosen ? "selected flagged" : "flagged";
  if (holds.over) return holds.chosen ? "selected over" : "over";
  return holds.chosen ? "selected" : "plain";
}

/** What must not disappear in a pool: what is not finite, then by value. */
function weight({ tone, value }: SummaryBar): number {
  return isFlagged(tone) || Number.isNaN(value) ? Number.POSITIVE_INFINITY : value;
}

/** Bars as they are, or pools of neighbours, each shown by its largest; a selected bar stands for its pool. */
export function pooledBars(bars: readonly SummaryBar[], most: number = MOST_BARS): readonly PlacedBar[] {
  const placed = bars.map((bar, index) => ({ ...bar, index }));
  if (placed.length <= most) return placed;
  return Array.from({ length: most }, (_, pool) => {
    const begin = Math.floor((pool * placed.length) / most);
    const end = Math.floor(((pool + 1) * placed.length) / most);
    const members = placed.slice(begin, end);
    const worst = members.reduce((a, b) => (weight(b) > weight(a) ? b : a));
    const title = `${worst.title} (the largest of ${members.length})`;
    const tone = toneOf({
      over: worst.tone.endsWith("over"),
      chosen: members.some(({ tone: own }) => own.startsWith("selected")),
      flagged: isFlagged(worst.tone),
    });
    return { ...worst, title, tone };
  });
}

export interface BarAxis {
  /** Ticks by place, 0 at the base line and 1 at the top. */
  readonly ticks: readonly { readonly place: number; readonly words: string }[];
  readonly placeOf: (bar: SummaryBar) => number;
  /** Place of a number by itself. */
  readonly place: (value: number) => number;
  /** Place of the limit; null where there is none above 0. */
  readonly limit: number | null;
}

interface BarAxisOptions {
  readonly scale: "log" | "linear";
  readonly counts: boolean;
  readonly limit: number | null;
  readonly yText?: (value: number) => string;
}

export function barScale(bars: readonly SummaryBar[], options: BarAxisOptions): BarAxis {
  const { scale, counts, limit, yText } = options;
  const own = bars.flatMap((bar) => (bar.limit === undefined || bar.limit === null ? [] : [bar.limit]));
  const values = [...bars.map(({ value }) => value), ...own, ...(limit === null ? [] : [limit])];
  const held = (place: number): number => Math.min(1, Math.max(0, place));
  // What is not finite reaches the top.
  const placed =
    (place: (value: number) => number) =>
    (bar: SummaryBar): number =>
      isFlagged(bar.tone) || Number.isNaN(bar.value) ? 1 : held(place(bar.value));
  if (scale === "linear") {
    const top = values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, value) : most), 0) * 1.05 || 1;
    return {
      ticks: linearTicks({ from: 0, to: top }, MOST_TICKS - 1).map((value) => ({
        place: value / top,
        words: yText?.(value) ?? String(value),
      })),
      placeOf: placed((value) => value / top),
      place: (value) => held(value / top),
      limit: limit === null || !(limit > 0) ? null : held(limit / top),
    };
  }
  const found = logScaleOf(values);
  // A bar at the low end of the axis would have no height.
  const ends = counts ? { from: -0.3, to: Math.max(1, found.to) } : { from: found.from - 0.3, to: found.to };
  return {
    ticks: decadeTicks(counts ? { from: 0, to: ends.to } : found).map((exponent) => ({
      place: logPlace(ends, 10 ** exponent),
      words: yText?.(10 ** exponent) ?? decadeText(exponent),
    })),
    placeOf: placed((value) => logPlace(ends, value)),
    place: (value) => logPlace(ends, value),
    limit: limit === null || !(limit > 0) ? null : logPlace(ends, limit),
  };
}

/** The label of each bar that has room for one; that of the chosen bar first. Empty where there is none. */
export function spacedLabels(bars: readonly SummaryBar[], width: number, chosen: number): readonly string[] {
  const longest = Math.max(0, ...bars.map(({ label }) => label.length));
  const room = Math.max(LABEL, longest * LETTER + GAP);
  const every = Math.max(1, Math.ceil((room * bars.length) / Math.max(1, width)));
  return bars.map(({ label }, index) => {
    const free = chosen < 0 || Math.abs(index - chosen) >= every;
    return index === chosen || (index % every === 0 && free) ? label : "";
  });
}
