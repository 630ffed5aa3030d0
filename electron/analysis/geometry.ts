/**
 * Where a route cuts its work: edges of tiles, blocks and partitions along the output and along the keys, and the order in
 * which it goes through the keys. Every size comes from the route's plan or the constants beside its kernels.
 */
import { FUSED_TILE, NAIVE_THREADS, SCORE_BLOCK, SCORE_TILE, SIMD_WIDTH } from "../../kernels/gqa_decode/geometry.ts";
import { FRAGMENT_ROWS, QUERY_ROWS } from "../../kernels/mla_prefill/tiles.ts";
import type { CaseShape, RouteDispatch, RoutePlan } from "../../kernels/route.ts";
import { routesFor } from "../../kernels/routes.ts";
import { ceilBounds } from "../../oracle/online.ts";
import type { Axis } from "./cells.ts";
import { extentsOf } from "./layout.ts";

/** From fine to coarse. No route has pages yet. */
const EDGE_KINDS = ["tile", "block", "page", "partition", "group", "sequence"] as const;
export type EdgeKind = (typeof EDGE_KINDS)[number];

/** Lines of one kind. The edge e lies before place e; the two ends of the axis are no edges. */
export interface EdgeSet {
  readonly kind: EdgeKind;
  /** For a legend: `KV tile of 4 tokens`. */
  readonly title: string;
  readonly edges: Int32Array;
  /** What begins at each edge: `partition 3`. Empty for ticks. */
  readonly labels: readonly string[];
}

/** The plan of a route for a shape; undefined for routes that are not of this program or do not apply. */
export function planOf(shape: CaseShape, route: string): RoutePlan | undefined {
  const found = routesFor(shape.operator).find((candidate) => candidate.name === route);
  if (found === undefined || found.status !== "built") return undefined;
  try {
    return found.plan(shape);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function kernelOf(plan: RoutePlan | undefined, ...kernels: readonly string[]): RouteDispatch | undefined {
  return plan?.dispatches.find((dispatch) => kernels.includes(dispatch.kernel));
}

function defineOf(plan: RoutePlan, name: string): number {
  const value = plan.defines[name];
  if (typeof value !== "number") throw new Error(`${plan.route} defines no number ${name}: correct its table.`);
  return value;
}

/** Bounds that lie inside [begin, end), each once, with the number of the part that begins there. */
function inner(bounds: readonly number[], begin: number, end: number): readonly (readonly [number, number])[] {
  const found = new Map<number, number>();
  bounds.forEach((bound, part) => {
    if (bound > begin && bound < end && !found.has(bound)) found.set(bound, part);
  });
  return [...found];
}

function edgeSet(
  kind: EdgeKind,
  title: string,
  bounds: readonly (readonly [number, number])[],
  word?: string,
): EdgeSet {
  return {
    kind,
    title,
    edges: Int32Array.from(bounds, ([edge]) => edge),
    labels: word === undefined ? [] : bounds.map(([, part]) => `${word} ${part}`),
  };
}

/** Multiples of `step` inside [begin, end), counted from `begin`. */
function steps(step: number, begin: number, end: number): readonly (readonly [number, number])[] {
  return inner(
    Array.from({ length: Math.ceil((end - begin) / step) }, (_, part) => begin + part * step),
    begin,
    end,
  );
}

function present(sets: readonly EdgeSet[]): readonly EdgeSet[] {
  return sets.filter((set) => set.edges.length > 0);
}

/** Edges along an axis of the output, fine to coarse. Sets without an edge are left out. */
export function outputEdges(shape: CaseShape, plan: RoutePlan | undefined, axis: Axis): readonly EdgeSet[] {
  const { width } = extentsOf(shape);
  if (shape.operator === "gqa_decode") {
    if (axis === "head") {
      const group = shape.heads / shape.kvHeads;
      return present([edgeSet("group", `${group} query heads on a KV head`, steps(group, 0, shape.heads), "KV head")]);
    }
    const value = kernelOf(plan, "gqa_value", "gqa_value_staged");
    if (axis !== "dim" || value === undefined) return [];
    const tile = shape.dim / value.threadgroups[0];
    return present([edgeSet("tile", `dimension tile of ${tile}, a threadgroup each`, steps(tile, 0, width))]);
  }
  const matrix = kernelOf(plan, "mla_prefill_8x8");
  if (axis === "dim") {
    if (plan === undefined || matrix === undefined) return [];
    const chunk = defineOf(plan, "VALUE_CHUNK");
    return present([
      edgeSet("tile", `fragment of ${FRAGMENT_ROWS} columns`, steps(FRAGMENT_ROWS, 0, width)),
      edgeSet("block", `${chunk} staged columns`, steps(chunk, 0, width), "chunk"),
    ]);
  }
  if (axis !== "token") return [];
  const sequences = shape.cuSeqlensQ.slice(0, -1).map((begin, b) => [begin, shape.cuSeqlensQ[b + 1]!] as const);
  const inSequences = (step: number): readonly (readonly [number, number])[] =>
    sequences.flatMap(([begin, end]) => steps(step, begin, end));
  const sets = [
    edgeSet("sequence", "sequence of the batch", inner(shape.cuSeqlensQ, 0, shape.cuSeqlensQ.at(-1) ?? 0), "sequence"),
  ];
  if (matrix !== undefined) {
    sets.unshift(
      edgeSet("tile", `simdgroup, ${FRAGMENT_ROWS} query rows`, inSequences(FRAGMENT_ROWS)),
      edgeSet("block", `threadgroup, ${QUERY_ROWS} query rows`, inSequences(QUERY_ROWS), "query block"),
    );
  }
  return present(sets);
}

/** How a route goes through the keys of one output row. */
export interface KeySchedule {
  /** True for an online softmax: the maximum is that of the keys seen so far. False: of all keys, taken first. */
  readonly online: boolean;
  /** Keys of partition p: `bounds[p]` to `bounds[p + 1]`. Partitions may be empty. */
  readonly bounds: readonly number[];
  /** Keys of one step within a partition; null where a partition is one step. */
  readonly tile: number | null;
  readonly words: string;
}

/** The schedule of a route over `keys` keys; plain softmax over all of them where the route is not known. */
export function keySchedule(plan: RoutePlan | undefined, keys: number): KeySchedule {
  const whole = [0, keys];
  const fused = kernelOf(plan, "gqa_fused_partial");
  if (fused !== undefined) {
    const count = fused.threadgroups[1];
    return {
      online: true,
      bounds: ceilBounds(keys, count),
      tile: FUSED_TILE,
      words: `online softmax in ${count} partitions, tiles of ${FUSED_TILE} tokens, then a merge`,
    };
  }
  const value = kernelOf(plan, "gqa_value", "gqa_value_staged");
  if (value !== undefined) {
    const count = value.threadgroups[1];
    const words = `softmax over the whole row, then values in ${count} partitions`;
    return { online: false, bounds: ceilBounds(keys, count), tile: null, words };
  }
  if (kernelOf(plan, "gqa_naive") !== undefined) {
    const count = NAIVE_THREADS / SIMD_WIDTH;
    const words = `softmax over the whole row, then values in ${count} simdgroups`;
    return { online: false, bounds: ceilBounds(keys, count), tile: null, words };
  }
  if (plan !== undefined && kernelOf(plan, "mla_prefill_8x8") !== undefined) {
    const rows = defineOf(plan, "KV_ROWS");
    return { online: true, bounds: whole, tile: rows, words: `online softmax in blocks of ${rows} keys` };
  }
  const words =
    plan === undefined
      ? "softmax over the whole row; the order of this engine is not known"
      : "softmax over the whole row";
  return { online: false, bounds: whole, tile: null, words };
}

/** Edges along the keys of one output row, fine to coarse: what the scores and weights of an element are cut by. */
export function keyEdges(plan: RoutePlan | undefined, keys: number): readonly EdgeSet[] {
  const schedule = keySchedule(plan, keys);
  const { bounds, tile } = schedule;
  const tiles = (step: number): readonly (readonly [number, number])[] =>
    bounds.slice(0, -1).flatMap((begin, p) => steps(step, begin, bounds[p + 1]!));
  const partitions = edgeSet("partition", `${bounds.length - 1} partitions`, inner(bounds, 0, keys), "partition");
  if (kernelOf(plan, "gqa_score") !== undefined) {
    return present([
      edgeSet("tile", `score tile of ${SCORE_TILE} tokens`, steps(SCORE_TILE, 0, keys)),
      edgeSet("block", `score block of ${SCORE_BLOCK} tokens`, steps(SCORE_BLOCK, 0, keys), "score block"),
      partitions,
    ]);
  }
  if (plan !== undefined && kernelOf(plan, "mla_prefill_8x8") !== undefined && tile !== null) {
    return present([
      edgeSet("tile", `sub-tile of ${FRAGMENT_ROWS} keys`, steps(FRAGMENT_ROWS, 0, keys)),
      edgeSet("block", `block of ${tile} keys`, steps(tile, 0, keys), "key block"),
    ]);
  }
  return present([...(tile === null ? [] : [edgeSet("tile", `KV tile of ${tile} tokens`, tiles(tile))]), partitions]);
}
