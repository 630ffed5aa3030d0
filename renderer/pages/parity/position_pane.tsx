/** The error along position: the largest and the mean at each place, with the edges of the kernel's work and the limit. */
import { type ReactElement, useRef } from "react";
import { figureText } from "../../../electron/words.ts";
import { ChartPane, useTable } from "../../charts/chart_pane.tsx";
import { DenseChart } from "../../charts/dense_chart.tsx";
import { csvText, saveCsv, savePng } from "../../charts/save.ts";
import type { Twin } from "../../charts/table_twin.tsx";
import { Segments } from "../../parts/segments.tsx";
import { countText } from "../../parts/text.ts";
import { setParams, useView } from "../../state/view.ts";
import { addressOf, addressText, MEASURE_WORDS } from "./address.ts";
import {
  Asking,
  AXIS_WORDS,
  type ChartsProps,
  fileOf,
  MeasureSegments,
  noteOf,
  pick,
  placeOf,
} from "./chart_props.tsx";
import { useInspect } from "./use_inspect.ts";

export function PositionPane(props: ChartsProps): ReactElement {
  const { subject, extents, axis, axes, measure, limit, selected } = props;
  const { params } = useView();
  const canvas = useRef<HTMLCanvasElement>(null);
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
        kind: "PNG",
        save: () => {
          const note = noteOf(props, "error along position");
          if (canvas.current !== null) savePng(fileOf(props, "error-along-position"), canvas.current, note);
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
        <DenseChart
          canvas={canvas}
          data={{
            title: `max (blue) and mean (grey) ${MEASURE_WORDS[drawn].axis}, log`,
            xTitle: AXIS_WORDS[axis],
            scale: "log",
            series: [
              { label: "max", values: last.max, color: "--cat-1", look: "marked", width: 1.5 },
              { label: "mean", values: last.mean, color: "--text-3", look: "line" },
            ],
            flags: last.flags,
            edges: last.edges.filter((set) => !hidden.includes(set.kind)),
            limits:
              limit === null || drawn !== "abs" || !(limit.value > 0)
                ? []
                : [
                    {
                      value: limit.value,
                      label: `limit ${figureText(limit.value)}${limit.where === null ? "" : `, ${limit.where}`}`,
                    },
                  ],
          }}
          selected={
            address === null
              ? null
              : { index: placeOf(axis, address), label: `${axis === "token" ? "q" : "d"} ${placeOf(axis, address)}` }
          }
          onPick={(place) => pick(last.at[place]!)}
        />
      )}
    </ChartPane>
  );
}
