/** The words of a saved heat map: what it shows, of which run and device, how its cells were made. Pure. */
import type { AnswerOf } from "../../../electron/analysis/messages.ts";
import { figureText } from "../../../electron/words.ts";
import type { HeatMapPicture } from "../../charts/heat_map_picture.ts";
import { edgeLook } from "../../charts/plot.ts";
import type { Range } from "../../charts/scale.ts";
import { STANDING_TITLES, standingOf } from "../../parts/standing.tsx";
import { countText } from "../../parts/text.ts";
import { addressOf, addressText, MEASURE_WORDS, type Measure } from "./address.ts";
import { AXIS_WORDS, type ChartsProps } from "./chart_props.tsx";

/** Errors are differences of outputs, which have no unit. */
const UNITS: Readonly<Record<Measure, string>> = {
  abs: "in units of the output",
  relative: "a ratio",
  ulp: "in units in the last place of the output's type",
  signed: "in units of the output",
};

type Map = Pick<
  AnswerOf<"heat_map">,
  "rows" | "columns" | "sourceRows" | "sourceColumns" | "rowEdges" | "columnEdges" | "notFinite"
>;

type Of = Pick<ChartsProps, "run" | "subject" | "extents" | "axis" | "measure" | "limit" | "selected">;

/** What is drawn: the scale, and the marks that are switched on. */
interface Shown {
  readonly range: Range | null;
  readonly nan: boolean;
  readonly inf: boolean;
}

export function pictureOf(props: Of, map: Map, shown: Shown): HeatMapPicture {
  const { run, subject, extents, axis, measure, limit, selected } = props;
  const words = MEASURE_WORDS[measure].axis;
  const scale = shown.range?.log === false ? "linear" : "logarithmic";
  const { nan, infinite } = map.notFinite;
  return {
    title: `${words}: head × ${AXIS_WORDS[axis]}`,
    lines: [
      `Case ${subject.case}, route ${subject.route}`,
      `Run ${subject.id}, against the float64 oracle`,
      executionNote(run),
    ],
    rowTitle: "head (index)",
    columnTitle: `${AXIS_WORDS[axis]} (index)`,
    rows: map.sourceRows,
    columns: map.sourceColumns,
    measure:
      shown.range === null
        ? `${words}: every finite element equals the oracle`
        : `${words}, ${UNITS[measure]}; ${scale} scale`,
    range: shown.range,
    signed: measure === "signed",
    marks: [
      ...(shown.nan && nan > 0 ? [{ color: "--nan", words: `NaN (${countText(nan)})` }] : []),
      ...(shown.inf && infinite > 0 ? [{ color: "--inf", words: `Inf (${countText(infinite)})` }] : []),
    ],
    notes: [
      cellNote(props, map),
      ...limitNote(measure, limit),
      ...edgeNote(map),
      ...(selected === null
        ? []
        : [`Framed: ${addressText(extents, addressOf(extents, selected))}, the selected element.`]),
    ],
  };
}

/** The device with how its chip is known, and what its results are worth. */
function executionNote({ execution, device }: Of["run"]): string {
  const standing = standingOf(execution, device);
  const worth = standing === "chip" ? "" : `. ${STANDING_TITLES[standing]}`;
  if (device === null || execution === "imported") return `Execution: ${execution}${worth}`;
  const chip = `chip ${device.chip.value} (${device.chip.by})`;
  return `Execution: ${execution}, on ${device.name.value}, ${chip}, ${device.os.value} (${device.os.by})${worth}`;
}

function cellNote({ axis, extents }: Of, map: Map): string {
  const of = `${countText(map.sourceRows)} × ${countText(map.sourceColumns)}`;
  const over = axis === "token" ? `the largest of ${countText(extents.width)} dims` : "one element";
  const pooled = map.rows < map.sourceRows || map.columns < map.sourceColumns;
  const cells = pooled
    ? `; ${countText(map.rows)} × ${countText(map.columns)} cells show the largest of what they cover`
    : "";
  return `${of} places, each ${over}${cells}. A pixel shows the largest magnitude beneath it.`;
}

function limitNote(measure: Measure, limit: Of["limit"]): readonly string[] {
  if (limit === null || (measure !== "abs" && measure !== "signed")) return [];
  return [`Limit of the gate: ${figureText(limit.value)}${limit.where === null ? "" : ` (${limit.where})`}.`];
}

function edgeNote({ rowEdges, columnEdges }: Map): readonly string[] {
  const named = (look: "page" | "coarse"): readonly string[] => [
    ...new Set(
      [...columnEdges, ...rowEdges]
        .filter((set) => set.edges.length > 0 && edgeLook(set.kind) === look)
        .map(({ title }) => title),
    ),
  ];
  const [solid, dotted] = [named("coarse"), named("page")];
  const parts = [
    ...(solid.length === 0 ? [] : [`solid: ${solid.join(", ")}`]),
    ...(dotted.length === 0 ? [] : [`dotted: ${dotted.join(", ")}`]),
  ];
  return parts.length === 0 ? [] : [`Lines, where there is room for them, ${parts.join("; ")}.`];
}
