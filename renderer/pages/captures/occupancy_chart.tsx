/** Threadgroups that one core holds, resource by resource: solid where certain, dashed up to where it may reach. */
import type { ReactElement } from "react";
import type { LimitEstimate, OccupancyEstimate } from "../../../electron/captures/occupancy.ts";
import { linearTicks } from "../../charts/dense_model.ts";
import { useSize } from "../../charts/use_size.ts";

const LEFT = 74;
const RIGHT = 14;
const TOP = 24;
const BOTTOM = 20;
/** Width of a character of a note, about. */
const CHARACTER = 5.6;

export function spanText({ low, high }: { readonly low: number; readonly high: number }): string {
  return low === high ? String(low) : `${low} to ${high}`;
}

interface RowProps {
  readonly limit: LimitEstimate;
  readonly limits: boolean;
  readonly most: number;
  readonly width: number;
  readonly y: number;
}

function Row({ limit, limits, most, width, y }: RowProps): ReactElement {
  const { id, groups, note } = limit;
  const x = (value: number): number => LEFT + (Math.min(value, most) / most) * width;
  const [low, high] = [x(groups.low), x(groups.high)];
  const count = groups.low >= most ? "" : `${spanText({ low: groups.low, high: Math.min(groups.high, most) })}: `;
  const words = `${limits ? "limiter, " : ""}${count}${note}`;
  const inside = high + 8 + words.length * CHARACTER > LEFT + width;
  return (
    <g>
      <text x={LEFT - 8} y={y + 4} textAnchor="end" className={limits ? "s" : "t2"}>
        {id}
      </text>
      <rect
        x={LEFT}
        y={y - 7}
        width={Math.max(1, low - LEFT)}
        height={14}
        className={limits ? "occ-bar on" : "occ-bar"}
      />
      {high > low + 1 ? (
        <rect x={low + 0.5} y={y - 6.5} width={high - low - 1} height={13} className="occ-may" />
      ) : null}
      <text
        x={inside ? LEFT + width - 4 : high + 8}
        y={y + 4}
        textAnchor={inside ? "end" : "start"}
        className={limits ? "s" : inside ? "t2 halo" : ""}
      >
        {words}
      </text>
    </g>
  );
}

export function OccupancyChart({ estimate }: { readonly estimate: OccupancyEstimate }): ReactElement {
  const [holder, { width: whole, height }] = useSize();
  if (estimate.state === "refused") {
    return (
      <div className="body chart" ref={holder}>
        <p className="note fail inset">Does not launch: {estimate.reason}</p>
      </div>
    );
  }
  const { limits, groups, simdgroups, limiters } = estimate;
  const width = Math.max(1, whole - LEFT - RIGHT);
  const most = Math.max(1, limits.find(({ id }) => id === "threads")!.groups.high);
  const gap = (height - TOP - BOTTOM) / limits.length;
  const ticks = linearTicks({ from: 0, to: most }, 4).filter(Number.isInteger);
  return (
    <div className="body chart" ref={holder}>
      {height < 60 ? null : (
        <svg
          width={whole}
          height={height}
          role="img"
          aria-label={`A core holds ${spanText(groups)} threadgroups, ${spanText(simdgroups)} simdgroups; estimate`}
        >
          <text x={12} y={14} className="t2">
            threadgroups a core
          </text>
          {ticks.map((tick) => (
            <g key={tick}>
              <path
                d={`M${Math.round(LEFT + (tick / most) * width) + 0.5} ${TOP - 4}V${height - BOTTOM + 2}`}
                className="gl"
              />
              <text
                x={LEFT + (tick / most) * width}
                y={height - 5}
                textAnchor={tick === 0 ? "start" : tick === most ? "end" : "middle"}
              >
                {tick}
              </text>
            </g>
          ))}
          {limits.map((limit, index) => (
            <Row
              key={limit.id}
              limit={limit}
              limits={limiters.includes(limit.id)}
              most={most}
              width={width}
              y={TOP + (index + 0.5) * gap}
            />
          ))}
        </svg>
      )}
    </div>
  );
}
