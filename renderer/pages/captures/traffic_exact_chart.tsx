/**
 * Exact bytes of a route by dispatch and buffer: what threads requested as an outline, what is distinct in a SIMD access
 * filled, the logical bytes of the formulas as a dashed mark.
 */
import { type ReactElement, useState } from "react";
import { ChartFrame } from "../../charts/chart_frame.tsx";
import { linearTicks } from "../../charts/dense_model.ts";
import { useSize } from "../../charts/use_size.ts";
import { countText } from "../../parts/text.ts";
import type { ExactBytes } from "./traffic_exact.ts";
import { trafficText, trafficUnit } from "./traffic_words.ts";

/** Room for `partial numerators, written`. */
const LEFT = 164;
const RIGHT = 14;
const TOP = 24;
const BOTTOM = 22;
/** Least and greatest height of a row. */
const LEAST = 15;
const MOST = 24;

/** The longest bar leaves room for its figure. */
const AIR = 1.2;

interface ExactChartProps {
  readonly route: string;
  readonly rows: readonly ExactBytes[];
}

function words({ dispatch, buffer, access, requested, distinct, derived }: ExactBytes): string {
  const formula = derived === null ? "not in the formulas" : `${countText(derived)} derived`;
  return `${dispatch} ${buffer}, ${access}: ${countText(requested)} bytes requested, ${countText(distinct)} distinct, ${formula}`;
}

export function ExactChart({ route, rows }: ExactChartProps): ReactElement {
  const [holder, { width: whole, height }] = useSize();
  const [at, setAt] = useState<number | null>(null);
  const room = Math.max(0, height - TOP - BOTTOM);
  const fit = Math.max(1, Math.floor(room / LEAST));
  const shown = [...rows].sort((a, b) => b.requested - a.requested).slice(0, fit);
  const step = Math.min(MOST, room / Math.max(1, shown.length));
  const bar = Math.max(5, step - 6);
  const most = Math.max(1, ...shown.flatMap(({ requested, derived }) => [requested, derived ?? 0])) * AIR;
  const unit = trafficUnit(most);
  const x = (bytes: number): number => LEFT + (bytes / most) * Math.max(1, whole - LEFT - RIGHT);
  return (
    <ChartFrame
      holder={holder}
      label={`Exact bytes of ${route} by dispatch and buffer`}
      count={shown.length}
      at={at}
      words={(index) => words(shown[index]!)}
      onAt={setAt}
    >
      {height < 70 ? null : (
        <svg width={whole} height={height} aria-hidden="true">
          <text x={12} y={14} className="t2">
            {unit.name}: outline requested, fill distinct, dash derived
          </text>
          {rows.length > shown.length ? (
            <text x={whole - RIGHT} y={14} textAnchor="end" className="t3">
              {`${rows.length - shown.length} more: table`}
            </text>
          ) : null}
          {linearTicks({ from: 0, to: most / unit.bytes }, 4).map((tick) => (
            <g key={tick}>
              <path d={`M${Math.round(x(tick * unit.bytes)) + 0.5} ${TOP - 4}V${height - BOTTOM + 2}`} className="gl" />
              <text x={x(tick * unit.bytes)} y={height - 6} textAnchor="middle">
                {countText(tick)}
              </text>
            </g>
          ))}
          {shown.map((row, index) => {
            const { dispatch, buffer, access, requested, distinct, derived } = row;
            const y = TOP + index * step + (step - bar) / 2;
            const end = x(requested);
            return (
              <g key={`${dispatch} ${buffer} ${access}`} onPointerEnter={() => setAt(index)}>
                <text x={LEFT - 7} y={y + bar / 2 + 4} textAnchor="end" className={index === at ? "strong" : "t2"}>
                  {`${dispatch} ${buffer}, ${access}`}
                </text>
                <rect x={LEFT} y={y} width={Math.max(1, x(distinct) - LEFT)} height={bar} className="exact-distinct" />
                <rect
                  x={LEFT + 0.5}
                  y={y + 0.5}
                  width={Math.max(1, end - LEFT - 1)}
                  height={Math.max(1, bar - 1)}
                  className={index === at ? "exact-requested at" : "exact-requested"}
                />
                {derived === null ? null : (
                  <path d={`M${Math.round(x(derived)) + 0.5} ${y - 3}V${y + bar + 3}`} className="limit dark" />
                )}
                <text x={Math.max(end, derived === null ? 0 : x(derived)) + 5} y={y + bar / 2 + 4}>
                  {trafficText(requested, unit)}
                </text>
              </g>
            );
          })}
        </svg>
      )}
    </ChartFrame>
  );
}
