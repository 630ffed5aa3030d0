/** What a dense chart paints around its series: grid, ticks, titles, edges of the kernel's work, limits, the selected point. */
import type uPlot from "uplot";
import { token } from "./colors.ts";
import {
  type DenseData,
  type DenseMark,
  type DenseSeries,
  linearTicks,
  pointCount,
  xRange,
  yRange,
} from "./dense_model.ts";
import { type EdgeSet, edgeLook, edgesShown } from "./plot.ts";
import { decadeText, decadeTicks, indexTicks } from "./scale.ts";

/** Room above the plot for title and labels, and below for the ticks, in CSS pixels. */
export const PLOT = { top: 34, bottom: 22 } as const;

/** Ticks of an axis at most. */
const MOST_TICKS = 6;
/** Diameter of a dot, in CSS pixels. */
const DOT = 5;

/** A canvas in CSS pixels, with the colours and the type of the window. */
class Pen {
  readonly ctx: CanvasRenderingContext2D;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly #font: string;

  constructor({ ctx, bbox }: uPlot) {
    this.ctx = ctx;
    const ratio = devicePixelRatio;
    [this.left, this.top] = [bbox.left / ratio, bbox.top / ratio];
    [this.width, this.height] = [bbox.width / ratio, bbox.height / ratio];
    this.#font = `11px ${token("--font-ui")}`;
  }

  get base(): number {
    return this.top + this.height;
  }

  /** Paints in CSS pixels and leaves the canvas as it was. */
  paint(what: () => void): void {
    const { ctx } = this;
    ctx.save();
    ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    ctx.font = this.#font;
    ctx.textBaseline = "alphabetic";
    what();
    ctx.restore();
  }

  line(
    from: readonly [number, number],
    to: readonly [number, number],
    color: string,
    dash: readonly number[] = [],
  ): void {
    const { ctx } = this;
    ctx.beginPath();
    ctx.moveTo(...from);
    ctx.lineTo(...to);
    ctx.setLineDash([...dash]);
    ctx.lineWidth = 1;
    ctx.strokeStyle = token(color);
    ctx.stroke();
  }

  text(words: string, x: number, y: number, align: CanvasTextAlign, color: string, strong = false): void {
    const { ctx } = this;
    ctx.textAlign = align;
    if (strong) {
      ctx.font = `600 ${this.#font}`;
      ctx.setLineDash([]);
      ctx.lineWidth = 3;
      ctx.lineJoin = "round";
      ctx.strokeStyle = token("--surface");
      ctx.strokeText(words, x, y);
    }
    ctx.fillStyle = token(color);
    ctx.fillText(words, x, y);
    if (strong) ctx.font = this.#font;
  }
}

/** A line of one device pixel is sharp only between two. */
function sharp(at: number): number {
  return Math.round(at) + 0.5;
}

/** Ground, grid, ticks and titles: what lies under the series. */
export function paintUnder(plot: uPlot, data: DenseData): void {
  const pen = new Pen(plot);
  pen.paint(() => {
    const { ctx, left, width, base } = pen;
    ctx.fillStyle = token("--surface");
    ctx.fillRect(0, 0, plot.width, plot.height);
    pen.text(data.title, left, 12, "left", "--text-3");
    for (const [level, words] of yTicks(data)) {
      const y = pen.top + plot.valToPos(level, "y");
      pen.line([left, sharp(y)], [left + width, sharp(y)], "--grid");
      pen.text(words, left - 6, y + 4, "right", "--text-3");
    }
    paintEdges(plot, pen, data);
    pen.line([left, base + 0.5], [left + width, base + 0.5], "--axis");
    pen.text(data.xTitle, left - 6, base + 16, "right", "--text-3");
    paintXTicks(plot, pen, data);
  });
}

function yTicks(data: DenseData): readonly (readonly [level: number, words: string])[] {
  const { yText } = data;
  if (data.scale === "log") {
    return decadeTicks(yRange(data)).map((exponent) => [exponent, yText?.(10 ** exponent) ?? decadeText(exponent)]);
  }
  return linearTicks(yRange(data), MOST_TICKS - 1).map((value) => [value, yText?.(value) ?? String(value)]);
}

function paintXTicks(plot: uPlot, pen: Pen, data: DenseData): void {
  const count = pointCount(data);
  const text = data.xText ?? ((value: number) => value.toLocaleString("en-US"));
  const ticks = data.x === undefined ? indexTicks(count, MOST_TICKS - 1) : linearTicks(xRange(data), MOST_TICKS - 1);
  const right = pen.left + pen.width;
  for (const tick of ticks) {
    const x = pen.left + plot.valToPos(tick, "x");
    const words = text(tick);
    const half = pen.ctx.measureText(words).width / 2;
    // The ends of an axis keep their numbers within it.
    pen.text(words, Math.min(right - half, Math.max(pen.left + half, x)), pen.base + 16, "center", "--text-3");
  }
}

/** Tile: ticks on the base line. Page: dotted. Partition: solid, with a label where there is room. */
function paintEdges(plot: uPlot, pen: Pen, data: DenseData): void {
  const count = pointCount(data);
  const shown = (data.edges ?? []).filter((set) => edgesShown(set, count, pen.width));
  for (const set of shown) {
    const look = edgeLook(set.kind);
    const labelled = look === "coarse" && (set.edges.length + 1) * 70 < pen.width;
    set.edges.forEach((edge, index) => {
      const x = sharp(pen.left + plot.valToPos(edge - 0.5, "x"));
      if (look === "fine") pen.line([x, pen.base], [x, pen.base - 5], "--axis");
      else if (look === "page") pen.line([x, pen.top - 12], [x, pen.base], "--line-strong", [1, 3]);
      else pen.line([x, pen.top - 12], [x, pen.base], "--control");
      if (labelled) pen.text(labelOf(set, index), x - 4, pen.top - 4, "right", "--text-3");
    });
  }
}

function labelOf({ labels }: EdgeSet, index: number): string {
  return labels[index] ?? "";
}

/** The dots of a series. */
export function paintDots(
  plot: uPlot,
  { shape, look, color }: DenseSeries,
  levels: ArrayLike<number | null | undefined>,
): void {
  const pen = new Pen(plot);
  pen.paint(() => {
    const { ctx } = pen;
    ctx.beginPath();
    for (let i = 0; i < levels.length; i++) {
      const level = levels[i];
      if (level === null || level === undefined) continue;
      const x = pen.left + plot.valToPos(plot.data[0][i]!, "x");
      const y = pen.top + plot.valToPos(level, "y");
      if (shape === "square") ctx.rect(x - DOT / 2, y - DOT / 2, DOT, DOT);
      else {
        ctx.moveTo(x + DOT / 2, y);
        ctx.arc(x, y, DOT / 2, 0, 2 * Math.PI);
      }
    }
    ctx.setLineDash([]);
    ctx.lineWidth = 1;
    ctx.strokeStyle = token(color);
    ctx.fillStyle = token(look === "hollow" ? "--surface" : color);
    ctx.fill();
    if (look === "hollow") ctx.stroke();
  });
}

/** Limits, what is not finite, and the selected point: what lies over the series. */
export function paintOver(plot: uPlot, data: DenseData, mark: DenseMark | null): void {
  const pen = new Pen(plot);
  pen.paint(() => {
    paintFlags(plot, pen, data.flags);
    for (const { value, label, color = "--fail" } of data.limits ?? []) {
      const level = data.scale === "log" ? Math.log10(value) : value;
      const y = pen.top + plot.valToPos(level, "y");
      pen.line([pen.left, sharp(y)], [pen.left + pen.width, sharp(y)], color, [4, 3]);
      pen.text(label, pen.left + 6, y - 5, "left", color, true);
    }
    if (mark !== null && mark.index < pointCount(data)) paintMark(plot, pen, mark);
  });
}

function paintFlags(plot: uPlot, pen: Pen, flags: Uint8Array | undefined): void {
  flags?.forEach((flag, index) => {
    if (flag === 0) return;
    pen.ctx.fillStyle = token(flag & 1 ? "--nan" : "--inf");
    pen.ctx.fillRect(pen.left + plot.valToPos(plot.data[0][index]!, "x") - 1.5, pen.top - 3, 3, 7);
  });
}

function paintMark(plot: uPlot, pen: Pen, { index, label }: DenseMark): void {
  const { ctx } = pen;
  const x = pen.left + plot.valToPos(plot.data[0][index]!, "x");
  const level = plot.data[1]?.[index];
  const y = level === null || level === undefined ? pen.base : pen.top + plot.valToPos(level, "y");
  pen.line([sharp(x), pen.top - 12], [sharp(x), pen.base], "--accent");
  if (level !== null && level !== undefined) {
    ctx.beginPath();
    ctx.arc(x, y, 4, 0, 2 * Math.PI);
    ctx.fillStyle = token("--surface");
    ctx.fill();
    ctx.setLineDash([]);
    ctx.lineWidth = 2;
    ctx.strokeStyle = token("--fail");
    ctx.stroke();
  }
  const onLeft = x - pen.left > pen.width / 2;
  pen.text(label, onLeft ? x - 8 : x + 8, Math.max(pen.top + 10, y + 4), onLeft ? "right" : "left", "--text", true);
}
