/** Two roofs on log axes, drawn dashed as a datasheet's, the intensity of each route, and points where there are any. */
import type { ReactElement } from "react";
import { useSize } from "../../charts/use_size.ts";
import { countText } from "../../parts/text.ts";
import { type RoofPoint, type Roofs, ridgeOf, roofAt, shareText } from "./roofline.ts";

const LEFT = 52;
const RIGHT = 14;
const TOP = 24;
const BOTTOM = 32;
/** Width of a character of a label, about. */
const CHARACTER = 6.8;
/** Height of a label. */
const LINE = 15;

/** Whole decades around the values, as exponents. */
function decades(values: readonly number[]): readonly [number, number] {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  return [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))];
}

interface Place {
  readonly point: RoofPoint;
  readonly left: number;
  readonly top: number;
}

interface Label {
  readonly words: string;
  readonly x: number;
  readonly y: number;
  readonly end: boolean;
  readonly measured: boolean;
}

/** Where the names stand: beside measured points, else on the base line; never one on another. */
function placeLabels(
  places: readonly Place[],
  { base, right }: { readonly base: number; readonly right: number },
): readonly (Place & { readonly label: Label })[] {
  const measured = places.some(({ point }) => point.gflops !== null);
  const order = [...places].sort((one, two) => (measured ? one.top - two.top : one.left - two.left));
  let last = Number.NEGATIVE_INFINITY;
  return order.map((place, index) => {
    const { series, route, intensity, gflops, share } = place.point;
    const words =
      gflops === null
        ? `${series.toUpperCase()} ${route}, ${Number(intensity.toPrecision(3))} FLOP/B`
        : `${series.toUpperCase()} ${countText(Math.round(gflops))}, ${shareText(share ?? 0)}`;
    const from = gflops === null ? place.left + 6 : Math.max(...places.map(({ left }) => left)) + 9;
    const end = from + words.length * CHARACTER > right;
    const y = gflops === null ? base - 10 - LINE * (order.length - 1 - index) : Math.max(place.top + 4, last + LINE);
    last = y;
    return { ...place, label: { words, x: end ? right - 2 : from, y, end, measured: gflops !== null } };
  });
}

function SeriesMark({ series, x, y }: { readonly series: "a" | "b"; readonly x: number; readonly y: number }) {
  return series === "a" ? (
    <circle cx={x} cy={y} r={4} className="dot-a" />
  ) : (
    <rect x={x - 3.8} y={y - 3.8} width={7.6} height={7.6} className="dot-b" />
  );
}

interface RooflineChartProps {
  readonly roofs: Roofs;
  readonly points: readonly RoofPoint[];
}

export function RooflineChart({ roofs, points }: RooflineChartProps): ReactElement {
  const [holder, { width: whole, height }] = useSize();
  const [width, base] = [Math.max(1, whole - LEFT - RIGHT), height - BOTTOM];
  const ridge = ridgeOf(roofs);
  const [xFrom, xTo] = decades([ridge / 20, ridge * 4, ...points.map(({ intensity }) => intensity / 1.5)]);
  const low = roofAt(roofs, 10 ** xFrom);
  const [yFrom] = decades([low, ...points.flatMap(({ gflops }) => gflops ?? [])]);
  const yTo = Math.log10(roofs.gflops) + 0.35;
  const x = (value: number): number => LEFT + ((Math.log10(value) - xFrom) / (xTo - xFrom)) * width;
  const y = (value: number): number => base - ((Math.log10(value) - yFrom) / (yTo - yFrom)) * (base - TOP);
  const exponents = (from: number, to: number): readonly number[] =>
    Array.from({ length: Math.floor(to) - from + 1 }, (_, index) => from + index);
  const yTicks = exponents(yFrom, yTo);
  const every = Math.max(1, Math.ceil((yTicks.length * 16) / Math.max(1, base - TOP)));
  const placed = placeLabels(
    points.map((point) => ({
      point,
      left: x(point.intensity),
      top: y(point.gflops ?? roofAt(roofs, point.intensity)),
    })),
    { base, right: LEFT + width },
  );
  return (
    <div className="body chart" ref={holder}>
      {height < 100 ? null : (
        <svg
          width={whole}
          height={height}
          role="img"
          aria-label={`Roofs of ${roofs.chip}: ${roofs.bandwidthGbS} GB/s and ${countText(Math.round(roofs.gflops))} GFLOP/s; T shows the table`}
        >
          <text x={LEFT} y={13} className="t2">
            GFLOP/s, log
          </text>
          {yTicks.map((exponent, index) =>
            index % every === 0 ? (
              <g key={exponent}>
                <path d={`M${LEFT} ${Math.round(y(10 ** exponent)) + 0.5}h${width}`} className="gl" />
                <text x={LEFT - 8} y={y(10 ** exponent) + 4} textAnchor="end">
                  {countText(10 ** exponent)}
                </text>
              </g>
            ) : null,
          )}
          {exponents(xFrom, xTo).map((exponent) => (
            <g key={exponent}>
              <path d={`M${Math.round(x(10 ** exponent)) + 0.5} ${TOP}V${base}`} className="gl" />
              <text
                x={x(10 ** exponent)}
                y={base + 14}
                textAnchor={exponent === xTo ? "end" : exponent === xFrom ? "start" : "middle"}
              >
                {exponent < 0 ? 10 ** exponent : countText(10 ** exponent)}
              </text>
            </g>
          ))}
          <text x={whole - RIGHT} y={height - 4} textAnchor="end">
            FLOP per logical byte, log
          </text>
          <path
            d={`M${x(10 ** xFrom)} ${y(low)}L${x(ridge)} ${y(roofs.gflops)}L${LEFT + width} ${y(roofs.gflops)}`}
            className="roof"
          />
          <text x={whole - RIGHT} y={y(roofs.gflops) - 6} textAnchor="end">
            {`datasheet ${roofs.bandwidthGbS} GB/s; derived ${countText(Math.round(roofs.gflops))}`}
          </text>
          {placed.map(({ point: { series }, left, top, label }) => (
            <g key={series}>
              <path d={`M${left} ${top}V${base}`} className={`intensity ${series}`} />
              {label.measured ? <SeriesMark series={series} x={left} y={top} /> : null}
              <text x={label.x} y={label.y} textAnchor={label.end ? "end" : "start"} className="s">
                {label.words}
              </text>
            </g>
          ))}
          <path d={`M${LEFT} ${base + 0.5}h${width}`} className="axl" />
        </svg>
      )}
    </div>
  );
}
