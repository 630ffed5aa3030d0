/**
 * What a route's table states: geometry, buffers, scratch bytes and resource needs of every dispatch. The tables beside
 * the `.metal` sources are the only place that states them.
 */

export type Operator = "gqa_decode" | "mla_prefill";

export type KernelDtype = "f32" | "f16" | "bf16";

/** Shape of a decode case: one query token, `heads` query heads on `kvHeads` KV heads of width `dim`. */
export interface DecodeShape {
  readonly operator: "gqa_decode";
  readonly heads: number;
  readonly kvHeads: number;
  readonly dim: number;
  /** Tokens that take part; the cache may hold more rows (`capacity`), which are no part of the case. */
  readonly live: number;
  readonly capacity: number;
  readonly scale: number;
  readonly dtype: KernelDtype;
}

/** Shape of a prefill case: a ragged batch; sequence b has its query rows at positions `qOffset[b] + i` of its keys. */
export interface PrefillShape {
  readonly operator: "mla_prefill";
  readonly heads: number;
  readonly nope: number;
  readonly rope: number;
  readonly value: number;
  readonly cuSeqlensQ: readonly number[];
  readonly cuSeqlensK: readonly number[];
  readonly qOffset: readonly number[];
  readonly scale: number;
  readonly dtype: KernelDtype;
}

export type CaseShape = DecodeShape | PrefillShape;

export type Size3 = readonly [number, number, number];

/** A buffer that a route needs. Inputs carry the names of the operator's tensors (`q`, `k`, `v`, `q_nope`, ...). */
export interface RouteBuffer {
  readonly name: string;
  readonly role: "input" | "output" | "scratch";
  readonly dtype: KernelDtype | "i32";
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** One dispatch of a route. `buffers[i]` is bound at index i; `params` (setBytes) follows them. */
export interface RouteDispatch {
  readonly stage: string;
  readonly kernel: string;
  readonly threadgroups: Size3;
  readonly threadsPerThreadgroup: Size3;
  readonly buffers: readonly string[];
  /** Little-endian bytes of the kernel's parameter struct, bound at index `buffers.length`. */
  readonly params: Uint8Array;
  /** Dynamic threadgroup bytes by index. */
  readonly threadgroupMemory: readonly number[];
}

/** What a compiled pipeline must report, or the route fails its resource gate. */
export interface ResourceContract {
  readonly kernel: string;
  readonly simdWidth: number;
  /** Threads that are dispatched; the pipeline must launch at least as many. */
  readonly threads: number;
  readonly dynamicThreadgroupBytes: number;
  /** Limit for static plus dynamic bytes. */
  readonly threadgroupBytesLimit: number;
  readonly reason: string;
}

export interface RoutePlan {
  readonly route: string;
  /** Path of the `.metal` source below `kernels/`. */
  readonly source: string;
  /** Included files below `kernels/`. */
  readonly includes: readonly string[];
  readonly defines: Readonly<Record<string, string | number>>;
  readonly buffers: readonly RouteBuffer[];
  readonly dispatches: readonly RouteDispatch[];
  readonly contracts: readonly ResourceContract[];
  /** Sum of scratch bytes, checked for overflow. */
  readonly scratchBytes: number;
}

/** What a predicate may look at on the device side. Never the device's name. */
export interface RouteCapabilities {
  /** 7 to 10 for Apple7 to Apple10. */
  readonly appleFamily: number;
  /** For example "3.2" or "4.0". A string, compared part by part: 26.10 is later than 26.2. */
  readonly metalVersion: string;
  /** For example "26.2"; "unknown" where the device states none. */
  readonly macos: string;
  readonly maxThreadsPerThreadgroup: number;
  readonly maxThreadgroupMemoryBytes: number;
}

/** One requirement: what it needs, what the case and device have, and whether it holds. */
export interface PredicateResult {
  readonly id: string;
  readonly requires: string;
  readonly actual: string;
  readonly holds: boolean;
  /** Why the requirement exists, with its source. */
  readonly reason: string;
}

export interface Route<Shape extends CaseShape = CaseShape> {
  /** Unique within the operator: `three_stage`, `fused_split_kv_p32`, `simdgroup_8x8`, ... */
  readonly name: string;
  readonly operator: Operator;
  readonly summary: string;
  /** `planned` routes are listed as candidates whose kernel is not built yet. */
  readonly status: "built" | "planned";
  /** Live tokens at which every loop of a decode route goes round twice, where that is more than a few hundred. */
  readonly loopTokens?: number;
  readonly predicates: (shape: Shape, capabilities: RouteCapabilities) => readonly PredicateResult[];
  /** Throws RangeError where a product overflows or the shape is outside the predicates. */
  readonly plan: (shape: Shape) => RoutePlan;
}
