/** The black and the white point of a heat map, over the histogram of all its cells. */
import { type KeyboardEvent, type PointerEvent, type ReactElement, useRef } from "react";
import { figureText } from "../../electron/words.ts";
import { GUTTER } from "./plot.ts";
import { useSize } from "./use_size.ts";

export interface RangeControlProps {
  /** log10 of both ends of the histogram. */
  readonly from: number;
  readonly to: number;
  readonly counts: readonly number[];
  readonly low: number;
  readonly high: number;
  readonly signed: boolean;
  readonly limit: number | null;
  readonly onChange: (low: number, high: number) => void;
}

const HISTOGRAM = 20;
const BAND = 10;
/** Share of a decade that a key moves a handle by. */
const KEY_STEP = 0.1;

interface HandleProps {
  readonly name: "low" | "high";
  readonly x: number;
  readonly at: number;
  readonly from: number;
  readonly to: number;
  readonly put: (exponent: number) => void;
  readonly exponentAt: (clientX: number) => number;
}

function Handle({ name, x, at, from, to, put, exponentAt }: HandleProps): ReactElement {
  const onKey = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    put(at + by * KEY_STEP);
  };
  const onMove = (event: PointerEvent<SVGGElement>): void => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) put(exponentAt(event.clientX));
  };
  const top = HISTOGRAM + BAND;
  return (
    <g
      role="slider"
      tabIndex={0}
      aria-label={name === "low" ? "Low end of the range" : "High end of the range"}
      aria-valuemin={from}
      aria-valuemax={to}
      aria-valuenow={at}
      aria-valuetext={figureText(10 ** at)}
      className="handle"
      onKeyDown={onKey}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onMove}
    >
      <rect x={x - 8} y={HISTOGRAM - 4} width="16" height={BAND + 16} fill="transparent" />
      <path d={`M${x} ${HISTOGRAM - 3}V${top + 2}m0 0l-5 8h10z`} />
    </g>
  );
}

/** Width that a label and its distance from the handle take. */
const LABEL = 90;

export function RangeControl(props: RangeControlProps): ReactElement {
  const { from, to, counts, low, high, signed, limit, onChange } = props;
  const [holder, { width: whole }] = useSize();
  const svg = useRef<SVGSVGElement>(null);
  const width = Math.max(1, whole - GUTTER.left - GUTTER.right);
  const x = (exponent: number): number =>
    GUTTER.left + Math.min(1, Math.max(0, (exponent - from) / (to - from))) * width;
  const exponentAt = (clientX: number): number => {
    const left = svg.current?.getBoundingClientRect().left ?? 0;
    return from + ((clientX - left - GUTTER.left) / width) * (to - from);
  };
  const most = Math.max(1, ...counts);
  const clamp = (exponent: number): number => Math.min(to, Math.max(from, exponent));
  const [lowAt, highAt] = [Math.log10(low), Math.log10(high)];
  const lowX = x(lowAt);
  const highX = x(highAt);
  const limitAt = limit === null || !(limit > 0) ? null : Math.log10(limit);
  const limitX = limitAt === null || limitAt < from || limitAt > to ? null : x(limitAt);
  const text = HISTOGRAM + BAND + 12;
  // The texts give way to each other: the handles' first, the limit's word if there is room.
  // Labels stand between the handles, unless they would meet there.
  const close = highX - lowX < 2 * LABEL;
  const roomLeft = lowX - GUTTER.left > LABEL;
  const roomRight = GUTTER.left + width - highX > LABEL;
  const lowLeft = lowX - GUTTER.left > width * 0.75 || (close && roomLeft);
  const highRight = highX - GUTTER.left < width * 0.3 || (close && !roomLeft && roomRight);
  const limitFree = limitX !== null && Math.abs(limitX - lowX - 45) > 62 && Math.abs(limitX - highX + 45) > 62;
  return (
    <div className="range" ref={holder}>
      <svg ref={svg} width={whole} height="46">
        <title>Range of the colours over the histogram of all cells</title>
        <defs>
          <linearGradient id="rangefill">
            {Array.from({ length: 9 }, (_, stop) => (
              <stop
                // biome-ignore lint/suspicious/noArrayIndexKey: the stop is what it stands for.
                key={stop}
                offset={stop / 8}
                style={{ stopColor: signed ? `var(--div-${4 + Math.ceil(stop / 2)})` : `var(--seq-${stop})` }}
              />
            ))}
          </linearGradient>
        </defs>
        {counts.map((count, bin) =>
          count === 0 ? null : (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: the bin is what it stands for.
              key={bin}
              x={GUTTER.left + (bin * width) / counts.length + 0.5}
              width={Math.max(1, width / counts.length - 1)}
              y={HISTOGRAM - Math.max(1, (Math.log1p(count) / Math.log1p(most)) * HISTOGRAM)}
              height={Math.max(1, (Math.log1p(count) / Math.log1p(most)) * HISTOGRAM)}
              className="histbar"
            />
          ),
        )}
        <rect
          x={GUTTER.left}
          y={HISTOGRAM}
          width={Math.max(0, lowX - GUTTER.left)}
          height={BAND}
          fill={signed ? "var(--div-4)" : "var(--seq-0)"}
        />
        <rect x={lowX} y={HISTOGRAM} width={Math.max(0, highX - lowX)} height={BAND} fill="url(#rangefill)" />
        <rect
          x={highX}
          y={HISTOGRAM}
          width={Math.max(0, GUTTER.left + width - highX)}
          height={BAND}
          fill={`var(--${signed ? "div" : "seq"}-8)`}
        />
        <rect x={GUTTER.left + 0.5} y={HISTOGRAM + 0.5} width={width - 1} height={BAND - 1} className="rangeframe" />
        <text x={GUTTER.left - 6} y={HISTOGRAM + 9} textAnchor="end">
          range
        </text>
        {limitX === null ? null : <path d={`M${limitX} 0V${HISTOGRAM + BAND}`} className="limit" />}
        {limitX !== null && limitFree ? (
          <text x={limitX} y={text} textAnchor="middle" className="f">
            limit
          </text>
        ) : null}
        <text x={lowLeft ? lowX - 10 : lowX + 10} y={text} textAnchor={lowLeft ? "end" : "start"} className="t2">
          low {figureText(low)}
        </text>
        <text x={highRight ? highX + 10 : highX - 10} y={text} textAnchor={highRight ? "start" : "end"} className="t2">
          high {figureText(high)}
        </text>
        <Handle
          name="low"
          x={lowX}
          at={lowAt}
          from={from}
          to={to}
          exponentAt={exponentAt}
          put={(exponent) => onChange(10 ** Math.min(clamp(exponent), highAt - KEY_STEP), high)}
        />
        <Handle
          name="high"
          x={highX}
          at={highAt}
          from={from}
          to={to}
          exponentAt={exponentAt}
          put={(exponent) => onChange(low, 10 ** Math.max(clamp(exponent), lowAt + KEY_STEP))}
        />
      </svg>
    </div>
  );
}
