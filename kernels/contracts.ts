/** Contract, traffic and arithmetic of every route, found by shape and name. */
import type { RouteContract } from "./contract.ts";
import { decodeContract, fusedTile } from "./gqa_decode/contract.ts";
import { decodeFlops, decodeMinimumBytes, decodeTraffic } from "./gqa_decode/traffic.ts";
import { prefillContract } from "./mla_prefill/contract.ts";
import { prefillFlops, prefillMinimumBytes, prefillTraffic } from "./mla_prefill/traffic.ts";
import type { CaseShape, RouteDispatch, RoutePlan } from "./route.ts";
import type { RouteTraffic } from "./traffic.ts";

/** What the route promises to cost for the shape; undefined for a route that is not of this program. */
export function contractFor(shape: CaseShape, route: string): RouteContract | undefined {
  return shape.operator === "gqa_decode" ? decodeContract(shape, route) : prefillContract(shape, route);
}

/**
 * Dispatches that were considered and are not taken: the fused route with a tile of 8 rows, which fills a threadgroup's
 * memory and is no part of its contract.
 */
export function variantsOf(shape: CaseShape, plan: RoutePlan): readonly RouteDispatch[] {
  const partial = plan.dispatches.find(({ kernel }) => kernel === "gqa_fused_partial");
  if (shape.operator !== "gqa_decode" || partial === undefined) return [];
  return [{ ...partial, stage: `${partial.stage}, tile 8`, threadgroupMemory: [fusedTile(shape.dim, 8)] }];
}

/** Logical bytes of the route for the shape; undefined for a route that is not of this program. */
export function trafficFor(shape: CaseShape, route: string): RouteTraffic | undefined {
  return shape.operator === "gqa_decode" ? decodeTraffic(shape, route) : prefillTraffic(shape, route);
}

/** Bytes that every route moves: each row that takes part once, each output once. */
export function minimumBytes(shape: CaseShape): number {
  return shape.operator === "gqa_decode" ? decodeMinimumBytes(shape) : prefillMinimumBytes(shape);
}

/** Floating-point operations of the operator, two per multiply and add: 2 x heads x sum of keys x (key + value width). */
export function flopsOf(shape: CaseShape): number {
  return shape.operator === "gqa_decode" ? decodeFlops(shape) : prefillFlops(shape);
}
