/** Widths of the panes beside the centre, page by page, and how they are fitted into a window. Pure. */
import * as z from "zod";
import type { PAGE_IDS } from "../../electron/actions.ts";

/** Pixels. */
export interface SideWidth {
  /** Below 1,600 px of window. */
  readonly narrow: number;
  /** From 1,600 px of window. */
  readonly wide: number;
  /** Least width at which its content can be read. */
  readonly min: number;
}

export interface PageWidths {
  readonly left?: SideWidth;
  readonly right?: SideWidth;
  /** Least width of the centre: the sides give way before it does. */
  readonly centre: number;
}

/** The design's table of panes; `min` is what the heads of these panes need. */
export const PANE_WIDTHS = {
  device: { right: { narrow: 330, wide: 440, min: 260 }, centre: 676 },
  dispatch: {
    left: { narrow: 252, wide: 300, min: 220 },
    right: { narrow: 300, wide: 400, min: 292 },
    centre: 424,
  },
  run: { right: { narrow: 322, wide: 460, min: 280 }, centre: 480 },
  parity: {
    left: { narrow: 232, wide: 300, min: 200 },
    right: { narrow: 322, wide: 400, min: 290 },
    centre: 440,
  },
  captures: { right: { narrow: 426, wide: 600, min: 320 }, centre: 480 },
  fragments: { right: { narrow: 300, wide: 400, min: 260 }, centre: 480 },
  evidence: { right: { narrow: 330, wide: 440, min: 280 }, centre: 480 },
  kernels: {
    left: { narrow: 216, wide: 300, min: 180 },
    right: { narrow: 384, wide: 500, min: 372 },
    centre: 344,
  },
  /** The reports of the checker, on the page Kernels. */
  reports: {
    left: { narrow: 300, wide: 380, min: 240 },
    right: { narrow: 336, wide: 460, min: 280 },
    centre: 400,
  },
  gates: { right: { narrow: 330, wide: 440, min: 260 }, centre: 460 },
} as const satisfies Readonly<Record<(typeof PAGE_IDS)[number] | "reports", PageWidths>>;

export type PanesPage = keyof typeof PANE_WIDTHS;

export type Side = "left" | "right";

/** From this width of the window on the design's wider panes are taken. */
export const WIDE_FROM = 1600;

/** Below this width of the window the right pane is a drawer and the navigation a rail. */
export const DRAWER_BELOW = 1100;

/** Widths that a user has dragged; a side that was not dragged is not in it. */
export const dragged = z.strictObject({
  left: z.int().min(1).max(10_000).optional(),
  right: z.int().min(1).max(10_000).optional(),
});
export type Dragged = z.infer<typeof dragged>;

/** The key of a page's widths; a change of meaning takes a new number. */
export function widthsKey(page: PanesPage): string {
  return `lockstep.panes.1.${page}`;
}

export function defaultWidth(side: SideWidth, windowWidth: number): number {
  return windowWidth >= WIDE_FROM ? side.wide : side.narrow;
}

export interface Fitted {
  readonly left: number;
  readonly right: number;
}

/**
 * Widths of the sides in `total` pixels. Each is what was asked for, but at least its minimum; where the centre would be
 * smaller than its own minimum the right side gives way first, then the left, each down to its minimum.
 */
export function fitWidths(total: number, page: PageWidths, asked: Fitted): Fitted {
  const leftMin = page.left?.min ?? 0;
  const rightMin = page.right?.min ?? 0;
  const left = page.left === undefined ? 0 : Math.max(leftMin, asked.left);
  const right = page.right === undefined ? 0 : Math.max(rightMin, asked.right);
  const over = (l: number, r: number): number => Math.max(0, l + r + page.centre - total);
  const fittedRight = Math.max(rightMin, right - over(left, right));
  const fittedLeft = Math.max(leftMin, left - over(left, fittedRight));
  return { left: page.left === undefined ? 0 : fittedLeft, right: page.right === undefined ? 0 : fittedRight };
}

/** Widest that one side can be dragged while the other keeps its width. */
export function greatestWidth(total: number, page: PageWidths, side: Side, other: number): number {
  const min = page[side]?.min ?? 0;
  return Math.max(min, total - other - page.centre);
}

/** What a drawer leaves to be seen of the centre. */
const BESIDE_DRAWER = 80;

/** Width of the right pane as a drawer over `total` pixels. */
export function drawerWidth(total: number, page: PageWidths, asked: number): number {
  const min = page.right?.min ?? 0;
  return Math.max(min, Math.min(Math.max(asked, min), total - BESIDE_DRAWER));
}

const STEP = 8;
const LONG_STEP = 32;

/** The width after a key on the separator of `side`; undefined where the key does nothing there. */
export function widthByKey(
  key: string,
  shift: boolean,
  side: Side,
  width: number,
  limits: { readonly min: number; readonly max: number },
): number | undefined {
  const step = shift ? LONG_STEP : STEP;
  // The separator moves where the arrow points; a right pane then becomes narrower.
  const grow = side === "left" ? 1 : -1;
  const to =
    key === "ArrowRight"
      ? width + grow * step
      : key === "ArrowLeft"
        ? width - grow * step
        : key === "Home"
          ? limits.min
          : key === "End"
            ? limits.max
            : undefined;
  return to === undefined ? undefined : Math.max(limits.min, Math.min(limits.max, to));
}
