/**
 * The picture of a heat map as a file: what the window says around the drawing stands in it, so that it can be read alone.
 * Title, lines about the run, both axes, the scale of the colours, marks.
 */
import { ramp, STEPS, stopsOf, token } from "./colors.ts";
import { legendTicks, wrapped } from "./heat_map_legend.ts";
import { indexTicks, type Range } from "./scale.ts";

export interface HeatMapPicture {
  readonly title: string;
  /** Lines beneath the title: case and route, the run and where it was executed. */
  readonly lines: readonly string[];
  readonly rowTitle: string;
  readonly columnTitle: string;
  /** Rows and columns before pooling. */
  readonly rows: number;
  readonly columns: number;
  /** What the colours stand for, with its unit. */
  readonly measure: string;
  /** Null where every cell is 0: there is no scale. */
  readonly range: Range | null;
  readonly signed: boolean;
  /** Marks of what is not finite, those that are drawn. */
  readonly marks: readonly { readonly color: string; readonly words: string }[];
  /** Lines at the foot: how cells were made, what lines and the frame are. */
  readonly notes: readonly string[];
}

/** In CSS pixels. */
const SIDE = 16;
const LEFT = 64;
/** Least width of the drawing, so that the words around it have room. */
const LEAST_WIDTH = 480;
const LINE = 16;
const TITLE = 22;
const AXIS = 38;
const BAR = 12;
const LEGEND = 58;

/** Draws the picture around the canvas of a heat map, at its resolution. Null where there is no canvas to draw on. */
export function heatMapPicture(map: HTMLCanvasElement, picture: HeatMapPicture): HTMLCanvasElement | null {
  const ratio = devicePixelRatio;
  const [width, height] = [map.width / ratio, map.height / ratio];
  const whole = LEFT + Math.max(width, LEAST_WIDTH) + SIDE;
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (context === null) return null;
  const font = (size: number, weight = 400): string => `${weight} ${size}px ${token("--font-ui")}`;
  context.font = font(12);
  const broken = (lines: readonly string[]): readonly string[] =>
    lines.flatMap((line) => wrapped(line, whole - 2 * SIDE, (text) => context.measureText(text).width));
  const [head, foot] = [broken(picture.lines), broken(picture.notes)];
  const top = SIDE + TITLE + head.length * LINE + 10;
  const bottom = top + height;
  const tall = bottom + AXIS + LEGEND + Math.max(1, foot.length) * LINE + SIDE;
  canvas.width = Math.round(whole * ratio);
  canvas.height = Math.round(tall * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = token("--surface");
  context.fillRect(0, 0, whole, tall);
  const text = (words: string, x: number, y: number, align: CanvasTextAlign = "left", color = "--text-2"): void => {
    context.textAlign = align;
    context.fillStyle = token(color);
    context.fillText(words, x, y);
  };
  context.font = font(14, 600);
  text(picture.title, SIDE, SIDE + 12, "left", "--text");
  context.font = font(12);
  for (const [index, line] of head.entries()) text(line, SIDE, SIDE + TITLE + 10 + index * LINE);
  context.drawImage(map, LEFT, top, width, height);
  context.strokeStyle = token("--line-strong");
  context.strokeRect(LEFT - 0.5, top - 0.5, width + 1, height + 1);
  for (const row of indexTicks(picture.rows, Math.max(1, Math.floor(height / 26)))) {
    const y = top + ((row + 0.5) * height) / picture.rows;
    text(row.toLocaleString("en-US"), LEFT - 8, Math.min(bottom, Math.max(top + 8, y + 4)), "right");
  }
  for (const column of indexTicks(picture.columns, Math.max(1, Math.floor(width / 70)))) {
    const words = column.toLocaleString("en-US");
    const half = context.measureText(words).width / 2;
    const x = LEFT + ((column + 0.5) * width) / picture.columns;
    text(words, Math.min(LEFT + width - half, Math.max(LEFT + half, x)), bottom + 15, "center");
  }
  text(picture.columnTitle, LEFT + width / 2, bottom + 31, "center", "--text");
  context.save();
  context.translate(SIDE + 4, top + height / 2);
  context.rotate(-Math.PI / 2);
  text(picture.rowTitle, 0, 0, "center", "--text");
  context.restore();
  paintLegend(context, picture, text, { left: LEFT, top: bottom + AXIS, width: whole - LEFT - SIDE });
  for (const [index, line] of foot.entries()) text(line, SIDE, bottom + AXIS + LEGEND + 12 + index * LINE);
  return canvas;
}

type Write = (words: string, x: number, y: number, align?: CanvasTextAlign, color?: string) => void;

/** The measure, a bar of its colours with numbers beneath, and marks of what is not finite beside it. */
function paintLegend(
  context: CanvasRenderingContext2D,
  { measure, range, signed, marks }: HeatMapPicture,
  text: Write,
  { left, top, width }: { readonly left: number; readonly top: number; readonly width: number },
): void {
  let right = left + width;
  for (const { color, words } of [...marks].reverse()) {
    text(words, right, top + 10, "right", "--text");
    right -= context.measureText(words).width + 16;
    context.fillStyle = token(color);
    context.fillRect(right, top + 1, 10, 10);
    right -= 14;
  }
  text(measure, left, top + 10, "left", "--text");
  if (range === null) return;
  const colors = ramp(stopsOf(signed ? "div" : "seq"));
  const length = Math.min(width, LEAST_WIDTH);
  for (let x = 0; x < length; x++) {
    const word = colors[Math.round((x / Math.max(1, length - 1)) * (STEPS - 1))]!;
    context.fillStyle = `rgb(${word & 255} ${(word >> 8) & 255} ${(word >> 16) & 255})`;
    context.fillRect(left + x, top + 17, 1, BAR);
  }
  context.strokeStyle = token("--line-strong");
  context.strokeRect(left - 0.5, top + 16.5, length + 1, BAR + 1);
  for (const { place, words } of legendTicks(range, signed)) {
    const x = left + place * length;
    context.fillStyle = token("--text-2");
    context.fillRect(Math.min(left + length - 1, x), top + 17 + BAR, 1, 4);
    text(words, x, top + 17 + BAR + 16, place === 0 ? "left" : place === 1 ? "right" : "center");
  }
}
