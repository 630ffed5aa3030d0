/** A heat map on a canvas at device pixels: cells pooled by maximum, NaN and Inf above the scale, one cell framed. */
import { type ReactElement, type RefObject, useEffect, useLayoutEffect } from "react";
import { parseHex, pixel, ramp, stopsOf, token, useDrawnTheme } from "./colors.ts";
import { type HeatCells, paintCells } from "./heat_map_pixels.ts";
import { type EdgeSet, edgeLook, edgesShown, GUTTER } from "./plot.ts";
import { indexTicks, type Range } from "./scale.ts";
import { useSize } from "./use_size.ts";

export interface HeatMapData extends HeatCells {
  readonly sourceRows: number;
  readonly sourceColumns: number;
  readonly flags: Uint8Array;
  readonly rowEdges: readonly EdgeSet[];
  readonly columnEdges: readonly EdgeSet[];
}

export interface HeatMapProps {
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  readonly map: HeatMapData | null;
  readonly rowTitle: string;
  readonly range: Range;
  readonly signed: boolean;
  readonly showNan: boolean;
  readonly showInfinite: boolean;
  /** Row and column of the selected element, before pooling. */
  readonly selected: { readonly row: number; readonly column: number } | null;
  readonly onPick: (cell: number) => void;
  readonly onHover: (cell: number | null) => void;
  /** Size of the drawing in device pixels: how many cells are worth asking for. */
  readonly onSize: (width: number, height: number) => void;
}

const TOP = 2;
const BOTTOM = 4;
/** Least size of a NaN or Inf mark, in CSS pixels. */
const MARK = 3;
/** Least size of the frame around the selected cell, in CSS pixels. */
const FRAME = 9;

function paint(canvas: HTMLCanvasElement, map: HeatMapData, props: HeatMapProps): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { width, height } = canvas;
  const { range, signed, showNan, showInfinite, selected } = props;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(pixel(parseHex(token("--sunken"))));
  paintCells(pixels, width, height, map, range, ramp(stopsOf(signed ? "div" : "seq")), signed);
  context.putImageData(image, 0, 0);
  const ratio = devicePixelRatio;
  const line = (edges: Int32Array, across: boolean, length: number, dotted: boolean): void => {
    context.strokeStyle = token(dotted ? "--line-strong" : "--control");
    context.lineWidth = Math.max(1, Math.round(ratio));
    context.setLineDash(dotted ? [ratio, 3 * ratio] : []);
    context.beginPath();
    for (const edge of edges) {
      const at = Math.round((edge * (across ? width : height)) / length) + 0.5;
      context.moveTo(across ? at : 0, across ? 0 : at);
      context.lineTo(across ? at : width, across ? height : at);
    }
    context.stroke();
  };
  const drawEdges = (sets: readonly EdgeSet[], across: boolean, length: number): void => {
    for (const set of sets) {
      const look = edgeLook(set.kind);
      if (look === "fine" || !edgesShown(set, length, (across ? width : height) / ratio)) continue;
      line(set.edges, across, length, look === "page");
    }
  };
  drawEdges(map.columnEdges, true, map.sourceColumns);
  drawEdges(map.rowEdges, false, map.sourceRows);
  context.setLineDash([]);
  paintFlags(context, map, ratio, showNan, showInfinite);
  if (selected !== null) paintFrame(context, map, ratio, selected);
}

function paintFlags(
  context: CanvasRenderingContext2D,
  map: HeatMapData,
  ratio: number,
  showNan: boolean,
  showInfinite: boolean,
): void {
  const { width, height } = context.canvas;
  const [nan, infinite] = [token("--nan"), token("--inf")];
  for (let cell = 0; cell < map.flags.length; cell++) {
    const flag = map.flags[cell]!;
    const isNan = (flag & 1) !== 0 && showNan;
    if (!isNan && ((flag & 2) === 0 || !showInfinite)) continue;
    const w = Math.max(MARK * ratio, width / map.columns);
    const h = Math.max(MARK * ratio, height / map.rows);
    const x = ((cell % map.columns) + 0.5) * (width / map.columns);
    const y = (Math.floor(cell / map.columns) + 0.5) * (height / map.rows);
    context.fillStyle = isNan ? nan : infinite;
    context.fillRect(Math.min(width - w, Math.max(0, x - w / 2)), Math.min(height - h, Math.max(0, y - h / 2)), w, h);
  }
}

function paintFrame(
  context: CanvasRenderingContext2D,
  map: HeatMapData,
  ratio: number,
  { row, column }: { readonly row: number; readonly column: number },
): void {
  const { width, height } = context.canvas;
  const w = Math.max(FRAME * ratio, width / map.sourceColumns);
  const h = Math.max(FRAME * ratio, height / map.sourceRows);
  const limit = (value: number, most: number): number => Math.min(most, Math.max(2 * ratio, value));
  const x = limit(((column + 0.5) * width) / map.sourceColumns - w / 2, width - w - 2 * ratio);
  const y = limit(((row + 0.5) * height) / map.sourceRows - h / 2, height - h - 2 * ratio);
  const pen = Math.max(1, Math.round(1.5 * ratio));
  context.lineWidth = pen;
  context.strokeStyle = token("--surface");
  context.strokeRect(x - pen, y - pen, w + 2 * pen, h + 2 * pen);
  context.strokeStyle = token("--text");
  context.strokeRect(x, y, w, h);
}

export function HeatMap(props: HeatMapProps): ReactElement {
  const { canvas, map, rowTitle, range, signed, showNan, showInfinite, selected, onPick, onHover, onSize } = props;
  const [holder, { width: whole, height: tall }] = useSize();
  const theme = useDrawnTheme();
  const width = Math.max(1, whole - GUTTER.left - GUTTER.right);
  const height = Math.max(1, tall - TOP - BOTTOM);
  const there = whole > 0 && tall > 0;
  const [deviceWidth, deviceHeight] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new callback is no new size.
  useEffect(() => {
    if (there) onSize(deviceWidth, deviceHeight);
  }, [there, deviceWidth, deviceHeight]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn hangs on these values, not on the callbacks.
  useLayoutEffect(() => {
    const element = canvas.current;
    if (element === null || map === null || !there) return;
    element.width = deviceWidth;
    element.height = deviceHeight;
    paint(element, map, props);
  }, [
    map,
    there,
    deviceWidth,
    deviceHeight,
    theme,
    range.low,
    range.high,
    range.log,
    signed,
    showNan,
    showInfinite,
    selected?.row,
    selected?.column,
  ]);
  const cellAt = (clientX: number, clientY: number): number | null => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined || map === null) return null;
    const row = Math.floor(((clientY - box.top) / box.height) * map.rows);
    const column = Math.floor(((clientX - box.left) / box.width) * map.columns);
    return row < 0 || column < 0 || row >= map.rows || column >= map.columns ? null : row * map.columns + column;
  };
  return (
    <div className="body chart" ref={holder}>
      <canvas
        ref={canvas}
        className="cv heat"
        role="img"
        aria-label={
          map === null ? rowTitle : `${map.sourceRows} rows of ${map.sourceColumns} cells; T shows them as a table`
        }
        style={{ left: GUTTER.left, top: TOP, width, height }}
        onClick={(event) => {
          const cell = cellAt(event.clientX, event.clientY);
          if (cell !== null) onPick(cell);
        }}
        onPointerMove={(event) => onHover(cellAt(event.clientX, event.clientY))}
        onPointerLeave={() => onHover(null)}
      />
      {map === null || !there ? null : (
        <svg className="rowlabels" width={GUTTER.left} height={tall} aria-hidden="true">
          {indexTicks(map.sourceRows, Math.max(1, Math.floor(height / 26))).map((row) => (
            <text
              key={row}
              x={GUTTER.left - 6}
              y={TOP + Math.min(height - 2, Math.max(10, ((row + 0.5) * height) / map.sourceRows + 4))}
              textAnchor="end"
              className={row === selected?.row ? "s" : ""}
            >
              {row === 0 ? `${rowTitle} 0` : row}
            </text>
          ))}
        </svg>
      )}
    </div>
  );
}
