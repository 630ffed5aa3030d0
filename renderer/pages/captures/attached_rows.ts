/** The rows of an attachment's table, as text; the same for the page and for its CSV. Pure. */
import { type DispatchLabel, matchByName } from "../../../electron/attachments/matches.ts";
import { figureText } from "../../../electron/words.ts";
import type { AttachedList } from "../../state/attached.ts";

export type ListedView = AttachedList["attachments"][number];
export type AttachmentView = NonNullable<ListedView["attachment"]>;
type Series = AttachmentView["summary"]["series"][number];

/** Units stand in their own column: one table holds several. */
export const ATTACHED_HEAD = ["label", "called like", "what", "unit", "count", "sum", "min", "median", "max"] as const;

/** Columns of text; the others hold figures. */
export const TEXT_COLUMNS = 4;

/** `Compute, node (42), level 1`: where a series was seen, as far as the file says. */
export function placeText({ quantity, channel, process, depth }: Series): string {
  const where = [channel, process, depth === null || depth === 0 ? null : `level ${depth}`];
  return [quantity, ...where].filter((word) => word !== null).join(", ");
}

function figure(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : figureText(value);
}

/** Cells of one series. A match by name says so: it is no measurement of the dispatch. */
export function attachedRow(series: Series, labels: readonly DispatchLabel[]): readonly string[] {
  const { label, unit, count, sum, min, median, max } = series;
  const match = matchByName(label, labels);
  return [
    label,
    match === null ? "" : `${match.label}, by name`,
    placeText(series),
    unit ?? "not stated",
    figure(count),
    sum === null ? "none" : figure(sum),
    figure(min),
    figure(median),
    figure(max),
  ];
}

/** Series that are called like a dispatch come first; otherwise the order is that of the summary. */
export function orderedSeries({ summary }: AttachmentView, labels: readonly DispatchLabel[]): readonly Series[] {
  const named = (series: Series): boolean => matchByName(series.label, labels) !== null;
  return [...summary.series.filter(named), ...summary.series.filter((series) => !named(series))];
}

/** `63,342 rows of metal-gpu-intervals: GPU time of each encoder, by its label`. */
export function tableText({ name, rows, read, reason }: AttachmentView["summary"]["tables"][number]): string {
  return `${name}, ${rows.toLocaleString("en-US")} row${rows === 1 ? "" : "s"}: ${read ?? `not read, ${reason ?? "no reason given"}`}`;
}
