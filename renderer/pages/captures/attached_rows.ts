/** The rows of an attachment's table, as text; the same for the page and for its CSV. Pure. */
import { attachedFigure } from "../../../electron/attachments/attachment.ts";
import { type DispatchLabel, matchByName } from "../../../electron/attachments/matches.ts";
import type { AttachedList } from "../../state/attached.ts";

export type ListedView = AttachedList["attachments"][number];
export type AttachmentView = NonNullable<ListedView["attachment"]>;
type Series = AttachmentView["summary"]["series"][number];

/** Units stand in their own column: one table holds several. */
export const ATTACHED_HEAD = ["label", "called like", "what", "unit", "count", "sum", "min", "median", "max"] as const;

/** Columns of text; the others hold figures. */
const TEXT_COLUMNS = 4;

/** `Compute, node (42), level 1`: where a series was seen, as far as the file says. */
function placeText({ quantity, channel, process, depth }: Series): string {
  const where = [channel, process, depth === null || depth === 0 ? null : `level ${depth}`];
  return [quantity, ...where].filter((word) => word !== null).join(", ");
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
    attachedFigure(count),
    sum === null ? "none" : attachedFigure(sum),
    attachedFigure(min),
    attachedFigure(median),
    attachedFigure(max),
  ];
}

/** Columns of text that may say the same in every row: then it is said once, above the table. */
const FOLDABLE: readonly number[] = [1, 2, 3];

const SUM = 5;

export interface AttachedTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** `what: duration, Compute; unit: ns`: what every row has in common. */
  readonly common: string;
  /** The first columns, which are text. */
  readonly texts: number;
}

/** The table without the columns that say the same in every row. */
export function attachedTable(rows: readonly (readonly string[])[]): AttachedTable {
  const all = (at: number): boolean => rows.every((row) => row[at] === rows[0]![at]);
  const withoutSum = rows[0]?.[SUM] === "none" && all(SUM);
  const same = rows.length < 2 ? [] : [...FOLDABLE.filter(all), ...(withoutSum ? [SUM] : [])];
  const textsSame = same.filter((at) => at < TEXT_COLUMNS).length;
  const keep = <T>(cells: readonly T[]): readonly T[] => cells.filter((_, at) => !same.includes(at));
  const common = same.filter((at) => rows[0]![at] !== "").map((at) => `${ATTACHED_HEAD[at]}: ${rows[0]![at]}`);
  return {
    head: keep(ATTACHED_HEAD),
    rows: rows.map(keep),
    common: common.join("; "),
    texts: TEXT_COLUMNS - textsSame,
  };
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
