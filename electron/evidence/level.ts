/**
 * How far the evidence of a record reaches: the ladder of levels, computed from results, never typed by a person. A chip is
 * supported by evidence from a real GPU of that chip alone: not from an emulated device, not from a GPU that a hypervisor
 * lends, and not where what decides it is only inferred or assumed.
 */
import { type BoundaryEdition, boundarySet } from "../cases/boundary.ts";
import type { CaseRecord, Claim, LEVELS, ResultRecord, RunRecord } from "../runs/record.ts";

export type Level = (typeof LEVELS)[number];

/** What each level shows and what it does not. Shown with every claim. */
const LEVEL_TEXT: Readonly<Record<Level, { readonly provides: string; readonly doesNotProvide: string }>> = {
  source: { provides: "the kernel's source is in the bundle", doesNotProvide: "that it compiles" },
  compiled: { provides: "the source compiles", doesNotProvide: "that a device accepts the pipeline" },
  pipeline: {
    provides: "the device built the pipeline; resource receipts are in the bundle",
    doesNotProvide: "occupancy, correctness or speed",
  },
  smoke: {
    provides: "every dispatch completed; all outputs were written and are finite",
    doesNotProvide: "that the numbers are right",
  },
  parity: {
    provides: "every required gate passed on the stated cases",
    doesNotProvide: "other shapes, edges and adversarial inputs; speed",
  },
  boundary: {
    provides: "every required gate passed on the whole boundary set",
    doesNotProvide: "speed; whole-model quality",
  },
  screened: { provides: "timing admission at operator level", doesNotProvide: "whole-model speed" },
  promoted: { provides: "a whole-model gate, imported and signed", doesNotProvide: "other models" },
};

/** What the claims of a record are computed from. */
export type ClaimBasis = Pick<
  RunRecord,
  "execution" | "device" | "producer" | "planned" | "cases" | "results" | "validation"
>;

/** The chip that evidence supports, or why it supports none; both null where no chip is in question. */
export interface ChipSupport {
  readonly chip: string | null;
  readonly why: string | null;
}

const SOFT: readonly string[] = ["assumed", "inferred"];

/** Facts that are not known to be so never support a claim. */
export function chipSupport({ execution, device }: Pick<RunRecord, "execution" | "device">): ChipSupport {
  if (execution !== "metal" || device === null) return { chip: null, why: null };
  const { chip, virtualGpu } = device;
  if (virtualGpu === undefined) return { chip: null, why: "the record does not say whether the GPU is a virtual one" };
  if (virtualGpu.value) return { chip: null, why: "the GPU is a virtual one, which a hypervisor lends" };
  if (SOFT.includes(virtualGpu.by)) {
    return { chip: null, why: `that the GPU is no virtual one is ${virtualGpu.by}: ${virtualGpu.source}` };
  }
  if (SOFT.includes(chip.by)) return { chip: null, why: `the chip is ${chip.by}: ${chip.source}` };
  return { chip: chip.value, why: null };
}

/** What a claim does not provide besides what its level does not: a chip, or times. */
function reservations(basis: ClaimBasis): readonly string[] {
  const { why } = chipSupport(basis);
  return [
    ...(why === null ? [] : [`anything about a chip: ${why}`]),
    ...(basis.validation === undefined ? [] : ["any timing: validation instruments the pipelines"]),
  ];
}

interface Evidence {
  readonly results: readonly ResultRecord[];
  readonly planned: number;
  readonly cases: readonly CaseRecord[];
  readonly edition: BoundaryEdition | undefined;
}

function gatePassed(result: ResultRecord, id: ResultRecord["gates"][number]["id"]): boolean {
  return result.gates.some((gate) => gate.id === id && gate.verdict === "pass");
}

function levelOf(basis: ClaimBasis, evidence: Evidence): Level {
  const { results, planned } = evidence;
  const complete = results.length === planned && planned > 0;
  const parity = complete && results.every((result) => result.verdict === "pass");
  if (basis.execution === "imported") {
    if (parity) return "parity";
    return complete && results.every((result) => gatePassed(result, "finite")) ? "smoke" : "source";
  }
  if (parity) return boundaryComplete(evidence) ? "boundary" : "parity";
  const smoke =
    complete &&
    results.every((result) => ["launched", "coverage", "finite"].every((id) => gatePassed(result, id as "launched")));
  if (smoke) return "smoke";
  if (results.some((result) => result.receipts.length > 0)) return "pipeline";
  return results.some((result) => result.state !== "compile_failed") && results.length > 0 ? "compiled" : "source";
}

/** True if every alias of the boundary set is a case of the record and the route ran those it applies to. */
function boundaryComplete(evidence: Evidence): boolean {
  const [first] = evidence.cases;
  if (first === undefined) return false;
  const wanted = boundarySet(first.shape.operator, first.shape.dtype, evidence.edition);
  const present = evidence.cases.filter((entry) => entry.boundary);
  const ran = new Set(evidence.results.map((result) => result.case));
  return wanted.length > 0 && present.length === wanted.length && present.some((entry) => ran.has(entry.key));
}

/**
 * The claims of a record, one for every operator, route and dtype that was planned.
 * @param edition of the boundary set; the newest, unless an earlier bundle is asked about
 */
export function claimsOf(basis: ClaimBasis, edition?: BoundaryEdition): readonly Claim[] {
  const caseByKey = new Map(basis.cases.map((entry) => [entry.key, entry]));
  const groups = new Map<string, { readonly first: CaseRecord; readonly route: string; planned: number }>();
  for (const { case: key, route } of basis.planned) {
    const entry = caseByKey.get(key);
    if (entry === undefined) continue;
    const id = `${entry.shape.operator}\n${route}\n${entry.shape.dtype}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { first: entry, route, planned: 1 });
    else group.planned++;
  }
  return [...groups.values()].map(({ first, route, planned }) => {
    const { operator, dtype } = first.shape;
    const cases = basis.cases.filter((entry) => entry.shape.operator === operator && entry.shape.dtype === dtype);
    const keys = new Set(cases.map((entry) => entry.key));
    const results = basis.results.filter((result) => result.route === route && keys.has(result.case));
    const level = levelOf(basis, { results, planned, cases, edition });
    const { provides, doesNotProvide } = LEVEL_TEXT[level];
    return {
      operator,
      route,
      dtype,
      execution: basis.execution,
      device: basis.device?.id ?? basis.producer?.chip ?? "unknown",
      level,
      supportsChip: chipSupport(basis).chip,
      cases: results.length,
      provides,
      doesNotProvide: [doesNotProvide, ...reservations(basis)].join("; "),
    };
  });
}
