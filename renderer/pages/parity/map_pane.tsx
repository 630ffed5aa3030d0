/** The heat map of a result: head by position, its range, what is not finite. */
import { type ReactElement, useCallback, useRef, useState } from "react";
import { type AnswerOf, HEAT_MAP_CELLS } from "../../../electron/analysis/messages.ts";
import { figureText } from "../../../electron/words.ts";
import { PinAction } from "../../charts/chart_frame.tsx";
import { ChartPane, useTable } from "../../charts/chart_pane.tsx";
import { HeatMap } from "../../charts/heat_map.tsx";
import { heatMapPicture } from "../../charts/heat_map_picture.ts";
import { RangeControl } from "../../charts/range_control.tsx";
import { csvText, saveCanvas, saveCsv } from "../../charts/save.ts";
import type { Twin } from "../../charts/table_twin.tsx";
import { ActionButton } from "../../parts/button.tsx";
import { countText } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { setParams, useView } from "../../state/view.ts";
import { addressOf, addressText, MEASURE_WORDS, type Measure } from "./address.ts";
import { Asking, AXIS_WORDS, type ChartsProps, fileOf, noteOf, pick, placeOf } from "./chart_props.tsx";
import { pictureOf } from "./map_picture.ts";
import { useInspect } from "./use_inspect.ts";

/** Cells to ask for: whole steps, so that a pane that is dragged asks rarely; never more than the screen can show by far. */
function cellsFor(width: number, height: number): { readonly rows: number; readonly columns: number } {
  const columns = Math.min(4096, Math.max(128, Math.ceil(width / 128) * 128));
  return { columns, rows: Math.min(Math.floor(HEAT_MAP_CELLS / columns), Math.max(64, Math.ceil(height / 64) * 64)) };
}

function positive(text: string | undefined): number | null {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : null;
}

export function MapPane(props: ChartsProps): ReactElement {
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
  useAction("chart.fit", () => setParams({ low: null, high: null }));
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
            ? "max over d"
            : "an element a cell"
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
        save: () => {
          if (canvas.current === null || last === null) return;
          const shown = {
            range: high > 0 ? { low, high, log } : null,
            nan: params.nan !== "off",
            inf: params.inf !== "off",
          };
          const picture = heatMapPicture(canvas.current, pictureOf(props, last, shown));
          if (picture !== null) saveCanvas(fileOf(props, "heat-map"), picture);
        },
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
          <ActionButton action="chart.fit" look="quiet" title="Fit the range to the cells">
            Fit
          </ActionButton>
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
          {hovered === null ? null : <PinAction onPin={() => pick(last!.at[hovered]!)} />}
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
  if (marks === "") return figureText(value);
  return Number.isNaN(value) ? marks : `${marks}, else ${figureText(value)}`;
}

function cellTwin(map: MapAnswer, order: Int32Array, address: (cell: number) => string, measure: Measure): Twin {
  return {
    columns: [{ title: "rank" }, { title: "element", text: true }, { title: MEASURE_WORDS[measure].axis }],
    count: order.length,
    row: (index) => [countText(index + 1), address(order[index]!), cellText(map, order[index]!)],
    onPick: (index) => pick(map.at[order[index]!]!),
  };
}
