/**
 * Which route is taken by itself among those that could run. A kernel's own requirements are in its table
 * (`kernels/<operator>/routes.ts`); these are the rules on top of them, and forcing a route passes over them.
 */
import { predicate } from "../../kernels/predicates.ts";
import type { CaseShape, PredicateResult, Route } from "../../kernels/route.ts";

/** Shortest prefix for which the fused decode route is a candidate. */
const FUSED_MIN_LIVE = 8192;

const FUSED_FAMILY = "fused_split_kv";

/** Routes that dispatch takes without being asked. */
const PRODUCTION: readonly string[] = ["three_stage", "matrix_16x16", "simdgroup_8x8"];

/** True for `fused_split_kv_p32` and its siblings. */
export function isFused(route: string): boolean {
  return route.startsWith(`${FUSED_FAMILY}_`);
}

/** Rules for a route that is neither forced nor refused by its own requirements. */
export function policyPredicates(
  route: Route,
  shape: CaseShape,
  promoted: readonly string[],
): readonly PredicateResult[] {
  const rules: PredicateResult[] = [];
  if (route.status === "planned") {
    rules.push(predicate("kernel_built", "a kernel", "not built yet", false, "the route is listed as a candidate"));
  }
  if (isFused(route.name) && shape.operator === "gqa_decode") {
    rules.push(
      predicate(
        "fused_prefix",
        `a prefix of ${FUSED_MIN_LIVE.toLocaleString("en-US")} tokens or more`,
        shape.live,
        shape.live >= FUSED_MIN_LIVE,
        "the saved score traffic grows with the prefix; shorter ones stay on the production route",
      ),
    );
  }
  if (!PRODUCTION.includes(route.name)) {
    const isPromoted = promoted.includes(route.name);
    rules.push(
      predicate(
        "forced_or_promoted",
        isFused(route.name) ? "forced, or promoted by imported evidence" : "forced",
        isPromoted ? "promoted" : "neither",
        isPromoted && isFused(route.name),
        isFused(route.name)
          ? "passing a screen admits a candidate; only evidence from the chip changes production"
          : "it is there to compare with",
      ),
    );
  }
  return rules;
}
