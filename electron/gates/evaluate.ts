/**
 * Applies the gates to a comparison and to the facts of a run. Every limit test is written `!(error <= limit)`, so that
 * NaN fails.
 */
import type { Comparison, Group, StoredComparison } from "../runs/comparison.ts";
import { GATE_CONSTANTS, GATES, type GateId, type GateVerdict } from "./gates.ts";

export type GatedDtype = "f32" | "f16" | "bf16";

/** One gate's verdict. `value` and `limit` belong to the place that comes closest to, or furthest over, its limit. */
export interface GateResult {
  readonly id: GateId;
  readonly verdict: GateVerdict;
  readonly value: number | null;
  readonly limit: number | null;
  /** Where the value was taken: a head, a row, a buffer, a kernel. */
  readonly where: string | null;
  readonly note: string | null;
}

/** A fact of a run that a gate needs; `undefined` means that it was not obtained. */
export interface RunFacts {
  /**
   * Why the route did not complete; `null` if it did. `not_run` where it was stopped (time, crash, cancel), `fail` where
   * the device refused it.
   */
  readonly failure: { readonly verdict: "fail" | "not_run"; readonly reason: string } | null;
  /** Labels of buffers whose sentinel was overwritten. */
  readonly brokenSentinels: readonly string[] | undefined;
  /** Bytes that differ between the first and the second run. */
  readonly repeatDifference: number | undefined;
  /** `expected` is false where this case is not the one that is run in lockstep. */
  readonly lockstep: { readonly expected: boolean; readonly difference: number | undefined; readonly note?: string };
  /** Reports of the checker at error level, on the small case that `lockstep` is compared on. */
  readonly checker: { readonly expected: boolean; readonly errors: number | undefined; readonly note?: string };
  /** One entry for every contract of the route's plan; `miss` is null where the receipt keeps it. */
  readonly resources: readonly { readonly kernel: string; readonly miss: string | null }[] | undefined;
}

export interface Evaluation {
  readonly dtype: GatedDtype;
  /** `undefined` where the route gave no output. */
  readonly comparison: Comparison | undefined;
  /** True if the file of the case holds a float64 output; then `stored` is expected. */
  readonly hasStored: boolean;
  readonly stored: StoredComparison | undefined;
  /** `null` for imported outputs, which were not run here. */
  readonly run: RunFacts | null;
}

/** True if the values of a group cancel, so that errors are measured by sum p|v|. */
export function cancels(group: Group): boolean {
  return Math.sqrt(group.absoluteSquares) > GATE_CONSTANTS.cancellationRatio * Math.sqrt(group.referenceSquares);
}

/** NMSE limit of a group in f32: max(1e-10, min(2e-5, (8 * 2^-24 * C)^2)). */
export function nmseLimitF32(conditioning: number): number {
  const c = GATE_CONSTANTS;
  return Math.max(c.nmseFloor, Math.min(c.nmseCeiling, (c.conditioningFactor * c.unitRoundoff * conditioning) ** 2));
}

function nmseOf(group: Group): number {
  return group.errorSquares / (cancels(group) ? group.absoluteSquares : group.referenceSquares);
}

function twinNmse(group: Group): number {
  return group.twinErrorSquares / (cancels(group) ? group.absoluteSquares : group.referenceSquares);
}

/**
 * NMSE limit of every group of a list: all rows, all heads, or one. In f16 and bf16 it is that of the twin's worst one:
 * where in a case rounding strikes hardest is chance, how hard it strikes is not.
 */
function nmseLimits(groups: readonly Group[], dtype: GatedDtype): (group: Group) => number {
  if (dtype === "f32") return (group) => nmseLimitF32(group.conditioning);
  const twin = groups.filter((group) => !isZero(group)).reduce((most, group) => Math.max(most, twinNmse(group)), 0);
  const limit = Math.max(GATE_CONSTANTS.twinFactor ** 2 * twin, GATE_CONSTANTS.outputRounding[dtype]);
  return () => limit;
}

function maxAbsLimit(group: Group, dtype: GatedDtype): number {
  if (dtype !== "f32") return GATE_CONSTANTS.twinFactor * group.twinMaxError;
  const relative = Math.sqrt(nmseLimitF32(group.conditioning));
  return relative * (cancels(group) ? group.maxAbsolute : group.maxReference);
}

function isZero(group: Group): boolean {
  return group.referenceSquares === 0 && group.maxReference === 0;
}

interface Measured {
  readonly value: number;
  readonly limit: number;
  readonly where: string;
  readonly note?: string;
}

/** The measurement that is furthest over its limit, or closest below it. Undefined for an empty list. */
function worst(measured: readonly Measured[]): Measured | undefined {
  let found: Measured | undefined;
  for (const entry of measured) {
    if (found === undefined || excess(entry) > excess(found)) found = entry;
  }
  return found;
}

function excess(entry: Measured): number {
  if (Number.isNaN(entry.value)) return Number.POSITIVE_INFINITY;
  if (entry.limit === 0) return entry.value === 0 ? 0 : Number.POSITIVE_INFINITY;
  return entry.value / entry.limit;
}

function judge(id: GateId, entry: Measured): GateResult {
  return {
    id,
    verdict: !(entry.value <= entry.limit) ? "fail" : "pass",
    value: entry.value,
    limit: entry.limit,
    where: entry.where,
    note: entry.note ?? null,
  };
}

function notRun(id: GateId, note: string): GateResult {
  return { id, verdict: "not_run", value: null, limit: null, where: null, note };
}

function judgeCount(id: GateId, count: number | undefined, where: string, missing: string): GateResult {
  return count === undefined ? notRun(id, missing) : judge(id, { value: count, limit: 0, where });
}

const LARGEST_F32 = (2 - 2 ** -23) * 2 ** 127;

/** Gates that need no more than the comparison. Gates that do not apply are left out. */
function comparisonGates(comparison: Comparison, dtype: GatedDtype): GateResult[] {
  const results: GateResult[] = [];
  const finite = judge("finite", { value: comparison.notFinite, limit: 0, where: `${comparison.elements} elements` });
  const { conditioning } = comparison.whole;
  const overflow = `the terms of a score add up to ${conditioning.toExponential(2)}, beyond f32: use smaller inputs`;
  const overflows = finite.verdict === "fail" && conditioning > LARGEST_F32;
  results.push(overflows ? { ...finite, note: overflow } : finite);

  const groups = [comparison.whole, ...comparison.heads, ...comparison.rows];
  const zero = worst(groups.filter(isZero).map((group) => ({ value: group.maxOutput, limit: 0, where: group.label })));
  if (zero !== undefined) results.push(judge("exact_zero", zero));

  if (isSubnormal(comparison.whole) && dtype === "f32") {
    const { maxError, label } = comparison.whole;
    results.push(judge("subnormal", { value: maxError, limit: GATE_CONSTANTS.subnormalError, where: label }));
    return results;
  }
  const live = (list: readonly Group[]) => list.filter((group) => !isZero(group));
  const largest = worst(
    live(dtype === "f32" ? comparison.heads : [comparison.whole, ...comparison.heads]).map((group) => ({
      value: group.maxError,
      limit: maxAbsLimit(group, dtype),
      where: group.label,
      ...(cancels(group) ? { note: "the values cancel: the limit is a share of sum p|v|" } : {}),
    })),
  );
  if (largest !== undefined) results.push(judge("max_abs", largest));
  const levels: readonly (readonly [GateId, readonly Group[]])[] = [
    ["nmse_case", [comparison.whole]],
    ["nmse_head", comparison.heads],
    ["nmse_row", comparison.rows],
  ];
  for (const [id, list] of levels) {
    const limitOf = nmseLimits(list, dtype);
    const nmse = worst(
      live(list).map((group) => ({
        value: nmseOf(group),
        limit: limitOf(group),
        where: group.label,
        ...(cancels(group) ? { note: "the values cancel: normalised by sum p|v|" } : {}),
      })),
    );
    if (nmse !== undefined) results.push(judge(id, nmse));
  }
  const slope = worst(
    live([comparison.whole, ...comparison.heads])
      .filter((group) => !cancels(group))
      .map((group) => ({
        value: Math.abs(group.outputTimesReference / group.referenceSquares - 1),
        limit: Math.max(GATE_CONSTANTS.slope, Math.sqrt(nmseLimits([group], dtype)(group))),
        where: group.label,
      })),
  );
  if (slope !== undefined) results.push(judge("slope", slope));
  return results;
}

/** True if no value that takes part is a normal float32 and not all of them are zero. */
function isSubnormal(whole: Group): boolean {
  return whole.maxAbsolute > 0 && whole.maxAbsolute < GATE_CONSTANTS.smallestNormal;
}

function lseGate(comparison: Comparison): GateResult | undefined {
  const c = GATE_CONSTANTS;
  const entry = worst(
    (comparison.lse ?? []).map(({ value, reference, conditioning, label }) => {
      if (!Number.isFinite(reference)) {
        return { value: value === reference ? 0 : Number.POSITIVE_INFINITY, limit: 0, where: label };
      }
      const scale = Math.max(conditioning, Math.abs(reference));
      const limit = Math.max(c.lseFloor, c.conditioningFactor * c.unitRoundoff * scale);
      return { value: Math.abs(value - reference), limit, where: label };
    }),
  );
  return entry && judge("lse", entry);
}

function storedGates(evaluation: Evaluation): GateResult[] {
  const { comparison, stored, dtype } = evaluation;
  if (!evaluation.hasStored) return [];
  if (comparison === undefined || stored === undefined) {
    return [notRun("stored_reference", "no output"), notRun("oracle_agreement", "no output")];
  }
  const { whole } = comparison;
  const c = GATE_CONSTANTS;
  const scale = whole.maxAbsolute * Math.max(1, Math.min(whole.conditioning, c.referenceConditioningCap));
  const agreement = scale === 0 ? stored.oracleMaxError : stored.oracleMaxError / scale;
  const results = [judge("oracle_agreement", { value: agreement, limit: c.referenceAgreement, where: whole.label })];
  if (isZero(whole) || (isSubnormal(whole) && dtype === "f32")) return results;
  const entry = worst([
    { value: stored.nmse, limit: nmseLimits([whole], dtype)(whole), where: "NMSE of the case" },
    { value: stored.maxError, limit: maxAbsLimit(whole, dtype), where: "largest error of the case" },
  ]);
  return entry === undefined ? results : [judge("stored_reference", entry), ...results];
}

function runGates(evaluation: Evaluation, run: RunFacts): GateResult[] {
  const { comparison } = evaluation;
  const missing = run.failure?.reason ?? "no output";
  const results: GateResult[] = [
    run.failure === null
      ? { id: "launched", verdict: "pass", value: null, limit: null, where: null, note: null }
      : { id: "launched", verdict: run.failure.verdict, value: null, limit: null, where: null, note: missing },
    judgeCount("coverage", comparison?.unwritten, `${comparison?.elements ?? 0} elements`, missing),
    judgeCount("sentinels", run.brokenSentinels?.length, run.brokenSentinels?.join(", ") || "all buffers", missing),
    judgeCount("repeat", run.repeatDifference, "second run", "the route was not run twice"),
  ];
  if (run.lockstep.expected) {
    const { difference, note } = run.lockstep;
    const result = judgeCount("lockstep", difference, "flavour lockstep", "the flavour lockstep was not run");
    results.push(note === undefined ? result : { ...result, note });
  }
  if (run.checker.expected) {
    const { errors, note } = run.checker;
    const result = judgeCount("checker", errors, "flavour check", "the checker did not come to an end");
    results.push(note === undefined ? result : { ...result, note });
  }
  const missed = run.resources?.filter((entry) => entry.miss !== null);
  const resources = judgeCount(
    "resources",
    missed?.length,
    missed?.map((entry) => entry.kernel).join(", ") || "all pipelines",
    "no pipeline was built",
  );
  const words = missed?.map((entry) => entry.miss).join("; ");
  results.push(words ? { ...resources, note: words } : resources);
  return results;
}

/** Gates that the comparison decides; all of them are `not_run` where there is no output. */
const NEEDS_OUTPUT: readonly GateId[] = ["finite", "max_abs", "nmse_case", "nmse_head", "nmse_row", "slope"];

/**
 * Evaluates every gate that applies, in the order of the table.
 */
export function evaluate(evaluation: Evaluation): readonly GateResult[] {
  const { comparison, run } = evaluation;
  const results: GateResult[] = run === null ? [] : runGates(evaluation, run);
  if (comparison === undefined) {
    const why = run?.failure?.reason ?? "no output";
    for (const id of NEEDS_OUTPUT) results.push(notRun(id, why));
    if (run !== null) results.push(notRun("lse", why));
  } else {
    results.push(...comparisonGates(comparison, evaluation.dtype));
    const lse = lseGate(comparison);
    if (lse !== undefined) results.push(lse);
    else if (run !== null) results.push(notRun("lse", "the route wrote no lse"));
  }
  results.push(...storedGates(evaluation));
  return inOrder(results);
}

/** In the order of the table. */
function inOrder(results: readonly GateResult[]): readonly GateResult[] {
  const order = new Map(GATES.map((gate, index) => [gate.id, index]));
  return [...results].sort((a, b) => order.get(a.id)! - order.get(b.id)!);
}

/** The results with one more, which replaces one of the same gate. */
export function withGate(results: readonly GateResult[], gate: GateResult): readonly GateResult[] {
  return inOrder([...results.filter(({ id }) => id !== gate.id), gate]);
}

/** `pass` only if every required gate passed; a required gate that did not run makes it `not_run` unless one failed. */
export function verdictOf(results: readonly GateResult[]): GateVerdict {
  const required = results.filter((result) => GATES.find((gate) => gate.id === result.id)?.required ?? true);
  if (required.some((result) => result.verdict === "fail")) return "fail";
  if (required.length === 0 || required.some((result) => result.verdict === "not_run")) return "not_run";
  return "pass";
}
