/** One map as a drawing: each place with its owner, the lane at hand filled, its partners framed. */
import { type MouseEvent, memo, type ReactElement, useMemo } from "react";
import { type FragmentMap, ownerOf, rowGroup } from "../../../kernels/fragments.ts";
import { logScaleOf } from "../../charts/scale.ts";
import { useSize } from "../../charts/use_size.ts";
import { type LaneErrors, stopOf } from "./lane_errors.ts";
import { type Cell, type Cursor, cellsOf, LANES, placeWords, runsOf } from "./ownership.ts";

/** What the ground of a place says. */
export type Ground = "lane" | "register" | "error";

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

/** What a place is painted with, and the ink that can be read on it. */
interface Tint {
  readonly fill: string;
  readonly opacity: number;
  readonly ink: "" | " dense" | " strong";
}

type TintOf = (cell: Cell) => Tint;

function tintsOf(ground: Ground, errors: LaneErrors | null): TintOf {
  if (ground === "error" && errors !== null) {
    const scale = logScaleOf(errors.max);
    return ({ lane, element }) => {
      const slot = lane * errors.elementsPerLane + element;
      if (errors.flags[slot] !== 0) return { fill: "var(--nan)", opacity: 1, ink: " strong" };
      const stop = stopOf(scale, errors.max[slot]!);
      return { fill: `var(--seq-${stop})`, opacity: 1, ink: stop > 4 ? " strong" : " dense" };
    };
  }
  if (ground === "register") {
    return ({ element }) => ({
      fill: `var(--${TINTS[element & 3]})`,
      opacity: element < 4 ? 0.13 : 0.24,
      ink: "",
    });
  }
  return ({ lane }) => ({ fill: `var(--${TINTS[lane >> 3]})`, opacity: 0.13 + 0.05 * (lane & 1), ink: "" });
}

interface PlaceProps {
  readonly cell: Cell;
  readonly plot: Plot;
  readonly tints: TintOf;
  /** Covers what was drawn there before. */
  readonly fresh?: boolean;
}

function Place({ cell, plot, tints, fresh = false }: PlaceProps): ReactElement {
  const { side, left, top } = plot;
  const { fill, opacity } = tints(cell);
  const place = { x: left + cell.column * side, y: top + cell.row * side, width: side, height: side };
  return (
    <>
      {fresh ? <rect {...place} className="fm-ground" /> : null}
      <rect {...place} fill={fill} fillOpacity={opacity} />
    </>
  );
}

interface LabelProps {
  readonly cell: Cell;
  readonly plot: Plot;
  readonly ground: Ground;
  readonly tone?: string;
}

/** Lane above element, or the other way round where the ground says registers; the lower line only where it fits. */
function Label({ cell, plot, ground, tone = "" }: LabelProps): ReactElement {
  const { side, left, top } = plot;
  const x = left + cell.column * side + side / 2;
  const y = top + cell.row * side + side / 2;
  const two = side > 34;
  const words = [String(cell.lane), `e${cell.element}`];
  const [main, lower] = ground === "register" ? words.toReversed() : words;
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
  readonly tints: TintOf;
}

/** All places; does not change with the lane at hand. */
const Tile = memo(function Tile({ map, plot, ground, tints }: TileProps): ReactElement {
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
      {cellsOf(map).map((cell) => (
        <g key={`${cell.row} ${cell.column}`}>
          <Place cell={cell} plot={plot} tints={tints} />
          <Label cell={cell} plot={plot} ground={ground} tone={tints(cell).ink} />
        </g>
      ))}
      {LANES.map((lane) =>
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
      )}
    </g>
  );
});

interface FrameProps {
  readonly map: FragmentMap;
  readonly plot: Plot;
  readonly ground: Ground;
  readonly tints: TintOf;
  readonly lane: number;
  readonly look: "xor1" | "xor8" | "group";
}

function Frame({ map, plot, ground, tints, lane, look }: FrameProps): ReactElement {
  const { side, left, top } = plot;
  return (
    <g>
      {cellsOf(map)
        .filter((cell) => cell.lane === lane && look !== "group")
        .map((cell) => (
          <g key={cell.element}>
            <Place cell={cell} plot={plot} tints={tints} fresh />
            <Label cell={cell} plot={plot} ground={ground} tone={` near${tints(cell).ink}`} />
          </g>
        ))}
      {runsOf(map, lane).map(({ row, first, last }) => (
        <rect
          key={`edge ${row}`}
          x={left + first * side}
          y={top + row * side}
          width={(last - first + 1) * side}
          height={side}
          className="fm-edge"
        />
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

interface LegendProps {
  readonly map: FragmentMap;
  readonly plot: Plot;
  readonly lane: number;
  readonly marks: Marks;
}

function Legend({ map, plot, lane, marks }: LegendProps): ReactElement {
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
        const x = plot.left + (index === 0 ? 0 : 76 + (index - 1) * 106);
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

interface FragmentMapProps {
  readonly map: FragmentMap;
  /** The lane at hand, and the element where it is one of this map. */
  readonly lane: number;
  readonly element: number | null;
  readonly ground: Ground;
  /** Of this map; used where the ground says errors. */
  readonly errors: LaneErrors | null;
  readonly marks: Marks;
  readonly onHover: (cursor: Cursor | null) => void;
  readonly onPick: (cursor: Cursor) => void;
  /** The map has been given the focus. */
  readonly onEnter: () => void;
}

/** The map in the size of its pane. As a control it is a slider over the lanes; the page takes its keys. */
export function FragmentMapView(props: FragmentMapProps): ReactElement {
  const { map, lane, element, ground, errors, marks, onHover, onPick, onEnter } = props;
  const [holder, { width, height }] = useSize();
  const plot = useMemo(() => plotOf(map, width, height), [map, width, height]);
  const tints = useMemo(() => tintsOf(ground, errors), [ground, errors]);
  const { side, left, top } = plot;

  const cellAt = (event: MouseEvent<HTMLElement>): Cursor | null => {
    const box = event.currentTarget.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - left) / side);
    const row = Math.floor((event.clientY - box.top - top) / side);
    const inside = row >= 0 && row < map.side && column >= 0 && column < map.side;
    return inside ? { map, ...ownerOf(map, { row, column }) } : null;
  };
  const pick = (event: MouseEvent<HTMLElement>): void => {
    const cell = cellAt(event);
    if (cell !== null) onPick(cell);
  };
  const group = marks.group ? rowGroup(map, lane).filter((member) => member !== lane) : [];
  const partners = [
    ...(marks.xor1 ? [{ lane: lane ^ 1, look: "xor1" as const }] : []),
    ...(marks.xor8 ? [{ lane: lane ^ 8, look: "xor8" as const }] : []),
  ];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the page takes the keys, wherever the focus is.
    <div
      ref={holder}
      className="fm"
      role="slider"
      tabIndex={0}
      aria-label={`Lane in the ${map.name} map`}
      aria-valuemin={0}
      aria-valuemax={map.lanes - 1}
      aria-valuenow={lane}
      aria-valuetext={`lane ${lane}: ${placeWords(map, lane)}`}
      data-map={map.name}
      onPointerEnter={() => {
        // Space is then about the lane under the pointer, not about a button that was clicked before.
        const focus = document.activeElement;
        if (focus instanceof HTMLButtonElement && !focus.matches(":focus-visible")) focus.blur();
      }}
      onPointerMove={(event) => onHover(cellAt(event))}
      onPointerLeave={() => onHover(null)}
      onClick={pick}
      onFocus={onEnter}
    >
      {width === 0 ? null : (
        <svg width={width} height={height} aria-hidden="true">
          <Tile map={map} plot={plot} ground={ground} tints={tints} />
          {group.map((member) => (
            <Frame key={member} map={map} plot={plot} ground={ground} tints={tints} lane={member} look="group" />
          ))}
          {partners.map((partner) => (
            <Frame
              key={partner.look}
              map={map}
              plot={plot}
              ground={ground}
              tints={tints}
              lane={partner.lane}
              look={partner.look}
            />
          ))}
          {cellsOf(map)
            .filter((cell) => cell.lane === lane)
            .map((cell) => (
              <g key={cell.element}>
                <rect
                  x={left + cell.column * side}
                  y={top + cell.row * side}
                  width={side}
                  height={side}
                  className="fm-me"
                />
                {cell.element === element ? (
                  <rect
                    x={left + cell.column * side + 2.5}
                    y={top + cell.row * side + 2.5}
                    width={side - 5}
                    height={side - 5}
                    rx={2}
                    className="fm-element"
                  />
                ) : null}
                <Label cell={cell} plot={plot} ground={ground} tone=" me" />
              </g>
            ))}
          <Legend map={map} plot={plot} lane={lane} marks={marks} />
        </svg>
      )}
    </div>
  );
}
