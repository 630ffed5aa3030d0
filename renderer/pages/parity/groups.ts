/** Bars of the ULP histogram: distances below the oracle, none, above it. Pure. */
import type { AnswerOf } from "../../../electron/analysis/messages.ts";
import type { SummaryBar } from "../../charts/summary_model.ts";
import { countText } from "../../parts/text.ts";

type Ulp = AnswerOf<"summary">["ulp"];

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
