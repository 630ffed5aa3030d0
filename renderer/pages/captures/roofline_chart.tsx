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

/** Whole decades around the values, as exponents. */
function decades(values: readonly number[]): readonly [number, number] {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  return [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))];
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
  // Names of the two lines lie beside each other; the second one moves down where they would touch.
  const lines = [...points].sort((one, two) => one.intensity - two.intensity);
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
          {lines.map(({ series, route, intensity, gflops, share }, index) => {
            const left = x(intensity);
            const top = gflops === null ? y(roofAt(roofs, intensity)) : y(gflops);
            const row = base - 10 - 15 * (lines.length - 1 - index);
            const words =
              gflops === null
                ? `${series.toUpperCase()} ${route}, ${Number(intensity.toPrecision(3))} FLOP/B`
                : `${series.toUpperCase()} ${countText(Math.round(gflops))}, ${shareText(share ?? 0)}`;
            const toRight = left + 6 + words.length * CHARACTER < LEFT + width;
            return (
              <g key={series}>
                <path d={`M${left} ${top}V${base}`} className={`intensity ${series}`} />
                {gflops === null ? null : series === "a" ? (
                  <circle cx={left} cy={top} r={4} className="dot-a" />
                ) : (
                  <rect x={left - 3.8} y={top - 3.8} width={7.6} height={7.6} className="dot-b" />
                )}
                <text
                  x={toRight ? left + 6 : left - 6}
                  y={gflops === null ? row : top + 4}
                  textAnchor={toRight ? "start" : "end"}
                  className="s"
                >
                  {words}
                </text>
              </g>
            );
          })}
          <path d={`M${LEFT} ${base + 0.5}h${width}`} className="axl" />
        </svg>
      )}
    </div>
  );
}
