/** Verdicts, outcome and claims of a record, derived again from its gates. */
import { BOUNDARY_EDITIONS, type BoundaryEdition } from "../cases/boundary.ts";
import { gatesDigest } from "../gates/digest.ts";
import { verdictOf } from "../gates/evaluate.ts";
import { GATES, type GateId } from "../gates/gates.ts";
import { outcomeOf } from "../runs/outcome.ts";
import type { RunRecord } from "../runs/record.ts";
import { stableJson } from "./json.ts";
import { claimsOf } from "./level.ts";
import { limitReasons } from "./verify_limits.ts";
import { RECORD, type VerifyState } from "./verify_state.ts";

/** Gates that every result must list, whatever its case. Leaving a gate out must not turn a failure into a pass. */
const ALWAYS: readonly GateId[] = ["finite"];
const WHERE_RUN: readonly GateId[] = ["launched", "coverage", "lse", "sentinels", "repeat", "resources"];
const RATIOS: readonly GateId[] = ["max_abs", "nmse_case", "nmse_head", "nmse_row"];

function missingGates(record: RunRecord, result: RunRecord["results"][number]): readonly GateId[] {
  const listed = new Set<GateId>(result.gates.map((gate) => gate.id));
  const stored = record.cases.find((entry) => entry.key === result.case)?.oracle?.storedReference === true;
  // Ratios stand in for nothing but an all-zero or an all-subnormal reference.
  const ratios = listed.has("subnormal") || (listed.has("exact_zero") && !RATIOS.some((id) => listed.has(id)));
  const wanted = [
    ...ALWAYS,
    ...(record.execution === "imported" ? [] : WHERE_RUN),
    ...(ratios ? [] : RATIOS),
    ...(stored ? (["oracle_agreement"] as const) : []),
  ];
  return wanted.filter((id) => !listed.has(id));
}

/** Routes of an emulated run that no result compares with the flavour lockstep. */
function routesWithoutLockstep(record: RunRecord): readonly string[] {
  if (record.execution !== "emulated" || record.outcome !== "passed") return [];
  const routes = new Map<string, boolean>();
  for (const result of record.results) {
    const operator = result.case.split("/")[0] ?? "";
    const id = `${operator} ${result.route}`;
    const compared = result.gates.some((gate) => gate.id === "lockstep");
    routes.set(id, compared || routes.get(id) === true);
  }
  return [...routes].filter(([, compared]) => !compared).map(([id]) => id);
}

/**
 * Editions of the boundary set that a record's claims may follow from. Earlier ones went with earlier tables of gates: a
 * record with today's table has no other than today's set.
 */
function editionsOf(isToday: boolean): readonly BoundaryEdition[] {
  return isToday ? BOUNDARY_EDITIONS.slice(-1) : BOUNDARY_EDITIONS;
}

const GATE_IDS = new Set<GateId>(GATES.map((gate) => gate.id));

/** What does not follow from the gates, in words. */
export function verdictReasons(state: VerifyState): readonly string[] {
  const { record } = state;
  if (record === null) return ["no record to check"];
  const reasons: string[] = [];
  const isToday = record.gates.sha256 === gatesDigest();
  for (const result of record.results) {
    const name = `${result.case}, ${result.route}`;
    for (const gate of result.gates) {
      if (!GATE_IDS.has(gate.id)) reasons.push(`${name}: unknown gate ${gate.id}`);
      const beyond = gate.value !== null && gate.limit !== null && !(gate.value <= gate.limit);
      if (gate.verdict === "pass" && beyond)
        reasons.push(`${name}: ${gate.id} is ${gate.value}, limit ${gate.limit}, and says pass`);
    }
    // Another table of gates has other limits; that is noted, not judged.
    if (isToday) reasons.push(...limitReasons(state, result));
    for (const id of missingGates(record, result)) reasons.push(`${name}: the gate ${id} is left out`);
    if (new Set(result.gates.map((gate) => gate.id)).size !== result.gates.length)
      reasons.push(`${name}: a gate stands twice`);
    const verdict = verdictOf(result.gates);
    if (verdict !== result.verdict)
      reasons.push(`${name}: the gates give ${verdict}, the record says ${result.verdict}`);
    if (result.verdict === "pass" && result.outputs.length === 0) reasons.push(`${name}: passed without an output`);
  }
  for (const id of routesWithoutLockstep(record)) reasons.push(`${id}: never compared with the flavour lockstep`);
  const outcome = outcomeOf(record.planned.length, record.results);
  const stopped = record.outcome === "cancelled" || record.outcome === "crashed" || record.outcome === "timed_out";
  if (record.outcome !== outcome && !(stopped && outcome !== "passed")) {
    reasons.push(`${RECORD}: the results give "${outcome}", the record says "${record.outcome}"`);
  }
  const claimed = stableJson(record.claims);
  if (!editionsOf(isToday).some((edition) => stableJson(claimsOf(record, edition)) === claimed)) {
    reasons.push(`${RECORD}: the claims do not follow from the results`);
  }
  if (record.planned.length === 0) reasons.push(`${RECORD}: nothing was planned`);
  return reasons;
}
