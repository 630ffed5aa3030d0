/** The charts of a result: error along position, the heat map, ULP distances, the worst of each head or sequence. */
import { type ReactElement, useCallback, useRef, useState } from "react";
import { type AnswerOf, HEAT_MAP_CELLS } from "../../../electron/analysis/messages.ts";
import { figureText } from "../../../electron/words.ts";
import { type Bar, Bars } from "../../charts/bars.tsx";
import { HeatMap } from "../../charts/heat_map.tsx";
import { PositionChart } from "../../charts/position_chart.tsx";
import { RangeControl } from "../../charts/range_control.tsx";
import { csvText, saveCsv, savePng, saveSvg } from "../../charts/save.ts";
import type { Twin } from "../../charts/table_twin.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Segments } from "../../parts/segments.tsx";
import { countText } from "../../parts/text.ts";
import type { Answer } from "../../state/session.ts";
import { setParams, useView } from "../../state/view.ts";
import {
  type Address,
  addressOf,
  addressText,
  type ColumnAxis,
  type Extents,
  MEASURE_WORDS,
  MEASURES,
  type Measure,
} from "./address.ts";
import { type ChartId, ChartPane, svgOf } from "./chart_pane.tsx";
import { ComparePane } from "./compare_pane.tsx";
import { ulpBars } from "./groups.ts";
import { type Subject, useInspect } from "./use_inspect.ts";

export interface ChartsProps {
  readonly subject: Subject;
  readonly extents: Extents;
  readonly axis: ColumnAxis;
  /** Both ends of a seg for what runs across; a decode has one alone. */
  readonly axes: readonly ColumnAxis[];
  readonly measure: Measure;
  readonly limit: { readonly value: number; readonly where: string | null } | null;
  readonly selected: number | null;
  readonly summary: Answer<AnswerOf<"summary">>;
  readonly execution: string;
  /** The route that this one is compared with. */
  readonly other: string | null;
}

const AXIS_WORDS: Readonly<Record<ColumnAxis, string>> = { token: "query", dim: "dim" };

function pick(index: number): void {
  setParams({ el: String(index), key: null });
}

/** What the files say of where their figures come from. */
function noteOf({ subject, execution, measure }: ChartsProps, what: string): string {
  return `${what}, ${MEASURE_WORDS[measure].axis}; ${subject.case}, ${subject.route}, ${subject.id}; execution ${execution}`;
}

function fileOf({ subject, execution }: ChartsProps, what: string): string {
  return `${what}-${subject.case}-${subject.route}-${execution}`.replaceAll(/[^\w.-]+/g, "_");
}

function useTable(id: ChartId): readonly [boolean, () => void] {
  const shown = (useView().params.table ?? "").split(",").filter(Boolean);
  const on = shown.includes(id);
  return [on, () => setParams({ table: (on ? shown.filter((name) => name !== id) : [...shown, id]).join(",") })];
}

function Asking({ answer, there }: { readonly answer: Answer<unknown>; readonly there: boolean }): ReactElement | null {
  if (answer.state === "failed") {
    return (
      <div className="inset">
        <FailureNote failure={answer.failure} />
      </div>
    );
  }
  return there ? null : <p className="nothing t3">Computing the oracle and the errors</p>;
}

function placeOf(axis: ColumnAxis, address: Address): number {
  return axis === "token" ? address.token : address.dim;
}

function MeasureSegments({ measure }: { readonly measure: Measure }): ReactElement {
  return (
    <Segments
      label="Measure of the error"
      choices={MEASURES}
      chosen={measure}
      word={(name) => MEASURE_WORDS[name].short}
      onChoose={(name) => setParams({ measure: name === "abs" ? null : name, low: null, high: null })}
    />
  );
}

function PositionPane(props: ChartsProps): ReactElement {
  const { subject, extents, axis, axes, measure, limit, selected } = props;
  const { params } = useView();
  const [table, onTable] = useTable("position");
  const drawn = measure === "signed" ? "abs" : measure;
  const { answer, last } = useInspect(subject, { kind: "profile", axis, measure: drawn, fixed: {} });
  const hidden = (params.hide ?? "").split(",").filter(Boolean);
  const address = selected === null ? null : addressOf(extents, selected);
  const twin: Twin | null =
    last === null
      ? null
      : {
          columns: [
            { title: AXIS_WORDS[axis] },
            { title: `max ${MEASURE_WORDS[drawn].axis}` },
            { title: "mean" },
            { title: "element", text: true },
          ],
          count: last.length,
          row: (place) => [
            countText(place),
            figureText(last.max[place]!),
            figureText(last.mean[place]!),
            addressText(extents, addressOf(extents, last.at[place]!)),
          ],
          onPick: (place) => pick(last.at[place]!),
        };
  return (
    <ChartPane
      id="position"
      top
      title="Error along position"
      meta={undefined}
      table={table}
      twin={twin}
      onTable={onTable}
      onCsv={() => {
        if (last === null) return;
        const rows = Array.from(last.max, (max, place) => [
          place,
          max,
          last.mean[place]!,
          last.at[place]!,
          last.flags[place]!,
        ]);
        const head = [AXIS_WORDS[axis], "max", "mean", "element", "flags"];
        saveCsv(fileOf(props, "error-along-position"), csvText(noteOf(props, "error along position"), head, rows));
      }}
      picture={{
        kind: "SVG",
        save: () => {
          const svg = svgOf("position");
          if (svg !== null) saveSvg(fileOf(props, "error-along-position"), svg, noteOf(props, "error along position"));
        },
      }}
      controls={
        <>
          <MeasureSegments measure={measure} />
          {last?.edges.map((set) => (
            <label key={set.kind} className="tog" title={set.title}>
              <input
                type="checkbox"
                checked={!hidden.includes(set.kind)}
                onChange={({ target }) =>
                  setParams({
                    hide: (target.checked ? hidden.filter((kind) => kind !== set.kind) : [...hidden, set.kind]).join(
                      ",",
                    ),
                  })
                }
              />
              {set.kind}
            </label>
          ))}
          {axes.length > 1 ? (
            <Segments
              label="What runs across"
              choices={axes}
              chosen={axis}
              word={(name) => (name === "token" ? "q" : "d")}
              onChoose={(name) => setParams({ axis: name === axes[0] ? null : name })}
            />
          ) : null}
        </>
      }
    >
      <Asking answer={answer} there={last !== null} />
      {last === null || answer.state === "failed" ? null : (
        <PositionChart
          title={`max (blue) and mean (grey) ${MEASURE_WORDS[drawn].axis}, log`}
          axisTitle={AXIS_WORDS[axis]}
          max={last.max}
          mean={last.mean}
          flags={last.flags}
          edges={last.edges.filter((set) => !hidden.includes(set.kind))}
          limit={
            limit === null || drawn !== "abs" || !(limit.value > 0)
              ? null
              : {
                  value: limit.value,
                  label: `limit ${figureText(limit.value)}${limit.where === null ? "" : `, ${limit.where}`}`,
                }
          }
          selected={
            address === null
              ? null
              : { place: placeOf(axis, address), label: `${axis === "token" ? "q" : "d"} ${placeOf(axis, address)}` }
          }
          onPick={(place) => pick(last.at[place]!)}
        />
      )}
    </ChartPane>
  );
}

/** Cells to ask for: whole steps, so that a pane that is dragged asks rarely; never more than the screen can show by far. */
function cellsFor(width: number, height: number): { readonly rows: number; readonly columns: number } {
  const columns = Math.min(4096, Math.max(128, Math.ceil(width / 128) * 128));
  return { columns, rows: Math.min(Math.floor(HEAT_MAP_CELLS / columns), Math.max(64, Math.ceil(height / 64) * 64)) };
}

function positive(text: string | undefined): number | null {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : null;
}

function MapPane(props: ChartsProps): ReactElement {
  const { subject, extents, axis, measure, limit, selected } = props;
  const { params } = useView();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [table, onTable] = useTable("map");
  const [size, setSize] = useState<{ readonly rows: number; readonly columns: number } | null>(null);
  const [hover, setHover] = useState<number | null>(null);
  const onSize = useCallback((width: number, height: number): void => {
    const next = cellsFor(width, height);
    setSize((before) => (before?.rows === next.rows && before.columns === next.columns ? before : next));
  }, []);
  const { answer, last } = useInspect(
    subject,
    size === null ? null : { kind: "heat_map", measure, rowAxis: "head", columnAxis: axis, fixed: {}, ...size },
  );
  const log = params.scale !== "linear";
  const fit = last?.range ?? { low: 0, high: 0 };
  const high = positive(params.high) ?? fit.high;
  const low = Math.min(positive(params.low) ?? fit.low, high);
  const address = selected === null ? null : addressOf(extents, selected);
  const order = (): Int32Array =>
    last === null
      ? new Int32Array()
      : Int32Array.from(last.values.keys()).sort((a, b) => rankOf(last, b) - rankOf(last, a) || a - b);
  const columnAt = (cell: number): string => addressText(extents, addressOf(extents, last!.at[cell]!));
  const twin: Twin | null = last === null || !table ? null : cellTwin(last, order(), columnAt, measure);
  const notFinite = last?.notFinite;
  const hovered = hover === null || last === null || hover >= last.values.length ? null : hover;
  return (
    <ChartPane
      id="map"
      title={`Head × ${AXIS_WORDS[axis]}`}
      meta={
        hovered !== null
          ? `${columnAt(hovered)}: ${cellText(last!, hovered)}`
          : axis === "token"
            ? "max over d, max-pooled"
            : "one element a cell, max-pooled where smaller"
      }
      table={table}
      twin={twin}
      onTable={onTable}
      onCsv={() => {
        if (last === null) return;
        const rows = Array.from(last.values, (value, cell) => {
          const { head, token, dim } = addressOf(extents, last.at[cell]!);
          return [head, token, dim, value, last.at[cell]!, last.flags[cell]!];
        });
        const head = ["head", "query", "dim", "value", "element", "flags"];
        saveCsv(fileOf(props, "heat-map"), csvText(noteOf(props, "heat map, max-pooled"), head, rows));
      }}
      picture={{
        kind: "PNG",
        save: () => canvas.current !== null && savePng(fileOf(props, "heat-map"), canvas.current),
      }}
      controls={
        <>
          {(
            [
              ["nan", "NaN", notFinite?.nan],
              ["inf", "Inf", notFinite?.infinite],
            ] as const
          ).map(([name, word, count]) => (
            <label key={name} className={count ? "tog found" : "tog"}>
              <input
                type="checkbox"
                checked={params[name] !== "off"}
                onChange={({ target }) => setParams({ [name]: target.checked ? null : "off" })}
              />
              {word} {countText(count ?? 0)}
            </label>
          ))}
          <label className="tog">
            <input
              type="checkbox"
              checked={log}
              onChange={({ target }) => setParams({ scale: target.checked ? null : "linear" })}
            />
            log
          </label>
          <button
            type="button"
            className="btn quiet"
            title="Fit the range to the cells (A)"
            onClick={() => setParams({ low: null, high: null })}
          >
            Fit
          </button>
        </>
      }
    >
      <Asking answer={answer} there={last !== null} />
      {answer.state === "failed" ? null : (
        <>
          <HeatMap
            canvas={canvas}
            map={last}
            rowTitle="head"
            range={{ low, high, log }}
            signed={measure === "signed"}
            showNan={params.nan !== "off"}
            showInfinite={params.inf !== "off"}
            selected={address === null ? null : { row: address.head, column: placeOf(axis, address) }}
            onPick={(cell) => last !== null && pick(last.at[cell]!)}
            onHover={setHover}
            onSize={onSize}
          />
          {last === null ? null : high > 0 ? (
            <RangeControl
              from={Math.min(last.histogram.from, Math.floor(Math.log10(low)))}
              to={last.histogram.to}
              counts={last.histogram.counts}
              low={low}
              high={high}
              signed={measure === "signed"}
              limit={measure === "abs" || measure === "signed" ? (limit?.value ?? null) : null}
              onChange={(lower, upper) => setParams({ low: lower.toPrecision(4), high: upper.toPrecision(4) })}
            />
          ) : (
            <p className="range micro t3">Every finite element equals the oracle in this measure</p>
          )}
        </>
      )}
    </ChartPane>
  );
}

type MapAnswer = AnswerOf<"heat_map">;

/** What is not finite stands above every number. */
function rankOf(map: MapAnswer, cell: number): number {
  if (map.flags[cell] !== 0) return Number.POSITIVE_INFINITY;
  const value = map.values[cell]!;
  return Number.isNaN(value) ? -1 : Math.min(Number.MAX_VALUE, Math.abs(value));
}

function cellText(map: MapAnswer, cell: number): string {
  const flag = map.flags[cell]!;
  const marks = [flag & 1 ? "NaN" : "", flag & 2 ? "Inf" : ""].filter(Boolean).join(", ");
  const value = map.values[cell]!;
  return Number.isNaN(value) ? marks : [figureText(value), marks].filter(Boolean).join(", ");
}

function cellTwin(map: MapAnswer, order: Int32Array, address: (cell: number) => string, measure: Measure): Twin {
  return {
    columns: [{ title: "rank" }, { title: "element", text: true }, { title: MEASURE_WORDS[measure].axis }],
    count: order.length,
    row: (index) => [countText(index + 1), address(order[index]!), cellText(map, order[index]!)],
    onPick: (index) => pick(map.at[order[index]!]!),
  };
}

function BarsPane(
  props: ChartsProps & {
    readonly id: ChartId;
    readonly title: string;
    readonly meta?: string;
    readonly bars: readonly Bar[];
    readonly yTitle: string;
    readonly axisTitle: string;
    readonly barLimit: number | null;
    readonly counts: boolean;
    readonly controls?: ReactElement | null;
    readonly line?: boolean;
    readonly onBar?: (index: number) => void;
  },
): ReactElement {
  const { id, title, meta, bars, yTitle, axisTitle, barLimit, counts, controls, line = false, onBar, summary } = props;
  const [table, onTable] = useTable(id);
  const twin: Twin = {
    columns: [{ title: axisTitle, text: true }, { title: yTitle }],
    count: bars.length,
    row: (index) => [bars[index]!.label, counts ? countText(bars[index]!.value) : figureText(bars[index]!.value)],
    ...(onBar === undefined ? {} : { onPick: onBar }),
  };
  return (
    <ChartPane
      id={id}
      line={line}
      top
      title={title}
      meta={meta}
      table={table}
      twin={twin}
      onTable={onTable}
      controls={controls}
      onCsv={() =>
        saveCsv(
          fileOf(props, id),
          csvText(
            noteOf(props, title),
            [axisTitle, yTitle],
            bars.map(({ label, value }) => [label, value]),
          ),
        )
      }
      picture={{
        kind: "SVG",
        save: () => {
          const svg = svgOf(id);
          if (svg !== null) saveSvg(fileOf(props, id), svg, noteOf(props, title));
        },
      }}
    >
      <Asking answer={summary} there={summary.state === "there"} />
      {summary.state !== "there" ? null : (
        <Bars
          title={yTitle}
          axisTitle={axisTitle}
          bars={bars}
          limit={barLimit}
          counts={counts}
          {...(onBar === undefined ? {} : { onPick: onBar })}
        />
      )}
    </ChartPane>
  );
}

function GroupsPane(props: ChartsProps): ReactElement {
  const { summary, limit, selected, extents } = props;
  const { params } = useView();
  const there = summary.state === "there" ? summary.value : null;
  const byLength = params.groups === "length" && (there?.sequences.length ?? 0) > 0;
  const head = selected === null ? -1 : addressOf(extents, selected).head;
  const groups = there === null ? [] : byLength ? there.sequences : there.heads;
  const bars = groups.map((group, index): Bar => {
    const over = limit !== null && group.maxAbs > limit.value;
    const label = byLength ? countText(there!.sequences[index]!.keys) : String(index);
    const chosen = !byLength && index === head;
    return {
      key: group.label,
      label,
      value: group.maxAbs,
      tone: chosen ? (over ? "selected over" : "selected") : over ? "over" : "plain",
      title: `${group.label}: max ${figureText(group.maxAbs)}, mean ${figureText(group.meanAbs)}, ${figureText(group.maxUlp)} ULP${
        group.nan + group.infinite > 0 ? `, ${group.nan} NaN, ${group.infinite} Inf` : ""
      }`,
    };
  });
  return (
    <BarsPane
      {...props}
      id="groups"
      line
      title={(there?.sequences.length ?? 0) > 0 ? "Worst by" : "Worst by head"}
      bars={bars}
      yTitle="max |error|, log"
      axisTitle={byLength ? "keys of the sequence" : "head"}
      barLimit={limit !== null && limit.value > 0 ? limit.value : null}
      counts={false}
      controls={
        (there?.sequences.length ?? 0) > 0 ? (
          <Segments
            label="Groups"
            choices={["head", "length"] as const}
            chosen={byLength ? "length" : "head"}
            word={(name) => (name === "length" ? "len" : name)}
            onChoose={(name) => setParams({ groups: name === "length" ? name : null })}
          />
        ) : null
      }
      onBar={(index) => {
        const at = groups[index]?.at;
        if (at !== null && at !== undefined) pick(at);
      }}
    />
  );
}

function UlpPane(props: ChartsProps): ReactElement {
  const { summary } = props;
  const there = summary.state === "there" ? summary.value : null;
  const share = there === null ? 0 : (100 * there.ulp.identical) / Math.max(1, there.whole.elements);
  return (
    <BarsPane
      {...props}
      id="ulp"
      title="ULP distance"
      meta={
        there === null
          ? ""
          : `identical ${share.toFixed(1)} %, p99.9 ${figureText(there.ulp.p999)}, max ${figureText(there.ulp.max)}`
      }
      bars={there === null ? [] : ulpBars(there.ulp)}
      yTitle="elements, log"
      axisTitle="ULP, output minus oracle"
      barLimit={null}
      counts
    />
  );
}

function FirstPane(props: ChartsProps): ReactElement {
  const [table, onTable] = useTable("position");
  const { other, subject, extents, selected, execution } = props;
  if (other === null) return <PositionPane {...props} />;
  return <ComparePane {...{ subject, other, extents, selected, execution, table, onTable }} />;
}

export function Charts(props: ChartsProps): ReactElement {
  return (
    <div className="page parity-charts">
      <FirstPane {...props} />
      <MapPane {...props} />
      <div className="page parity-lower hl">
        <UlpPane {...props} />
        <GroupsPane {...props} />
      </div>
    </div>
  );
}
