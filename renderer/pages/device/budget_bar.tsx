/**
 * The memory as one stacked bar by Recharts: what is known is solid, what is chosen or estimated is hatched, what is left
 * is hollow. The limit is a dashed line; the range of an estimated limit is hatched above the bar.
 */
import type { ReactElement } from "react";
import { Bar, BarChart, type BarShapeProps, ReferenceArea, ReferenceLine, XAxis, YAxis } from "recharts";
import {
  type Budget,
  type BudgetPart,
  binaryText,
  GIB,
  PART_IDS,
  type WorkingSet,
} from "../../../electron/device/budget.ts";
import { useSize } from "../../charts/use_size.ts";
import { fitting, gibTicks } from "./budget_axis.ts";

const MARGIN = { top: 30, right: 16, bottom: 4, left: 12 } as const;
const AXIS_HEIGHT = 22;
/** Short words for a narrow segment. */
const SHORT: Readonly<Record<BudgetPart["id"], string>> = {
  weights: "weights",
  runtime: "runtime",
  scratch: "scratch",
  windowed: "KV, windowed",
  kv: "KV",
  left: "left",
  system: "macOS",
};

interface BudgetBarProps {
  readonly budget: Budget;
  readonly limit: WorkingSet;
  readonly memoryBytes: number;
}

interface TickProps {
  readonly x?: number | string;
  readonly y?: number | string;
  readonly payload?: { readonly value: number };
}

interface MarkProps {
  readonly text: string;
  readonly anchor: "start" | "end";
  readonly className: string;
  /** Distance from the top; Recharts gives a `y` of its own. */
  readonly top: number;
  /** Given by Recharts. */
  readonly viewBox?: { readonly x?: number };
}

function Mark({ text, anchor, className, top, viewBox }: MarkProps): ReactElement {
  const x = (viewBox?.x ?? 0) + (anchor === "end" ? -4 : 4);
  return (
    <text x={x} y={top} textAnchor={anchor} className={className}>
      {text}
    </text>
  );
}

function Hatches(): ReactElement {
  return (
    <defs>
      {(["cat", "grey"] as const).map((name) => (
        <pattern
          key={name}
          id={`budget-hatch-${name}`}
          width={6}
          height={6}
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <path d="M0 3h6" className={`hatch ${name}`} />
        </pattern>
      ))}
    </defs>
  );
}

export function BudgetBar({ budget, limit, memoryBytes }: BudgetBarProps): ReactElement {
  const [holder, { width, height }] = useSize();
  const most = Math.max(memoryBytes, budget.needBytes);
  const inner = width - MARGIN.left - MARGIN.right;
  const { parts } = budget;
  // Recharts stacks in the order in which bars appear first, so every part has a bar at all times.
  const row = Object.fromEntries(PART_IDS.map((id) => [id, parts.find((part) => part.id === id)?.bytes ?? 0]));
  const shapeOf =
    (part: BudgetPart | undefined) =>
    ({ x, y, width: wide, height: tall }: BarShapeProps): ReactElement => {
      if (part === undefined || !(wide > 0)) return <g />;
      const label = fitting([`${part.label} ${binaryText(part.bytes)}`, part.label, SHORT[part.id]], wide);
      return (
        <g className={`seg-${part.id}`}>
          <title>{`${part.label}: ${binaryText(part.bytes)}, ${part.how}`}</title>
          <rect x={x + 0.5} y={y + 0.5} width={Math.max(0, wide - 1)} height={tall - 1} className="ground" />
          {part.id === "system" || part.id === "runtime" ? (
            <rect
              x={x + 0.5}
              y={y + 0.5}
              width={Math.max(0, wide - 1)}
              height={tall - 1}
              fill={`url(#budget-hatch-${part.id === "runtime" ? "cat" : "grey"})`}
            />
          ) : null}
          {label === "" ? null : (
            <text x={x + wide / 2} y={y + tall / 2 + 4} textAnchor="middle" className="on">
              {label}
            </text>
          )}
        </g>
      );
    };
  const tick = ({ x, y, payload }: TickProps): ReactElement => (
    <text x={x} y={Number(y) + 8} textAnchor="middle">
      {((payload?.value ?? 0) / GIB).toLocaleString("en-US")}
    </text>
  );
  const ranged = limit.low !== limit.high;
  const lowEnd = (limit.low / most) * inner;
  const anchor = lowEnd > inner / 2 ? "end" : "start";
  const limitText = ranged
    ? `limit ${binaryText(limit.low)} to ${binaryText(limit.high)}, estimate`
    : `limit ${binaryText(limit.low)}${limit.by === "api" ? "" : ", estimate"}`;
  const words = parts.map(({ label, bytes }) => `${label} ${binaryText(bytes)}`).join(", ");
  return (
    <div className="chart budgetbar" ref={holder} data-chart="budget">
      {width === 0 ? null : (
        <BarChart
          layout="vertical"
          width={width}
          height={height}
          data={[row]}
          margin={MARGIN}
          barCategoryGap={0}
          accessibilityLayer={false}
          role="img"
          aria-label={`Memory in GiB: ${words}; ${limitText}`}
        >
          <Hatches />
          <XAxis
            type="number"
            domain={[0, most]}
            ticks={gibTicks(most)}
            interval={0}
            height={AXIS_HEIGHT}
            tick={tick}
            tickLine={false}
            axisLine={false}
          />
          <YAxis type="category" hide />
          {PART_IDS.map((id) => (
            <Bar
              key={id}
              dataKey={id}
              stackId="memory"
              isAnimationActive={false}
              shape={shapeOf(parts.find((part) => part.id === id))}
            />
          ))}
          {budget.needBytes > limit.low ? (
            <ReferenceArea x1={limit.low} x2={budget.needBytes} className="over" fill="none" />
          ) : null}
          {ranged ? <ReferenceLine x={limit.high} className="limitline faint" /> : null}
          <ReferenceLine
            x={limit.low}
            className="limitline"
            label={<Mark text={limitText} anchor={anchor} className="s" top={MARGIN.top - 8} />}
          />
          {most > memoryBytes ? (
            <ReferenceLine
              x={memoryBytes}
              className="memoryline"
              label={
                <Mark text={`memory ${binaryText(memoryBytes)}`} anchor="start" className="" top={MARGIN.top - 8} />
              }
            />
          ) : null}
          <text x={MARGIN.left} y={14} className="title">
            GiB
          </text>
        </BarChart>
      )}
    </div>
  );
}
