/**
 * Cases x routes. A plan is made before anything runs, so that what did not run can be told from what was never asked for.
 */
import type { CaseShape, Operator, Route, RoutePlan } from "../../kernels/route.ts";
import { type Case, DEFAULT_SEED, decodeShape } from "../cases/case.ts";
import { generated } from "../cases/file.ts";
import { libraryKey } from "./execute.ts";
import type { DecisionRecord } from "./record.ts";
import { UsageError, unknownName } from "./usage.ts";

export interface PlannedRoute {
  readonly route: string;
  readonly plan: RoutePlan;
  /** The small case on which this set of pipelines is compared with the flavour lockstep; null where another item does it. */
  readonly lockstep: { readonly case: Case; readonly plan: RoutePlan } | null;
}

export interface PlannedCase {
  readonly case: Case;
  readonly decision: DecisionRecord;
  readonly routes: readonly PlannedRoute[];
}

export interface RunPlan {
  readonly suite: string | null;
  readonly cases: readonly PlannedCase[];
}

export interface Selection {
  readonly operator?: Operator | undefined;
  /** A route's name, or the beginning of several: `fused_split_kv`. */
  readonly route?: string | undefined;
  /** A case's key, or a part of several. */
  readonly case?: string | undefined;
}

/** What the planner needs of the kernels and the dispatcher; tests give it kernels with faults. */
export interface Catalogue {
  readonly routesFor: (operator: Operator) => readonly Route[];
  /** The dispatch decision for a shape on the device at hand. */
  readonly decide: (shape: CaseShape) => Omit<DecisionRecord, "case">;
}

export const OPERATORS: readonly Operator[] = ["gqa_decode", "mla_prefill"];

/** The cases that a selection keeps. Throws `UsageError` for a key that matches none. */
export function selectCases(cases: readonly Case[], selection: Selection): readonly Case[] {
  const { operator, case: wanted } = selection;
  const ofOperator = cases.filter((entry) => operator === undefined || entry.shape.operator === operator);
  if (wanted === undefined) return ofOperator;
  const exact = ofOperator.filter((entry) => entry.key === wanted || entry.alias === wanted);
  const lower = wanted.toLowerCase();
  const chosen = exact.length > 0 ? exact : ofOperator.filter((entry) => entry.key.toLowerCase().includes(lower));
  if (chosen.length === 0) {
    throw unknownName(
      "case",
      wanted,
      ofOperator.map((entry) => entry.key),
      ofOperator.map((entry) => entry.alias),
    );
  }
  return chosen;
}

function matchesRoute(name: string, wanted: string): boolean {
  return name === wanted || name.startsWith(`${wanted}_`);
}

/** Throws `UsageError` unless some route has the name. */
export function checkRoute(wanted: string, catalogue: Catalogue): void {
  const names = OPERATORS.flatMap((operator) => catalogue.routesFor(operator).map((route) => route.name));
  const distinct = [...new Set(names)];
  if (!distinct.some((name) => matchesRoute(name, wanted))) throw unknownName("route", wanted, distinct);
}

/** Routes to run: the one of that name, or every one whose name begins with it and goes on after an underscore. */
function chosenRoutes(names: readonly string[], wanted: string): readonly string[] {
  return names.includes(wanted) ? [wanted] : names.filter((name) => matchesRoute(name, wanted));
}

/** Sizes that overflow or exceed a limit are an answer, not a defect. */
function planRoute(route: Route, { key, shape }: Case): RoutePlan {
  try {
    return route.plan(shape);
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(`${key}, ${route.name}: ${error.message}`) : error;
  }
}

function planCase(testCase: Case, selection: Selection, catalogue: Catalogue): PlannedCase {
  const { shape } = testCase;
  const decision = catalogue.decide(shape);
  const applicable = new Set(
    decision.candidates
      .filter((candidate) => candidate.applicable && candidate.status === "built")
      .map((candidate) => candidate.route),
  );
  const routes = catalogue.routesFor(shape.operator);
  const names = routes.map((route) => route.name);
  const wanted = selection.route === undefined ? names : chosenRoutes(names, selection.route);
  const planned = routes
    .filter((route) => wanted.includes(route.name) && applicable.has(route.name))
    .map((route) => ({ route: route.name, plan: planRoute(route, testCase), lockstep: null }));
  return { case: testCase, decision: { case: testCase.key, ...decision }, routes: planned };
}

/**
 * Tokens of the small decode case: several tiles in each of 32 partitions, and at least one token in every second of 256.
 * The last tile is not full, whatever its size.
 */
const SMALL_LIVE = 299;
/** Lengths of the small prefill batch: it crosses a block of 32 query rows, and its edges lie within sub-tiles. */
const SMALL_SEQUENCES = [0, 17, 58] as const;

/**
 * A generated case of the same geometry, small enough for lockstep, where a rendezvous at every threadgroup access is slow,
 * and large enough that every loop of the route's kernels goes round.
 */
export function smallCase(shape: CaseShape, route: Pick<Route, "loopTokens">): Case {
  if (shape.operator === "gqa_decode") {
    const { heads, kvHeads, dim, scale } = shape;
    const live = route.loopTokens ?? SMALL_LIVE;
    return generated(decodeShape({ heads, kvHeads, dim, scale, live }), "spread", DEFAULT_SEED);
  }
  const small = { ...shape, cuSeqlensQ: SMALL_SEQUENCES, cuSeqlensK: SMALL_SEQUENCES, qOffset: [0, 0] };
  return {
    key: `mla_prefill/generated/T${SMALL_SEQUENCES[2]}/${shape.dtype}`,
    alias: "generated",
    shape: small,
    source: { kind: "generator", generator: "lockstep.fmix32/1", seed: DEFAULT_SEED, variant: "spread" },
    path: "",
    boundary: false,
  };
}

/** Gives every set of pipelines (route and compiled source) its small case in lockstep, where it is used first. */
function withLockstep(cases: readonly PlannedCase[], catalogue: Catalogue): readonly PlannedCase[] {
  const compared = new Set<string>();
  const add = (item: PlannedRoute, shape: CaseShape): PlannedRoute => {
    const key = `${item.route}\n${libraryKey(item.plan)}`;
    if (compared.has(key)) return item;
    compared.add(key);
    const route = catalogue.routesFor(shape.operator).find((candidate) => candidate.name === item.route)!;
    const small = smallCase(shape, route);
    return { ...item, lockstep: { case: small, plan: route.plan(small.shape) } };
  };
  return cases.map((planned) => ({
    ...planned,
    routes: planned.routes.map((item) => add(item, planned.case.shape)),
  }));
}

/**
 * Plans a run. Throws `UsageError` for unknown names and where no route applies to any case: the first refusal is cited.
 */
export function planRun(
  suite: string | null,
  cases: readonly Case[],
  selection: Selection,
  catalogue: Catalogue,
): RunPlan {
  return { suite, cases: planCases(selectCases(cases, selection), selection, catalogue) };
}

/** The routes of each case that apply to it. Throws as `planRun`. */
export function planCases(cases: readonly Case[], selection: Selection, catalogue: Catalogue): readonly PlannedCase[] {
  if (selection.route !== undefined) checkRoute(selection.route, catalogue);
  const planned = cases.map((entry) => planCase(entry, selection, catalogue));
  const withRoutes = planned.filter((entry) => entry.routes.length > 0);
  if (withRoutes.length === 0) throw new UsageError(nothingApplies(planned, selection));
  return withLockstep(withRoutes, catalogue);
}

function nothingApplies(planned: readonly PlannedCase[], selection: Selection): string {
  const named = (candidate: { readonly route: string }): boolean =>
    selection.route === undefined || matchesRoute(candidate.route, selection.route);
  // A case of the route's own operator says more than one of the other.
  const first = planned.find((entry) => entry.decision.candidates.some(named)) ?? planned[0];
  if (first === undefined) return "No case is left: the suite has none of that operator.";
  const routesByRefusal = new Map<string, string[]>();
  for (const candidate of first.decision.candidates.filter(named)) {
    const why = refusal(candidate);
    routesByRefusal.set(why, [...(routesByRefusal.get(why) ?? []), candidate.route]);
  }
  const refusals = [...routesByRefusal].map(([why, routes]) => `${routes.join(", ")}: ${why}`);
  const which = selection.route === undefined ? "No route" : `No route called "${selection.route}"`;
  const list = refusals.length > 0 ? ` ${refusals.join("; ")}.` : "";
  return `${which} applies to ${first.case.key}.${list} \`lockstep dispatch\` shows every requirement`;
}

function refusal(candidate: DecisionRecord["candidates"][number]): string {
  if (candidate.status === "planned") return "its kernel is not built yet";
  const broken = candidate.predicates.find((predicate) => !predicate.holds);
  return broken === undefined ? candidate.why : `requires ${broken.requires}, actual ${broken.actual}`;
}
