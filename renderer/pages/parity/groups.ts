/** The bars of the summaries: ULP distances, heads, sequences, lengths. Pure. */
import type { LengthPoint } from "../../../electron/analysis/lengths.ts";
import type { AnswerOf } from "../../../electron/analysis/messages.ts";
import { figureText } from "../../../electron/words.ts";
import { type SummaryBar, toneOf } from "../../charts/summary_model.ts";
import { countText } from "../../parts/text.ts";

type Summary = AnswerOf<"summary">;
type Ulp = Summary["ulp"];
type Head = Summary["heads"][number];
type Sequence = Summary["sequences"][number];

function limitText(limit: number): string {
  if (!Number.isFinite(limit)) return "more";
  const power = Math.log2(limit);
  return limit >= 1024 && Number.isInteger(power) ? `2^${power}` : countText(limit);
}

/** Buckets out to the last that holds an element, on both sides alike; `identical` in the middle. */
export function ulpBars({ limits, above, below, identical }: Ulp): readonly SummaryBar[] {
  let last = 1;
  for (let i = 1; i < limits.length; i++) if (above[i]! + below[i]! > 0) last = i;
  const bar = (i: number, side: "below" | "above"): SummaryBar => {
    const count = (side === "below" ? below : above)[i]!;
    const sign = side === "below" ? "−" : "";
    const words = Number.isFinite(limits[i]!)
      ? `up to ${countText(limits[i]!)} ULP ${side}`
      : `more than ${countText(limits[i - 1]!)} ULP ${side}`;
    return {
      key: `${side}${i}`,
      label: `${sign}${limitText(limits[i]!)}`,
      value: count,
      tone: "plain",
      title: `${words}: ${countText(count)} elements`,
    };
  };
  const places = Array.from({ length: last }, (_, i) => i + 1);
  return [
    ...places.toReversed().map((i) => bar(i, "below")),
    { key: "same", label: "0", value: identical, tone: "middle", title: `identical: ${countText(identical)} elements` },
    ...places.map((i) => bar(i, "above")),
  ];
}

/** Bars of groups, and what a click on each goes to: an element, a case, or nothing. */
export interface GroupBars {
  readonly bars: readonly SummaryBar[];
  readonly axisTitle: string;
  readonly at: readonly (number | string | null)[];
}

function groupBar(group: Head, label: string, limit: number | null, chosen: boolean): SummaryBar {
  const { maxAbs, meanAbs, maxUlp, nan, infinite } = group;
  const marks = nan + infinite > 0 ? `, ${countText(nan)} NaN, ${countText(infinite)} Inf` : "";
  return {
    key: group.label,
    label,
    value: maxAbs,
    tone: toneOf({ over: limit !== null && maxAbs > limit, chosen, flagged: nan + infinite > 0 }),
    title: `${group.label}: max ${figureText(maxAbs)}, mean ${figureText(meanAbs)}, ${figureText(maxUlp)} ULP${marks}`,
  };
}

export function headBars(heads: readonly Head[], limit: number | null, selected: number | null): GroupBars {
  return {
    bars: heads.map((head, index) => groupBar(head, String(index), limit, index === selected)),
    axisTitle: "head",
    at: heads.map(({ at }) => at),
  };
}

/** `selected` is an element of the output. */
export function sequenceBars(sequences: readonly Sequence[], limit: number | null, selected: number | null): GroupBars {
  return {
    bars: sequences.map((sequence) =>
      groupBar(sequence, countText(sequence.keys), limit, selected !== null && sequence.at === selected),
    ),
    axisTitle: "keys of the sequence",
    at: sequences.map(({ at }) => at),
  };
}

/** A bar for each case, by length, with the limit of its own gate. A case without an output has no height and says so. */
export function lengthBars(points: readonly LengthPoint[], selected: string): GroupBars {
  return {
    bars: points.map((point): SummaryBar => {
      const { case: key, length, dtype, origin, maxAbs, limit, verdict } = point;
      const finite = maxAbs !== null && Number.isFinite(maxAbs);
      const figures = maxAbs === null ? "no output" : `max ${figureText(maxAbs)}`;
      const against = limit === null ? "" : `, limit ${figureText(limit)}`;
      const word = verdict === "not_run" ? "not run" : verdict;
      return {
        key,
        label: countText(length),
        value: finite ? maxAbs : 0,
        tone: toneOf({ over: verdict === "fail", chosen: key === selected, flagged: maxAbs !== null && !finite }),
        title: `${countText(length)} ${dtype} ${origin}: ${figures}${against}, ${word}`,
        limit,
      };
    }),
    axisTitle: "length of the cases of this run",
    at: points.map(({ case: key }) => key),
  };
}
