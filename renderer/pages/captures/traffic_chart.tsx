/** Logical bytes of two routes as bars stacked by Recharts, and the least that any route moves as a dashed line. */
import { type ReactElement, useState } from "react";
import {
  Bar,
  BarChart,
  type BarShapeProps,
  CartesianGrid,
  ReferenceLine,
  XAxis,
  YAxis,
  type YAxisTickContentProps,
  ZIndexLayer,
} from "recharts";
import { bytesByKind, type RouteTraffic, TRAFFIC_KINDS, type TrafficKind } from "../../../kernels/traffic.ts";
import { ChartFrame } from "../../charts/chart_frame.tsx";
import { linearTicks } from "../../charts/dense_model.ts";
import { useSize } from "../../charts/use_size.ts";
import { countText } from "../../parts/text.ts";
import { partsText, trafficText, trafficUnit } from "./traffic_words.ts";

const MARGIN = { top: 22, right: 14, bottom: 0, left: 0 } as const;
/** Room for the letter of a route. */
const LETTER = 22;
const AXIS_HEIGHT = 22;
/** Tallest bar. */
const BAR = 26;
/** The words of a bar stand above it, so that it lies below the middle of its band. */
const SHIFT = 7;
/** Width from which a segment carries its name. */
const NAMED = 56;
/** Above bars and lines. */
const WORDS_LAYER = 900;

interface TrafficChartProps {
  readonly routes: readonly RouteTraffic[];
  readonly minimum: number;
}

interface TickProps {
  readonly x?: number | string;
  readonly y?: number | string;
  readonly payload?: { readonly value: number };
}

export function TrafficChart({ routes, minimum }: TrafficChartProps): ReactElement {
  const [holder, { width, height }] = useSize();
  const [at, setAt] = useState<number | null>(null);
  const most = Math.max(minimum, ...routes.map(({ totalBytes }) => totalBytes)) * 1.04;
  const unit = trafficUnit(most);
  const band = (height - MARGIN.top - AXIS_HEIGHT) / Math.max(1, routes.length);
  const tall = Math.max(4, Math.min(BAR, band - 20));
  const bars = routes.map((traffic, row) => {
    const parts = bytesByKind(traffic);
    const y = MARGIN.top + (row + 0.5) * band - tall / 2 + SHIFT;
    return { route: traffic.route, letter: row === 0 ? "A" : "B", total: traffic.totalBytes, parts, y };
  });
  const segments = bars.flatMap(({ route, parts }) => parts.map((part) => ({ route, ...part })));
  const words = (index: number): string => {
    const { route, kind, bytes } = segments[index]!;
    return `${route}, ${kind}: ${countText(bytes)} bytes`;
  };
  // Recharts stacks in the order in which bars appear first, so every kind has a bar at all times.
  const shapeOf =
    (kind: TrafficKind) =>
    ({ x, width: whole, index: row }: BarShapeProps): ReactElement => {
      const bar = bars[row];
      const part = bar?.parts.find((each) => each.kind === kind);
      if (bar === undefined || part === undefined) return <g />;
      const index = segments.findIndex((each) => each.route === bar.route && each.kind === kind);
      const wide = Math.max(1.5, whole - 1);
      return (
        <g onPointerEnter={() => setAt(index)}>
          <rect
            x={x}
            y={bar.y}
            width={wide}
            height={tall}
            className={`seg-bar seg-${TRAFFIC_KINDS.indexOf(kind) + 1}${index === at ? " at" : ""}`}
          />
          {wide > NAMED && tall >= 14 ? (
            <text x={x + wide / 2} y={bar.y + tall / 2 + 4} textAnchor="middle" className="on-bar">
              {kind} {trafficText(part.bytes, unit)}
            </text>
          ) : null}
        </g>
      );
    };
  const xTick = ({ x, y, payload }: TickProps): ReactElement => (
    <text x={x} y={Number(y) + 8} textAnchor={payload?.value === 0 ? "start" : "middle"}>
      {countText((payload?.value ?? 0) / unit.bytes)}
    </text>
  );
  const yTick = ({ index }: YAxisTickContentProps): ReactElement => (
    <text
      x={LETTER - 6}
      y={(bars[index]?.y ?? 0) + tall / 2 + 4}
      textAnchor="end"
      className={index === 0 ? "s key-a" : "s key-b"}
    >
      {bars[index]?.letter}
    </text>
  );
  return (
    <ChartFrame
      holder={holder}
      label={`Logical bytes of ${routes.map(({ route }) => route).join(" and ")}`}
      count={segments.length}
      at={at}
      words={words}
      onAt={setAt}
    >
      {width === 0 || height < 70 ? null : (
        <BarChart
          layout="vertical"
          width={width}
          height={height}
          data={bars.map(({ letter, parts }) => ({
            letter,
            ...Object.fromEntries(TRAFFIC_KINDS.map((kind) => [kind, 0])),
            ...Object.fromEntries(parts.map(({ kind, bytes }) => [kind, bytes])),
          }))}
          margin={MARGIN}
          barCategoryGap={0}
          accessibilityLayer={false}
        >
          <CartesianGrid horizontal={false} />
          <XAxis
            type="number"
            domain={[0, most]}
            ticks={linearTicks({ from: 0, to: most / unit.bytes }, 5).map((tick) => tick * unit.bytes)}
            interval={0}
            height={AXIS_HEIGHT}
            tick={xTick}
            tickLine={false}
            axisLine={false}
          />
          <YAxis
            type="category"
            dataKey="letter"
            width={LETTER}
            interval={0}
            tick={yTick}
            tickLine={false}
            axisLine={false}
          />
          {TRAFFIC_KINDS.map((kind) => (
            <Bar key={kind} dataKey={kind} stackId="bytes" isAnimationActive={false} shape={shapeOf(kind)} />
          ))}
          <ReferenceLine x={minimum} className="limitline" />
          <ZIndexLayer zIndex={WORDS_LAYER}>
            <text x={LETTER} y={14} className="t2">
              {unit.name}, logical
            </text>
            <text x={width - MARGIN.right} y={14} textAnchor="end">
              {`dashed: minimum ${trafficText(minimum, unit)}`}
            </text>
            {bars.map(({ letter, total, parts, y }) => (
              <text key={letter} x={LETTER} y={y - 5} className="t2 halo">
                <tspan className="strong">{trafficText(total, unit)}</tspan>
                <tspan dx={8}>{partsText(parts, total, unit)}</tspan>
              </text>
            ))}
          </ZIndexLayer>
        </BarChart>
      )}
    </ChartFrame>
  );
}
