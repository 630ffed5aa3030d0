/** Threadgroups that one core holds, resource by resource: solid where certain, dashed up to where it may reach. */
import type { ReactElement } from "react";
import type { LimitEstimate, OccupancyEstimate } from "../../../electron/captures/occupancy.ts";
import { linearTicks } from "../../charts/dense_model.ts";
import { useSize } from "../../charts/use_size.ts";

const LEFT = 74;
const RIGHT = 14;
const TOP = 24;
const BOTTOM = 20;
/** Height of a bar; its note stands beneath. */
const BAR = 13;

export function spanText({ low, high }: { readonly low: number; readonly high: number }): string {
  return low === high ? String(low) : `${low} to ${high}`;
}

const ROLE_WORDS: Readonly<Record<LimitEstimate["role"], string>> = {
  limits: "limiter: ",
  may: "may limit: ",
  free: "",
};

interface RowProps {
  readonly limit: LimitEstimate;
  readonly most: number;
  readonly width: number;
  /** Top of the bar. */
  readonly y: number;
}

function Row({ limit: { id, groups, note, role }, most, width, y }: RowProps): ReactElement {
  const x = (value: number): number => LEFT + (Math.min(value, most) / most) * width;
  const [low, high] = [x(groups.low), x(groups.high)];
  const limits = role === "limits";
  // Beyond what the threads allow a number says nothing.
  const count = spanText({ low: Math.min(groups.low, most), high: Math.min(groups.high, most) });
  const inside = high + 60 > LEFT + width;
  return (
    <g>
      <text x={LEFT - 8} y={y + 10} textAnchor="end" className={limits ? "s" : "t2"}>
        {id}
      </text>
      <rect x={LEFT} y={y} width={Math.max(1, low - LEFT)} height={BAR} className={limits ? "occ-bar on" : "occ-bar"} />
      {high > low + 1 ? (
        <rect x={low + 0.5} y={y + 0.5} width={high - low - 1} height={BAR - 1} className="occ-may" />
      ) : null}
      <text
        x={inside ? LEFT + width - 6 : high + 6}
        y={y + 10}
        textAnchor={inside ? "end" : "start"}
        className={limits ? "s" : "t2 halo"}
      >
        {count}
      </text>
      <text x={LEFT} y={y + BAR + 12} className={limits ? "s" : ""}>
        {ROLE_WORDS[role]}
        {note}
      </text>
    </g>
  );
}

interface OccupancyChartProps {
  readonly estimate: OccupancyEstimate;
  /** Name and version. */
  readonly model: string;
}

export function OccupancyChart({ estimate, model }: OccupancyChartProps): ReactElement {
  const [holder, { width: whole, height }] = useSize();
  if (estimate.state === "refused") {
    return (
      <div className="body chart" ref={holder}>
        <p className="note fail inset">Does not launch: {estimate.reason}</p>
      </div>
    );
  }
  const { limits, groups, simdgroups } = estimate;
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
          <text x={whole - RIGHT} y={14} textAnchor="end">
            model {model}
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
              most={most}
              width={width}
              y={TOP + index * gap + Math.max(0, (gap - BAR - 16) / 2)}
            />
          ))}
        </svg>
      )}
    </div>
  );
}
