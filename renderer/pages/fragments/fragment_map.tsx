/** One map as a drawing: each place with its owner, the lane at hand filled, its partners framed. */
import { memo, type PointerEvent, type ReactElement, useMemo } from "react";
import type { FragmentMap } from "../../../kernels/fragments.ts";
import { type Cell, type Cursor, cellsOf, placeWords, runsOf } from "./ownership.ts";
import { useSize } from "./use_size.ts";

/** What the ground of a place says. */
export type Ground = "lane" | "register";

/** Which partners are framed. */
export interface Marks {
  readonly xor1: boolean;
  readonly xor8: boolean;
  readonly group: boolean;
}

const GUTTER = 20;
const MARGIN = 12;
const LEGEND = 40;
const TINTS = ["cat-1", "cat-3", "cat-2", "cat-4"] as const;

interface Plot {
  readonly side: number;
  readonly left: number;
  readonly top: number;
}

/** Size of a place in whole pixels, so that lines stay sharp. */
function plotOf(map: FragmentMap, width: number, height: number): Plot {
  const side = Math.floor(Math.min(width - 2 * MARGIN - GUTTER, height - GUTTER - LEGEND) / map.side);
  return { side: Math.max(4, side), left: MARGIN + GUTTER, top: GUTTER };
}

function tintOf(cell: Cell, ground: Ground): { readonly fill: string; readonly opacity: number } {
  if (ground === "lane") return { fill: `var(--${TINTS[cell.lane >> 3]})`, opacity: 0.13 + 0.05 * (cell.lane & 1) };
  return { fill: `var(--${TINTS[cell.element & 3]})`, opacity: cell.element < 4 ? 0.13 : 0.24 };
}

interface LabelProps {
  readonly cell: Cell;
  readonly plot: Plot;
  readonly ground: Ground;
  readonly tone?: "" | " me" | " near";
}

/** Lane above element, or the other way round where the ground says registers; the lower line only where it fits. */
function Label({ cell, plot, ground, tone = "" }: LabelProps): ReactElement {
  const { side, left, top } = plot;
  const x = left + cell.column * side + side / 2;
  const y = top + cell.row * side + side / 2;
  const two = side > 34;
  const words = [String(cell.lane), `e${cell.element}`];
  const [main, lower] = ground === "lane" ? words : words.toReversed();
  const size = two ? "large" : side > 24 ? "mid" : "tight";
  return (
    <>
      <text x={x} y={y + (two ? (side > 44 ? 1 : -1) : 4)} textAnchor="middle" className={`fm-main ${size}${tone}`}>
        {main}
      </text>
      {two ? (
        <text x={x} y={y + (side > 44 ? 14 : 11)} textAnchor="middle" className={`fm-lower${tone}`}>
          {lower}
        </text>
      ) : null}
    </>
  );
}

interface TileProps {
  readonly map: FragmentMap;
  readonly plot: Plot;
  readonly ground: Ground;
}

/** All places; does not change with the lane at hand. */
const Tile = memo(function Tile({ map, plot, ground }: TileProps): ReactElement {
  const { side, left, top } = plot;
  const numbers = Array.from({ length: map.side }, (_, index) => index);
  return (
    <g>
      {numbers.map((index) => (
        <g key={index}>
          <text x={left + index * side + side / 2} y={top - 6} textAnchor="middle">
            {index}
          </text>
          <text x={left - 7} y={top + index * side + side / 2 + 4} textAnchor="end">
            {index}
          </text>
        </g>
      ))}
      {cellsOf(map).map((cell) => {
        const { fill, opacity } = tintOf(cell, ground);
        return (
          <g key={`${cell.row} ${cell.column}`}>
            <rect
              x={left + cell.column * side}
              y={top + cell.row * side}
              width={side}
              height={side}
              fill={fill}
              fillOpacity={opacity}
            />
            <Label cell={cell} plot={plot} ground={ground} />
          </g>
        );
      })}
      {numbers.flatMap((lane) => lane).length > 0
        ? Array.from({ length: map.lanes }, (_, lane) => lane).flatMap((lane) =>
            runsOf(map, lane).map(({ row, first, last }) => (
              <rect
                key={`${lane} ${row}`}
                x={left + first * side}
                y={top + row * side}
                width={(last - first + 1) * side}
                height={side}
                className="fm-edge"
              />
            )),
          )
        : null}
    </g>
  );
});

interface FrameProps {
  readonly map: FragmentMap;
  readonly plot: Plot;
  readonly ground: Ground;
  readonly lane: number;
  readonly look: "xor1" | "xor8" | "group";
}

function Frame({ map, plot, ground, lane, look }: FrameProps): ReactElement {
  const { side, left, top } = plot;
  return (
    <g>
      {cellsOf(map)
        .filter((cell) => cell.lane === lane && look !== "group")
        .map((cell) => (
          <Label key={cell.element} cell={cell} plot={plot} ground={ground} tone=" near" />
        ))}
      {runsOf(map, lane).map(({ row, first, last }) => (
        <rect
          key={row}
          x={left + first * side + 2}
          y={top + row * side + 2}
          width={(last - first + 1) * side - 4}
          height={side - 4}
          rx={2}
          className={`fm-frame ${look}`}
        />
      ))}
    </g>
  );
}

function Legend({ lane, marks, plot, map }: Omit<FragmentMapProps, "ground" | "onHover" | "onPick" | "cursor"> & LegendPlace): ReactElement {
  const y = plot.top + map.side * plot.side + 20;
  const entries = [
    { look: "me", text: `lane ${lane}`, shown: true },
    { look: "xor1", text: `xor 1: lane ${lane ^ 1}`, shown: marks.xor1 },
    { look: "xor8", text: `xor 8: lane ${lane ^ 8}`, shown: marks.xor8 },
    { look: "group", text: "row group", shown: marks.group },
  ].filter(({ shown }) => shown);
  return (
    <g>
      {entries.map(({ look, text }, index) => {
        const x = plot.left + index * 106 - (index > 0 ? 26 : 0);
        return (
          <g key={look}>
            <rect x={x + 1} y={y - 9} width={13} height={10} className={look === "me" ? "fm-me" : `fm-frame ${look}`} />
            <text x={x + 20} y={y} className="t2">
              {text}
            </text>
          </g>
        );
      })}
    </g>
  );
}

interface LegendPlace {
  readonly plot: Plot;
}

interface FragmentMapProps {
  readonly map: FragmentMap;
  readonly lane: number;
  /** The element at hand, where it is one of this map. */
  readonly cursor: Cursor | null;
  readonly ground: Ground;
  readonly marks: Marks;
  readonly onHover: (cursor: Cursor | null) => void;
  readonly onPick: (cursor: Cursor) => void;
}
