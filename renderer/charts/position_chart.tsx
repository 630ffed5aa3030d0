/** Error along position: the largest and the mean at each place on a log axis, the edges of the kernel's work, the limit. */
import type { ReactElement } from "react";
import { figureText } from "../../electron/words.ts";
import { type EdgeSet, edgeLook, edgesApart, GUTTER } from "./plot.ts";
import { decadeText, decadeTicks, indexTicks, logPlace, logScaleOf, poolMax } from "./scale.ts";
import { useSize } from "./use_size.ts";

const TOP = 34;
const BOTTOM = 22;
/** Places up to which each has a mark of its own besides the line. */
const FEW = 48;

export interface PositionChartProps {
  readonly title: string;
  readonly axisTitle: string;
  readonly max: Float64Array;
  readonly mean: Float64Array;
  /** Bit 1: a NaN at the place; bit 2: an infinite output. */
  readonly flags: Uint8Array;
  readonly edges: readonly EdgeSet[];
  readonly limit: { readonly value: number; readonly label: string } | null;
  readonly selected: { readonly place: number; readonly label: string } | null;
  readonly onPick: (place: number) => void;
}

function linePath(values: Float64Array, x: (bin: number) => number, y: (value: number) => number): string {
  let path = "";
  let pen = "M";
  for (let bin = 0; bin < values.length; bin++) {
    const value = values[bin]!;
    if (Number.isNaN(value)) {
      pen = "M";
      continue;
    }
    path += `${pen}${x(bin).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
  }
  return path;
}

interface EdgesProps {
  readonly sets: readonly EdgeSet[];
  readonly length: number;
  readonly width: number;
  readonly base: number;
}

function Edges({ sets, length, width, base }: EdgesProps): ReactElement {
  const x = (edge: number): number => Math.round(GUTTER.left + (edge * width) / length) + 0.5;
  return (
    <>
      {sets
        .filter((set) => edgesApart(set, length, width) || edgeLook(set.kind) === "coarse")
        .map((set) => {
          const look = edgeLook(set.kind);
          const path = [...set.edges]
            .map((edge) => (look === "fine" ? `M${x(edge)} ${base}v-5` : `M${x(edge)} ${TOP - 12}V${base}`))
            .join("");
          const labelled = look === "coarse" && (set.edges.length + 1) * 70 < width;
          return (
            <g key={set.kind}>
              <path d={path} className={`edge ${look}`} />
              {labelled
                ? [...set.edges].map((edge, index) => (
                    <text key={edge} x={x(edge) - 4} y={TOP - 4} textAnchor="end">
                      {set.labels[index]}
                    </text>
                  ))
                : null}
            </g>
          );
        })}
    </>
  );
}

export function PositionChart(props: PositionChartProps): ReactElement {
  const { title, axisTitle, max, mean, flags, edges, limit, selected, onPick } = props;
  const [holder, { width: whole, height }] = useSize();
  const width = Math.max(1, whole - GUTTER.left - GUTTER.right);
  const base = height - BOTTOM;
  const length = max.length;
  const scale = logScaleOf([...max, ...mean, ...(limit === null ? [] : [limit.value])]);
  const y = (value: number): number => base - logPlace(scale, value) * (base - TOP);
  const bins = Math.min(length, Math.ceil(width));
  const xBin = (bin: number): number => GUTTER.left + ((bin + 0.5) * width) / bins;
  const xPlace = (place: number): number => GUTTER.left + ((place + 0.5) * width) / length;
  const limitY = limit === null ? 0 : y(limit.value);
  const markX = selected === null ? 0 : xPlace(selected.place);
  const markValue = selected === null ? Number.NaN : max[selected.place]!;
  const onLeft = markX - GUTTER.left > width / 2;
  return (
    <div className="body chart" ref={holder}>
      {height < 60 || length === 0 ? null : (
        // biome-ignore lint/a11y/useKeyWithClickEvents: G goes to an element by key.
        <svg
          width={whole}
          height={height}
          role="img"
          aria-label={`${title} over ${length} places; T shows the table`}
          onClick={(event) => {
            const at = (event.clientX - event.currentTarget.getBoundingClientRect().left - GUTTER.left) / width;
            if (at >= 0 && at < 1) onPick(Math.floor(at * length));
          }}
        >
          <text x={GUTTER.left} y={12}>
            {title}
          </text>
          {decadeTicks(scale).map((exponent) => (
            <g key={exponent}>
              <path d={`M${GUTTER.left} ${Math.round(y(10 ** exponent)) + 0.5}h${width}`} className="gl" />
              <text x={GUTTER.left - 6} y={y(10 ** exponent) + 4} textAnchor="end">
                {decadeText(exponent)}
              </text>
            </g>
          ))}
          <Edges sets={edges} length={length} width={width} base={base} />
          <path d={`M${GUTTER.left} ${base + 0.5}h${width}`} className="axl" />
          <path d={linePath(poolMax(mean, bins), xBin, y)} className="line mean" />
          <path d={linePath(poolMax(max, bins), xBin, y)} className="line max" />
          {length <= FEW
            ? [...max].map((value, place) =>
                Number.isNaN(value) ? null : (
                  <circle key={xPlace(place)} cx={xPlace(place)} cy={y(value)} r="2.5" className="dot" />
                ),
              )
            : null}
          {[...flags].map((flag, place) =>
            flag === 0 ? null : (
              <rect
                key={xPlace(place)}
                x={xPlace(place) - 1.5}
                y={TOP - 3}
                width="3"
                height="7"
                className={flag & 1 ? "nanmark" : "infmark"}
              />
            ),
          )}
          {limit === null ? null : (
            <>
              <path d={`M${GUTTER.left} ${Math.round(limitY) + 0.5}h${width}`} className="limit" />
              <text x={GUTTER.left + 6} y={limitY - 5} className="f">
                {limit.label}
              </text>
            </>
          )}
          {selected === null ? null : (
            <>
              <path d={`M${Math.round(markX) + 0.5} ${TOP - 12}V${base}`} className="cross" />
              {Number.isNaN(markValue) ? null : <circle cx={markX} cy={y(markValue)} r="4" className="mark" />}
              <text
                x={onLeft ? markX - 8 : markX + 8}
                y={Math.max(TOP + 10, y(Number.isNaN(markValue) ? 0 : markValue) + 4)}
                textAnchor={onLeft ? "end" : "start"}
                className="s"
              >
                {selected.label}
              </text>
            </>
          )}
          <text x={GUTTER.left - 6} y={height - 6} textAnchor="end">
            {axisTitle}
          </text>
          {indexTicks(length, 5).map((place) => (
            <text key={place} x={xPlace(place)} y={height - 6} textAnchor={tickAnchor(place, length)}>
              {place.toLocaleString("en-US")}
            </text>
          ))}
          {limit === null ? null : <title>{`${limit.label}: ${figureText(limit.value)}`}</title>}
        </svg>
      )}
    </div>
  );
}

/** The ends of an axis keep their numbers within it. */
function tickAnchor(place: number, length: number): "start" | "middle" | "end" {
  if (place === 0 && length > 1) return "start";
  return place === length - 1 && length > 1 ? "end" : "middle";
}
