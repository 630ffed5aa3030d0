/** Every route of every operator, found by name. */
import { GQA_DECODE_ROUTES } from "./gqa_decode/routes.ts";
import { MLA_PREFILL_ROUTES } from "./mla_prefill/routes.ts";
import type { CaseShape, Operator, PredicateResult, Route, RouteCapabilities, RoutePlan } from "./route.ts";

export const OPERATORS: readonly Operator[] = ["gqa_decode", "mla_prefill"];

/** A route bound to a shape of its own operator, so that callers need not know which one it is. */
export interface BoundRoute {
  readonly name: string;
  readonly operator: Operator;
  readonly summary: string;
  readonly status: Route["status"];
  /** Requirements of the route against the shape and a device. */
  readonly predicates: (capabilities: RouteCapabilities) => readonly PredicateResult[];
  /** Throws RangeError where the shape does not satisfy the route or a product overflows. */
  readonly plan: () => RoutePlan;
}

function bind<Shape extends CaseShape>(routes: readonly Route<Shape>[], shape: Shape): readonly BoundRoute[] {
  return routes.map((route) => ({
    name: route.name,
    operator: route.operator,
    summary: route.summary,
    status: route.status,
    predicates: (capabilities) => route.predicates(shape, capabilities),
    plan: () => route.plan(shape),
  }));
}

/** The routes of the shape's operator in the order of their table. */
export function routesFor(shape: CaseShape): readonly BoundRoute[] {
  return shape.operator === "gqa_decode" ? bind(GQA_DECODE_ROUTES, shape) : bind(MLA_PREFILL_ROUTES, shape);
}

/** Names of an operator's routes. */
export function routeNames(operator: Operator): readonly string[] {
  const routes = operator === "gqa_decode" ? GQA_DECODE_ROUTES : MLA_PREFILL_ROUTES;
  return routes.map((route) => route.name);
}

/** One route of the shape's operator. Throws RangeError naming the routes that exist. */
export function routeFor(shape: CaseShape, name: string): BoundRoute {
  const found = routesFor(shape).find((route) => route.name === name);
  if (!found) {
    throw new RangeError(
      `${shape.operator} has no route "${name}": use one of ${routeNames(shape.operator).join(", ")}`,
    );
  }
  return found;
}
