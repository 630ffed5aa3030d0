/**
 * Which route computes a shape on a device, and why. A pure function of the shape and the device's capabilities, so that
 * it answers "what if" for any chip as well as for the device at hand.
 */

import type { CaseShape, PredicateResult, Route, RouteCapabilities } from "../../kernels/route.ts";
import { findRoute, routesFor } from "../../kernels/routes.ts";
import { isFused, policyPredicates } from "./policy.ts";

export { capabilitiesOf } from "./capabilities.ts";

export interface DispatchOptions {
  /** Takes this route whatever the policy says; its own requirements must still hold. */
  readonly forced?: string;
  /** Routes that imported evidence has promoted. */
  readonly promoted?: readonly string[];
}

/** A route that was considered. */
export interface Candidate {
  readonly route: string;
  readonly status: Route["status"];
  /** Requirements of the kernel: shape and device. */
  readonly predicates: readonly PredicateResult[];
  /** Rules of dispatch on top; a forced route passes over them. */
  readonly policy: readonly PredicateResult[];
  /** True if every requirement of the kernel holds: the route can be run by itself. */
  readonly applicable: boolean;
  readonly chosen: boolean;
  /** One sentence: why it was chosen, or what kept it from being chosen. */
  readonly why: string;
}

export interface Decision {
  /** Name of the chosen route; null where none can run. */
  readonly route: string | null;
  readonly reasons: readonly string[];
  readonly candidates: readonly Candidate[];
}

interface Considered {
  readonly route: Route;
  readonly predicates: readonly PredicateResult[];
  readonly policy: readonly PredicateResult[];
}

/** Throws RangeError for a forced or promoted route that does not exist. */
export function dispatch(shape: CaseShape, capabilities: RouteCapabilities, options: DispatchOptions = {}): Decision {
  const { forced, promoted = [] } = options;
  for (const name of [...(forced === undefined ? [] : [forced]), ...promoted]) findRoute(shape.operator, name);

  const considered = routesFor(shape.operator).map((route) => ({
    route,
    predicates: route.predicates(shape, capabilities),
    policy: policyPredicates(route, shape, promoted),
  }));
  const chosen = forced === undefined ? preferred(considered) : forcedChoice(considered, forced);
  const candidates = considered.map((entry) => candidate(entry, entry === chosen, forced));
  return { route: chosen?.route.name ?? null, reasons: reasons(candidates, forced), candidates };
}

function hold(results: readonly PredicateResult[]): boolean {
  return results.every((result) => result.holds);
}

/** A promoted fused route comes before the production route; apart from that the table's order decides. */
function preferred(considered: readonly Considered[]): Considered | undefined {
  const open = considered.filter((entry) => hold(entry.predicates) && hold(entry.policy));
  return open.find((entry) => isFused(entry.route.name)) ?? open[0];
}

function forcedChoice(considered: readonly Considered[], forced: string): Considered | undefined {
  return considered.find(
    (entry) => entry.route.name === forced && entry.route.status === "built" && hold(entry.predicates),
  );
}

function candidate({ route, predicates, policy }: Considered, chosen: boolean, forced: string | undefined): Candidate {
  return {
    route: route.name,
    status: route.status,
    predicates,
    policy,
    applicable: hold(predicates),
    chosen,
    why: why(route, predicates, policy, chosen, forced),
  };
}

function unmet(results: readonly PredicateResult[]): string {
  return results
    .filter((result) => !result.holds)
    .map((result) => `needs ${result.requires}, but it is ${result.actual} (${result.reason})`)
    .join("; ");
}

function why(
  route: Route,
  predicates: readonly PredicateResult[],
  policy: readonly PredicateResult[],
  chosen: boolean,
  forced: string | undefined,
): string {
  if (chosen) {
    const all = `all ${predicates.length} requirements hold`;
    if (route.name === forced) return `forced, and ${all}`;
    return policy.length === 0 ? `the production route, and ${all}` : `promoted, and ${all}`;
  }
  if (!hold(predicates)) return unmet(predicates);
  if (route.name === forced || (forced === undefined && !hold(policy))) return unmet(policy);
  return forced === undefined ? "another route comes first" : `${forced} is forced`;
}

/** The choice first, then what kept the routes before it in preference from being chosen. */
function reasons(candidates: readonly Candidate[], forced: string | undefined): readonly string[] {
  const chosen = candidates.find((entry) => entry.chosen);
  const sentence = (entry: Candidate): string => `${entry.route}: ${entry.why}`;
  if (!chosen) {
    const named = forced === undefined ? candidates : candidates.filter((entry) => entry.route === forced);
    return ["no route is taken by itself", ...named.map(sentence)];
  }
  if (forced !== undefined) return [sentence(chosen)];
  const passedOver = candidates.filter((entry) => !entry.chosen && !entry.applicable);
  const notTaken = candidates.filter((entry) => !entry.chosen && entry.applicable && !hold(entry.policy));
  return [chosen, ...passedOver, ...notTaken].map(sentence);
}
