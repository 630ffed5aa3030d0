/**
 * What a route promises to cost, pipeline by pipeline, and whether it does. The numbers stand beside the kernels
 * (`<operator>/contract.ts`) and not in the plans: a plan that drifts breaks its contract.
 */
import type { ResourceContract, RoutePlan } from "./route.ts";
import { THREADGROUP_BYTES_LIMIT } from "./sizes.ts";

export type Relation = "=" | "≥" | "≤";

/** One side of a comparison that a table states. */
export interface Bound {
  readonly relation: Relation;
  readonly value: number;
}

/** What one kernel of a route may take. Bytes are those of one threadgroup. */
export interface KernelContract {
  readonly kernel: string;
  /** Threads of a threadgroup, exactly. */
  readonly threads: number;
  /** Static threadgroup bytes as the source declares them. */
  readonly staticBytes: number;
  readonly dynamicBytes: Bound;
  readonly reason: string;
}

export interface RouteContract {
  readonly route: string;
  readonly kernels: readonly KernelContract[];
  /** Device memory besides inputs and outputs, for the whole route. */
  readonly scratchBytes: number;
  /** How `scratchBytes` comes about, with the numbers of the shape. */
  readonly scratchFormula: string;
}

/** A figure of a receipt: what it is and how it is known. */
export interface Stated {
  readonly value: number;
  readonly by: string;
  readonly source: string;
}

/** What a compiled pipeline reports. */
export interface PipelineFacts {
  readonly function: string;
  readonly simdWidth: Stated;
  readonly maxTotalThreadsPerThreadgroup: Stated;
  readonly staticThreadgroupMemoryBytes: Stated;
}

export const REQUIREMENTS = [
  "simd_width",
  "launchable_threads",
  "dispatched_threads",
  "static_bytes",
  "dynamic_bytes",
  "threadgroup_bytes",
  "scratch_bytes",
] as const;
export type RequirementId = (typeof REQUIREMENTS)[number];

export const REQUIREMENT_TITLES: Readonly<Record<RequirementId, string>> = {
  simd_width: "SIMD width",
  launchable_threads: "launchable threads",
  dispatched_threads: "dispatched threads",
  static_bytes: "static bytes",
  dynamic_bytes: "dynamic bytes",
  threadgroup_bytes: "threadgroup bytes",
  scratch_bytes: "scratch, whole route",
};

/** One requirement of one dispatch: both sides, and whether it held. */
export interface Requirement {
  readonly id: RequirementId;
  readonly relation: Relation;
  readonly required: number;
  /** Null where no receipt states it. */
  readonly actual: number | null;
  /** Null where nothing is known: that is not held. */
  readonly held: boolean | null;
  /** `api`, `probe`, `table`, `assumed` of a receipt; `plan` for geometry; `receipt` in words where there is none. */
  readonly by: string;
  /** Where the actual value was read. */
  readonly source: string;
  readonly reason: string;
}

/** A dispatch of a route with its requirements, in the order of `REQUIREMENTS`. */
export interface DispatchCheck {
  readonly stage: string;
  readonly kernel: string;
  readonly requirements: readonly Requirement[];
}

export interface ContractCheck {
  readonly route: string;
  readonly dispatches: readonly DispatchCheck[];
  readonly contract: RouteContract;
}

/** SIMD width of every Apple family. */
const SIMD_WIDTH = 32;

/** Metal hands out threadgroup memory in steps of 16 bytes. */
const THREADGROUP_ALIGNMENT = 16;

/** Static bytes as Metal may report them: the declared ones, rounded up. */
export function alignedBytes(bytes: number): number {
  return Math.ceil(bytes / THREADGROUP_ALIGNMENT) * THREADGROUP_ALIGNMENT;
}

function holds(actual: number, relation: Relation, required: number): boolean {
  if (relation === "=") return actual === required;
  return relation === "≥" ? actual >= required : actual <= required;
}

const NO_RECEIPT = { by: "no receipt", source: "the bundle holds no receipt of this pipeline" };

function requirement(
  id: RequirementId,
  { relation, value: required }: Bound,
  stated: Stated | undefined,
  reason: string,
): Requirement {
  if (stated === undefined) return { id, relation, required, actual: null, held: null, ...NO_RECEIPT, reason };
  const { value: actual, by, source } = stated;
  return { id, relation, required, actual, held: holds(actual, relation, required), by, source, reason };
}

function kernelCheck(
  contract: KernelContract,
  dispatch: RoutePlan["dispatches"][number],
  facts: PipelineFacts | undefined,
): readonly Requirement[] {
  const { threads, staticBytes, dynamicBytes, reason } = contract;
  const planned = (value: number): Stated => ({ value, by: "plan", source: "the route's table" });
  const dispatched = dispatch.threadsPerThreadgroup.reduce((product, size) => product * size, 1);
  const dynamic = dispatch.threadgroupMemory.reduce((sum, bytes) => sum + bytes, 0);
  const fixed = facts?.staticThreadgroupMemoryBytes;
  return [
    requirement(
      "simd_width",
      { relation: "=", value: SIMD_WIDTH },
      facts?.simdWidth,
      "lane maps and reductions are written for simdgroups of 32",
    ),
    requirement(
      "launchable_threads",
      { relation: "≥", value: threads },
      facts?.maxTotalThreadsPerThreadgroup,
      `${reason}; Metal discards a dispatch above what the pipeline launches`,
    ),
    requirement("dispatched_threads", { relation: "=", value: threads }, planned(dispatched), reason),
    requirement(
      "static_bytes",
      { relation: "≤", value: alignedBytes(staticBytes) },
      fixed,
      `the source declares ${staticBytes.toLocaleString("en-US")} bytes; more would be a copy that it does not have`,
    ),
    requirement("dynamic_bytes", dynamicBytes, planned(dynamic), reason),
    requirement(
      "threadgroup_bytes",
      { relation: "≤", value: THREADGROUP_BYTES_LIMIT },
      fixed === undefined ? undefined : { ...fixed, value: fixed.value + dynamic, by: `${fixed.by}, plan` },
      "static and dynamic bytes together must fit the limit of every Apple family",
    ),
  ];
}

/**
 * A plan and the receipts of its pipelines against the route's contract. A pipeline without a receipt has `held` null
 * where only a receipt could tell. Throws where plan and contract name other kernels: the tables disagree.
 */
export function checkContract(
  contract: RouteContract,
  plan: RoutePlan,
  receipts: readonly PipelineFacts[],
): ContractCheck {
  const dispatches = plan.dispatches.map((dispatch) => checkDispatch(contract, plan, dispatch, receipts));
  return { route: plan.route, dispatches, contract };
}

/** One dispatch, of the plan or a variant of one of it, as `checkContract` checks it. */
export function checkDispatch(
  contract: RouteContract,
  plan: RoutePlan,
  dispatch: RoutePlan["dispatches"][number],
  receipts: readonly PipelineFacts[],
): DispatchCheck {
  const own = contract.kernels.find(({ kernel }) => kernel === dispatch.kernel);
  if (own === undefined) {
    throw new Error(`The contract of ${contract.route} has no kernel ${dispatch.kernel}: add it beside its route.`);
  }
  const facts = receipts.find((receipt) => receipt.function === dispatch.kernel);
  const scratch = requirement(
    "scratch_bytes",
    { relation: "=", value: contract.scratchBytes },
    { value: plan.scratchBytes, by: "plan", source: "the sum of the route's scratch buffers" },
    contract.scratchFormula,
  );
  return {
    stage: dispatch.stage,
    kernel: dispatch.kernel,
    requirements: [...kernelCheck(own, dispatch, facts), scratch],
  };
}

/** How the gate on resources writes a requirement that does not hold. */
const MISS_WORDS: Readonly<Partial<Record<RequirementId, (actual: number, required: number) => string>>> = {
  simd_width: (actual, required) => `SIMD width ${actual}, required ${required}`,
  launchable_threads: (actual, required) => `${actual} threads at most, required ${required}`,
  threadgroup_bytes: (actual, required) => `${actual} threadgroup bytes, limit ${required}`,
};

/**
 * What the gate on resources asks of one pipeline of a plan: without it a dispatch does not run at all, or not as the kernel
 * was written. Null where it holds; else both sides of every requirement that does not.
 */
export function resourceMiss(contract: ResourceContract, receipts: readonly PipelineFacts[]): string | null {
  const { kernel, reason, dynamicThreadgroupBytes: dynamic } = contract;
  const facts = receipts.find((receipt) => receipt.function === kernel);
  if (facts === undefined) return `${kernel}: no pipeline was built`;
  const fixed = facts.staticThreadgroupMemoryBytes;
  const bytes: Stated = { ...fixed, value: fixed.value + dynamic };
  const misses = [
    requirement("simd_width", { relation: "=", value: contract.simdWidth }, facts.simdWidth, reason),
    requirement(
      "launchable_threads",
      { relation: "≥", value: contract.threads },
      facts.maxTotalThreadsPerThreadgroup,
      reason,
    ),
    requirement("threadgroup_bytes", { relation: "≤", value: contract.threadgroupBytesLimit }, bytes, reason),
  ].flatMap(({ id, held, actual, required }) => (held === true ? [] : [MISS_WORDS[id]!(actual!, required)]));
  return misses.length === 0 ? null : `${kernel}: ${misses.join(", ")} (${reason})`;
}

/** Requirements that do not hold, and those that nobody can tell; one of the whole route counts once. */
export function openRequirements({ dispatches }: ContractCheck): {
  readonly broken: readonly { readonly stage: string; readonly requirement: Requirement }[];
  readonly unknown: number;
  readonly held: number;
} {
  const all = dispatches.flatMap(({ stage, requirements }, index) =>
    requirements
      .filter(({ id }) => id !== "scratch_bytes" || index === 0)
      .map((each) => ({ stage, requirement: each })),
  );
  return {
    broken: all.filter(({ requirement: { held } }) => held === false),
    unknown: all.filter(({ requirement: { held } }) => held === null).length,
    held: all.filter(({ requirement: { held } }) => held === true).length,
  };
}
