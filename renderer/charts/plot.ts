/** The frame that charts of one pane column share, so that x lines up: gutters at the left and right, in CSS pixels. */
export const GUTTER = { left: 58, right: 14 } as const;

/** An edge of the kernel's work, as it is drawn. */
export interface EdgeSet {
  readonly kind: "tile" | "block" | "page" | "partition" | "group" | "sequence";
  readonly title: string;
  /** The edge e lies before place e. */
  readonly edges: Int32Array;
  readonly labels: readonly string[];
}

/** Least distance of two lines of a kind: closer ones say nothing. */
const LEAST_GAP = 8;

/** Whether the lines of a set stand far enough apart on an axis of `pixels` for `length` places. */
export function edgesApart({ edges }: EdgeSet, length: number, pixels: number): boolean {
  let gap = length;
  for (let i = 1; i < edges.length; i++) gap = Math.min(gap, edges[i]! - edges[i - 1]!);
  return (gap * pixels) / Math.max(1, length) >= LEAST_GAP;
}

/** `fine`: ticks on the base line. `page`: dotted. `coarse`: solid, with a label. */
export function edgeLook(kind: EdgeSet["kind"]): "fine" | "page" | "coarse" {
  if (kind === "tile" || kind === "block") return "fine";
  return kind === "page" || kind === "group" ? "page" : "coarse";
}

/** Whether a set is drawn along an axis: coarse ones may come close here and there, not on the whole. */
export function edgesShown(set: EdgeSet, length: number, pixels: number): boolean {
  if (edgeLook(set.kind) !== "coarse") return edgesApart(set, length, pixels);
  return pixels / (set.edges.length + 1) >= LEAST_GAP;
}
