/** Every route of every operator, found by name. */
import { GQA_DECODE_ROUTES } from "./gqa_decode/routes.ts";
import { MLA_PREFILL_ROUTES } from "./mla_prefill/routes.ts";
import type { CaseShape, DecodeShape, Operator, PrefillShape, Route } from "./route.ts";

/** A route of one operator as a route of any shape: a shape of another operator is an error of the caller. */
function widen<Shape extends CaseShape>(route: Route<Shape>, isOwn: (shape: CaseShape) => shape is Shape): Route {
  const own = (shape: CaseShape): Shape => {
    if (isOwn(shape)) return shape;
    throw new RangeError(`${route.name} is a route of ${route.operator}, but the shape is one of ${shape.operator}`);
  };
  return {
    ...route,
    predicates: (shape, capabilities) => route.predicates(own(shape), capabilities),
    plan: (shape) => route.plan(own(shape)),
  };
}

const isDecode = (shape: CaseShape): shape is DecodeShape => shape.operator === "gqa_decode";
const isPrefill = (shape: CaseShape): shape is PrefillShape => shape.operator === "mla_prefill";

const ROUTES: Readonly<Record<Operator, readonly Route[]>> = {
  gqa_decode: GQA_DECODE_ROUTES.map((route) => widen(route, isDecode)),
  mla_prefill: MLA_PREFILL_ROUTES.map((route) => widen(route, isPrefill)),
};

export const OPERATORS: readonly Operator[] = ["gqa_decode", "mla_prefill"];

/** The routes of an operator in the order of their table. */
export function routesFor(operator: Operator): readonly Route[] {
  return ROUTES[operator];
}

/** One route. Throws RangeError naming the routes that exist. */
export function findRoute(operator: Operator, name: string): Route {
  const found = ROUTES[operator].find((route) => route.name === name);
  if (!found) {
    const names = ROUTES[operator].map((route) => route.name).join(", ");
    throw new RangeError(`${operator} has no route "${name}": use one of ${names}`);
  }
  return found;
}
