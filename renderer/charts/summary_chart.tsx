/**
 * A summary as bars by Recharts: ULP distances, heads, lengths. Up to about 500 marks; where there are more, neighbours share
 * a bar that shows the largest of them. Colours come from the style sheet, so a change of theme draws nothing anew.
 */
import { type ReactElement, useState } from "react";
import { Bar, BarChart, type BarShapeProps, CartesianGrid, ReferenceLine, XAxis, YAxis } from "recharts";
import { figureText } from "../../electron/words.ts";
import { ChartFrame } from "./chart_frame.tsx";
import { barScale, isFlagged, pooledBars, type SummaryBar, spacedLabels } from "./summary_model.ts";
import { useSize } from "./use_size.ts";

export interface SummaryChartProps {
  /** With unit and scale; stands at the top left. */
  readonly title: string;
  /** Stands below, in the middle. */
  readonly axisTitle: string;
  readonly bars: readonly SummaryBar[];
  readonly scale: "log" | "linear";
  /** Counts begin at 1 on a log axis, so that a bar of one element is seen. */
  readonly counts?: boolean;
  readonly limit?: number | null;
  /** How a number of the y axis is written. */
  readonly yText?: (value: number) => string;
  readonly onPick?: (index: number) => void;
}

const MARGIN = { top: 26, right: 12, bottom: 34, left: 44 } as const;
/** A few bars do not fill the pane. */
const WIDEST = 72;
/** Lowest height at which something can be read. */
const LEAST_HEIGHT = 60;

interface TickProps {
  readonly x?: number | string;
  readonly y?: number | string;
  readonly index?: number;
  readonly payload?: { readonly value: number };
}

export function SummaryChart(props: SummaryChartProps): ReactElement {
  const { title, axisTitle, scale, counts = false, limit = null, yText, onPick } = props;
  const [holder, { width, height }] = useSize();
  const [at, setAt] = useState<number | null>(null);
  const bars = pooledBars(props.bars);
  const axis = barScale(bars, { scale, counts, limit, ...(yText === undefined ? {} : { yText }) });
  const inner = Math.max(1, width - MARGIN.left - MARGIN.right);
  const base = height - MARGIN.bottom;
  const chosen = bars.findIndex(({ tone }) => tone.startsWith("selected"));
  const labels = spacedLabels(bars, inner, chosen);
  const words = (index: number): string => bars[index]?.title ?? "";
  const pick = onPick === undefined ? undefined : (index: number) => onPick(bars[index]?.index ?? index);

  const shape = ({ x, y, width: wide, height: tall, index }: BarShapeProps): ReactElement => {
    // While the data changes Recharts may draw bars that are gone once more.
    const bar = bars[index];
    if (bar === undefined) return <g />;
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: the frame has the keys for it.
      <g
        className={pick === undefined ? "" : "pickable"}
        onPointerEnter={() => setAt(index)}
        onClick={() => pick?.(index)}
      >
        <rect
          x={MARGIN.left + (index * inner) / bars.length}
          y={MARGIN.top}
          width={inner / bars.length}
          height={Math.max(0, base - MARGIN.top)}
          className={index === at ? "barhit at" : "barhit"}
        />
        {bar.value > 0 || isFlagged(bar.tone) ? (
          <rect
            x={x}
            y={Math.min(y, base - 1)}
            width={Math.max(1, wide)}
            height={Math.max(1, tall)}
            className={`barrect ${bar.tone}`}
          />
        ) : null}
        {bar.limit === undefined || bar.limit === null || !(bar.limit > 0) ? null : (
          <path
            d={`M${x - 1} ${Math.round(base - axis.place(bar.limit) * (base - MARGIN.top)) + 0.5}h${Math.max(3, wide + 2)}`}
            className="barlimit"
          />
        )}
      </g>
    );
  };
  const xTick = ({ x, y, index = 0 }: TickProps): ReactElement => (
    <text x={x} y={Number(y) + 6} textAnchor="middle" className={index === chosen ? "s" : ""}>
      {labels[index]}
    </text>
  );
  const yTick = ({ x, y, payload }: TickProps): ReactElement => (
    <text x={Number(x) + 2} y={Number(y) + 4} textAnchor="end">
      {axis.ticks.find(({ place }) => place === payload?.value)?.words}
    </text>
  );
  return (
    <ChartFrame
      holder={holder}
      label={`${title}, ${bars.length} bars`}
      count={bars.length}
      at={at}
      words={words}
      onAt={setAt}
      onPick={pick}
    >
      {width === 0 || height < LEAST_HEIGHT || bars.length === 0 ? null : (
        <BarChart
          width={width}
          height={height}
          data={bars.map((bar, index) => ({ key: index, place: axis.placeOf(bar) }))}
          margin={{ top: MARGIN.top, right: MARGIN.right, bottom: MARGIN.bottom - 20, left: 0 }}
          barCategoryGap={inner / bars.length > 16 ? 2 : inner / bars.length > 3 ? 1 : 0}
          accessibilityLayer={false}
        >
          <CartesianGrid vertical={false} horizontalValues={axis.ticks.map(({ place }) => place)} />
          <YAxis
            width={MARGIN.left}
            domain={[0, 1]}
            ticks={axis.ticks.map(({ place }) => place)}
            interval={0}
            tick={yTick}
            tickLine={false}
            axisLine={false}
          />
          <XAxis dataKey="key" height={20} interval={0} tick={xTick} tickLine={false} axisLine={false} />
          <Bar dataKey="place" maxBarSize={WIDEST} isAnimationActive={false} shape={shape} />
          <ReferenceLine y={0} className="baseline" />
          {limit === null || axis.limit === null ? null : (
            <ReferenceLine
              y={axis.limit}
              className="limitline"
              label={<LimitWords value={limit} right={width - MARGIN.right} />}
            />
          )}
          <text x={MARGIN.left} y={14}>
            {title}
          </text>
          <text x={MARGIN.left + inner / 2} y={height - 5} textAnchor="middle">
            {axisTitle}
          </text>
        </BarChart>
      )}
    </ChartFrame>
  );
}

interface LimitWordsProps {
  readonly value: number;
  readonly right: number;
  /** Given by Recharts. */
  readonly viewBox?: { readonly y?: number };
}

function LimitWords({ value, right, viewBox }: LimitWordsProps): ReactElement {
  return (
    <text x={right} y={(viewBox?.y ?? 0) - 4} textAnchor="end" className="s">
      limit {figureText(value)}
    </text>
  );
}
