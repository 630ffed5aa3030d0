/** Bars over a few named groups on a log axis: ULP distances, heads, sequences. */
import type { ReactElement } from "react";
import { decadeText, decadeTicks, logPlace, logScaleOf } from "./scale.ts";
import { useSize } from "./use_size.ts";

export interface Bar {
  readonly key: string;
  readonly label: string;
  readonly value: number;
  readonly tone: "plain" | "middle" | "over" | "selected" | "selected over";
  readonly title: string;
}

export interface BarsProps {
  readonly title: string;
  readonly axisTitle: string;
  readonly bars: readonly Bar[];
  readonly limit: number | null;
  /** Counts begin at 1, so that a bar of one element is seen. */
  readonly counts: boolean;
  readonly onPick?: (index: number) => void;
}

const TOP = 26;
const BOTTOM = 34;
const LEFT = 44;
const RIGHT = 12;
/** Width that a label needs. */
const LABEL = 38;

export function Bars({ title, axisTitle, bars, limit, counts, onPick }: BarsProps): ReactElement {
  const [holder, { width: whole, height }] = useSize();
  const width = Math.max(1, whole - LEFT - RIGHT);
  const base = height - BOTTOM;
  const values = bars.map(({ value }) => value);
  const found = logScaleOf(limit === null ? values : [...values, limit]);
  // A bar at the low end of the axis would have no height.
  const scale = counts ? { from: -0.3, to: Math.max(1, found.to) } : { from: found.from - 0.3, to: found.to };
  const ticks = counts ? { from: 0, to: scale.to } : found;
  const y = (value: number): number => base - logPlace(scale, value) * (base - TOP);
  const step = width / Math.max(1, bars.length);
  const every = Math.max(1, Math.ceil(LABEL / step));
  const chosen = bars.findIndex(({ tone }) => tone.startsWith("selected"));
  return (
    <div className="body chart" ref={holder}>
      {height < 60 || bars.length === 0 ? null : (
        <svg width={whole} height={height} role="img" aria-label={`${title}, ${bars.length} bars; T shows the table`}>
          <text x={LEFT} y={14}>
            {title}
          </text>
          {decadeTicks(ticks).map((exponent) => (
            <g key={exponent}>
              <path d={`M${LEFT} ${Math.round(y(10 ** exponent)) + 0.5}h${width}`} className="gl" />
              <text x={LEFT - 6} y={y(10 ** exponent) + 4} textAnchor="end">
                {decadeText(exponent)}
              </text>
            </g>
          ))}
          {bars.map(({ key, label, value, tone, title: words }, index) => {
            const x = LEFT + index * step;
            const top = y(value);
            const labelled =
              index === chosen || (index % every === 0 && (chosen < 0 || Math.abs(index - chosen) >= every));
            return (
              // biome-ignore lint/a11y/noStaticElementInteractions: likewise.
              <g key={key} onClick={() => onPick?.(index)} className={onPick ? "pickable" : ""}>
                <rect x={x} y={TOP} width={step} height={Math.max(0, base - TOP)} fill="transparent" />
                {value > 0 ? (
                  <rect
                    x={x + Math.min(2, step / 8)}
                    y={top}
                    width={Math.max(1, step - Math.min(4, step / 4))}
                    height={Math.max(1, base - top)}
                    className={`barrect ${tone}`}
                  />
                ) : null}
                {labelled ? (
                  <text x={x + step / 2} y={base + 14} textAnchor="middle" className={index === chosen ? "s" : ""}>
                    {label}
                  </text>
                ) : null}
                <title>{words}</title>
              </g>
            );
          })}
          <path d={`M${LEFT} ${base + 0.5}h${width}`} className="axl" />
          {limit === null ? null : (
            <path d={`M${LEFT} ${Math.round(y(limit)) + 0.5}h${width}`} className="limit dark" />
          )}
          <text x={LEFT + width / 2} y={height - 5} textAnchor="middle">
            {axisTitle}
          </text>
        </svg>
      )}
    </div>
  );
}
