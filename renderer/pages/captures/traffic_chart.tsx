/** Logical bytes of two routes as stacked bars, and the least that any route moves as a dashed line. */
import { type ReactElement, useState } from "react";
import { bytesByKind, type RouteTraffic, TRAFFIC_KINDS, type TrafficKind } from "../../../kernels/traffic.ts";
import { ChartFrame } from "../../charts/chart_frame.tsx";
import { linearTicks } from "../../charts/dense_model.ts";
import { useSize } from "../../charts/use_size.ts";
import { countText } from "../../parts/text.ts";
import { partsText, trafficText, trafficUnit } from "./traffic_words.ts";

const LEFT = 22;
const RIGHT = 14;
const TOP = 26;
const BOTTOM = 22;
/** Tallest bar. */
const BAR = 26;
/** Width from which a segment carries its name. */
const NAMED = 56;

function colorOf(kind: TrafficKind): string {
  return `seg-${TRAFFIC_KINDS.indexOf(kind) + 1}`;
}

interface TrafficChartProps {
  readonly routes: readonly RouteTraffic[];
  readonly minimum: number;
}

export function TrafficChart({ routes, minimum }: TrafficChartProps): ReactElement {
  const [holder, { width: whole, height }] = useSize();
  const [at, setAt] = useState<number | null>(null);
  const width = Math.max(1, whole - LEFT - RIGHT);
  const most = Math.max(minimum, ...routes.map(({ totalBytes }) => totalBytes)) * 1.04;
  const unit = trafficUnit(most);
  const x = (bytes: number): number => LEFT + (bytes / most) * width;
  const gap = (height - TOP - BOTTOM) / Math.max(1, routes.length);
  const bar = Math.max(4, Math.min(BAR, gap - 20));
  const bars = routes.map((traffic) => ({
    route: traffic.route,
    total: traffic.totalBytes,
    parts: bytesByKind(traffic),
  }));
  const segments = bars.flatMap(({ route, parts }) => parts.map((part) => ({ route, ...part })));
  const words = (index: number): string => {
    const { route, kind, bytes } = segments[index]!;
    return `${route}, ${kind}: ${countText(bytes)} bytes`;
  };
  let place = 0;
  return (
    <ChartFrame
      holder={holder}
      label={`Logical bytes of ${routes.map(({ route }) => route).join(" and ")}`}
      count={segments.length}
      at={at}
      words={words}
      onAt={setAt}
    >
      {height < 70 ? null : (
        <svg width={whole} height={height} aria-hidden="true">
          <text x={LEFT} y={14} className="t2">
            {unit.name}, logical
          </text>
          {linearTicks({ from: 0, to: most / unit.bytes }, 5).map((tick) => (
            <g key={tick}>
              <path d={`M${Math.round(x(tick * unit.bytes)) + 0.5} ${TOP - 4}V${height - BOTTOM + 2}`} className="gl" />
              <text x={x(tick * unit.bytes)} y={height - 6} textAnchor={tick === 0 ? "start" : "middle"}>
                {countText(tick)}
              </text>
            </g>
          ))}
          {bars.map(({ route, total, parts }, row) => {
            const y = TOP + row * gap + Math.max(15, (gap - bar) / 2 + 7);
            let from = 0;
            return (
              <g key={route}>
                <text x={LEFT - 6} y={y + bar / 2 + 4} textAnchor="end" className={row === 0 ? "s key-a" : "s key-b"}>
                  {row === 0 ? "A" : "B"}
                </text>
                <text x={LEFT} y={y - 5} className="t2">
                  <tspan className="strong">{trafficText(total, unit)}</tspan>
                  <tspan dx={8}>{partsText(parts, total, unit)}</tspan>
                </text>
                {parts.map(({ kind, bytes }) => {
                  const index = place++;
                  const left = x(from);
                  from += bytes;
                  const wide = Math.max(1.5, x(from) - left - 1);
                  return (
                    <g key={kind} onPointerEnter={() => setAt(index)}>
                      <rect
                        x={left}
                        y={y}
                        width={wide}
                        height={bar}
                        className={`seg-bar ${colorOf(kind)}${index === at ? " at" : ""}`}
                      />
                      {wide > NAMED && bar >= 14 ? (
                        <text x={left + wide / 2} y={y + bar / 2 + 4} textAnchor="middle" className="on-bar">
                          {kind} {trafficText(bytes, unit)}
                        </text>
                      ) : null}
                    </g>
                  );
                })}
              </g>
            );
          })}
          <path d={`M${Math.round(x(minimum)) + 0.5} ${TOP - 6}V${height - BOTTOM + 2}`} className="limit dark" />
          <text x={whole - RIGHT} y={14} textAnchor="end">
            {`dashed: minimum ${trafficText(minimum, unit)}`}
          </text>
        </svg>
      )}
    </ChartFrame>
  );
}
