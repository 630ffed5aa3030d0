/**
 * The unified-memory budget: what the GPU may keep resident, what a model's weights and caches take of it, what is left,
 * and the longest context that fits. Pure; the window imports it.
 *
 * On a Mac the limit is `recommendedMaxWorkingSetSize`, read from the API. Elsewhere it is an estimate, a range whose rule
 * `workingSetLimit` names: what fits into its low end fits, what needs more than its high end does not.
 */
import type { KernelDtype } from "../../kernels/route.ts";
import { findRoute } from "../../kernels/routes.ts";
import { ELEMENT_BYTES } from "../../kernels/sizes.ts";
import type { CacheShape, WindowedLayers } from "./models.ts";

export const GIB = 2 ** 30;

/** Sizes to choose from, GiB. Which of them a chip was sold with is not in the chip table. */
export const MEMORY_SIZES_GIB: readonly number[] = [8, 16, 18, 24, 32, 36, 48, 64, 96, 128, 192, 256, 512];

/** Longest context, tokens: a cache of the production decode shape is then as large as a buffer may be, 16 GiB. */
export const MAX_CONTEXT = 2 ** 21;

/** Bytes that the GPU may keep resident. `low` equals `high` where the limit is known. */
export interface WorkingSet {
  readonly low: number;
  readonly high: number;
  readonly by: "api" | "estimate";
  /** The rule in words. */
  readonly rule: string;
  readonly source: string;
}

interface Fraction {
  /** GiB of memory from which it is in force. */
  readonly from: number;
  readonly low: number;
  readonly high: number;
  readonly rule: string;
  readonly source: string;
}

/** Values that Macs have reported, as fractions of their memory. */
const FRACTIONS: readonly Fraction[] = [
  {
    from: 128,
    low: 0.75,
    high: 0.84,
    rule: "3/4 to 0.84 of the memory: 128 GiB reported 96 before and 107.52 GiB on macOS 26",
    source: "raullenchai/Rapid-MLX pull 183; antirez/ds4 pull 893",
  },
  {
    from: 64,
    low: 0.75,
    high: 0.75,
    rule: "3/4 of the memory: 64 GiB reported 48, 96 GiB reported 72",
    source: "ggml-org/llama.cpp issues 1870 and 3213",
  },
  {
    from: 33,
    low: 2 / 3,
    high: 0.75,
    rule: "2/3 to 3/4 of the memory: no report between 32 and 64 GiB was read",
    source: "the rules on both sides of it",
  },
  {
    from: 0,
    low: 2 / 3,
    high: 2 / 3,
    rule: "2/3 of the memory: 16 GiB reported 10.67, 32 GiB reported 21.33",
    source: "abetlen/llama-cpp-python issue 687; ollama/ollama issue 434",
  },
];

/**
 * What the GPU may keep resident of `memoryBytes`.
 * @param reported `recommendedMaxWorkingSetSize` in bytes, where a Metal device reports it
 */
export function workingSetLimit(memoryBytes: number, reported: number | null = null): WorkingSet {
  if (reported !== null) {
    const rule = "recommendedMaxWorkingSetSize of the device";
    return { low: reported, high: reported, by: "api", rule, source: "MTLDevice" };
  }
  const { low, high, rule, source } = FRACTIONS.find(({ from }) => memoryBytes >= from * GIB)!;
  return { low: Math.floor(memoryBytes * low), high: Math.floor(memoryBytes * high), by: "estimate", rule, source };
}

/** Bytes of weights: parameters x bits / 8, rounded up. */
export function weightBytes(parameters: number, bitsPerWeight: number): number {
  return Math.ceil((parameters * bitsPerWeight) / 8);
}

/** Elements that one token keeps in one layer. */
export function elementsPerToken(shape: CacheShape): number {
  switch (shape.form) {
    case "gqa":
      return 2 * shape.kvHeads * shape.dim;
    case "mla_expanded":
      return shape.heads * (shape.nope + shape.value) + shape.rope;
    case "mla_latent":
      return shape.rank + shape.rope;
  }
}

/** The formula of `elementsPerToken` with its figures in it. */
function elementsFormula(shape: CacheShape): string {
  switch (shape.form) {
    case "gqa":
      return `2 × ${shape.kvHeads} KV heads × ${shape.dim}`;
    case "mla_expanded":
      return `${shape.heads} heads × (${shape.nope} + ${shape.value}) + ${shape.rope} shared`;
    case "mla_latent":
      return `${shape.rank} latent + ${shape.rope} shared`;
  }
}

/** Bytes that one more token of context takes over all layers whose cache grows. */
export function bytesPerToken(shape: CacheShape, dtype: KernelDtype, layers: number): number {
  return elementsPerToken(shape) * ELEMENT_BYTES[dtype] * layers;
}

/** Bytes of the caches that stop growing at their window. */
export function windowedBytes(windowed: WindowedLayers | null, dtype: KernelDtype, context: number): number {
  if (windowed === null) return 0;
  const { layers, kvHeads, dim, tokens } = windowed;
  return layers * 2 * kvHeads * dim * ELEMENT_BYTES[dtype] * Math.min(tokens, context);
}

export type Scratch =
  | { readonly route: string; readonly bytes: number }
  | { readonly route: string | null; readonly reason: string };

/** Scratch bytes of the production route at this context, as its plan states them: one layer at a time uses them. */
export function routeScratch(shape: CacheShape, dtype: KernelDtype, context: number): Scratch {
  if (shape.form === "mla_latent") return { route: null, reason: "no route reads the latent cache" };
  try {
    if (shape.form === "gqa") {
      // The decode kernels take f32 whatever the cache is kept in.
      const { heads, kvHeads, dim } = shape;
      const common = { live: context, capacity: context, scale: 1, dtype: "f32" } as const;
      const plan = findRoute("gqa_decode", "three_stage").plan({
        operator: "gqa_decode",
        heads,
        kvHeads,
        dim,
        ...common,
      });
      return { route: plan.route, bytes: plan.scratchBytes };
    }
    const { heads, nope, rope, value } = shape;
    const plan = findRoute("mla_prefill", "simdgroup_8x8").plan({
      operator: "mla_prefill",
      heads,
      nope,
      rope,
      value,
      cuSeqlensQ: [0, context],
      cuSeqlensK: [0, context],
      qOffset: [0],
      scale: 1,
      dtype,
    });
    return { route: plan.route, bytes: plan.scratchBytes };
  } catch (error) {
    if (error instanceof RangeError) return { route: null, reason: error.message };
    throw error;
  }
}

export interface BudgetQuestion {
  readonly memoryBytes: number;
  readonly limit: WorkingSet;
  readonly weightBytes: number;
  /** Whether the bytes follow from a number of parameters or were given. */
  readonly weightsFrom: "parameters" | "bytes";
  readonly cache: CacheShape;
  readonly dtype: KernelDtype;
  /** Layers whose cache grows with the context. */
  readonly layers: number;
  readonly windowed: WindowedLayers | null;
  /** Activations, temporary buffers and the allocator's headroom: a figure of the user's own. */
  readonly runtimeBytes: number;
  /** Tokens. */
  readonly context: number;
}

/** In the order in which they stand in a bar. */
export const PART_IDS = ["weights", "runtime", "scratch", "windowed", "kv", "left", "system"] as const;
export type PartId = (typeof PART_IDS)[number];

/** How a part is known. `chosen` was typed or picked, `estimate` follows a rule, `formula` is exact. */
export type PartBy = "formula" | "chosen" | "estimate" | "api" | "unknown";

export interface BudgetPart {
  readonly id: PartId;
  readonly label: string;
  readonly bytes: number;
  readonly by: PartBy;
  /** Where the figure comes from, in words. */
  readonly how: string;
}

export interface LongestContext {
  /** Tokens; 0 where not even one fits. */
  readonly tokens: number;
  /** What ends it: the limit, or `MAX_CONTEXT`. */
  readonly endedBy: "memory" | "search";
}

export interface Budget {
  /** In the order in which they stand in the bar; `left` is there only where something is left. */
  readonly parts: readonly BudgetPart[];
  readonly needBytes: number;
  readonly bytesPerToken: number;
  readonly state: "fits" | "may_fit" | "does_not_fit";
  /** One sentence: whether it fits, and by how much. */
  readonly sentence: string;
  /** Of the low and of the high end of the limit. */
  readonly longest: { readonly low: LongestContext; readonly high: LongestContext };
}

/** `17.4 GiB`: three significant digits. */
export function binaryText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1024;
  return `${value.toPrecision(3)} ${units[unit]}`;
}

function needAt(question: BudgetQuestion, context: number): number {
  const { cache, dtype, layers, windowed } = question;
  const scratch = routeScratch(cache, dtype, context);
  return (
    question.weightBytes +
    question.runtimeBytes +
    ("bytes" in scratch ? scratch.bytes : 0) +
    windowedBytes(windowed, dtype, context) +
    bytesPerToken(cache, dtype, layers) * context
  );
}

/** The longest context whose need is at most `limit` bytes. What is needed never falls as the context grows. */
export function longestContext(question: BudgetQuestion, limit: number): LongestContext {
  if (needAt(question, MAX_CONTEXT) <= limit) return { tokens: MAX_CONTEXT, endedBy: "search" };
  if (needAt(question, 1) > limit) return { tokens: 0, endedBy: "memory" };
  let fits = 1;
  let over = MAX_CONTEXT;
  while (over - fits > 1) {
    const middle = Math.floor((fits + over) / 2);
    if (needAt(question, middle) <= limit) fits = middle;
    else over = middle;
  }
  return { tokens: fits, endedBy: "memory" };
}

function stateOf(need: number, { low, high }: WorkingSet): Budget["state"] {
  // Written so that a need that is no number does not fit.
  if (need <= low) return "fits";
  return need <= high ? "may_fit" : "does_not_fit";
}

function sentenceOf(state: Budget["state"], need: number, limit: WorkingSet): string {
  const needs = `${binaryText(need)} needed`;
  const range =
    limit.low === limit.high ? binaryText(limit.low) : `${binaryText(limit.low)} to ${binaryText(limit.high)}`;
  switch (state) {
    case "fits":
      return `Fits: ${needs}, limit ${range}. ${binaryText(limit.low - need)} left`;
    case "may_fit":
      return `May not fit: ${needs}, limit between ${binaryText(limit.low)} and ${binaryText(limit.high)}. ${binaryText(need - limit.low)} over its low end`;
    case "does_not_fit":
      return `Does not fit: ${needs}, limit ${range}. ${binaryText(need - limit.high)} over`;
  }
}

/** Throws RangeError where a figure is no size. */
export function memoryBudget(question: BudgetQuestion): Budget {
  const { memoryBytes, limit, cache, dtype, layers, windowed, context } = question;
  for (const [name, value] of Object.entries({ memoryBytes, context, layers, ...pick(question) })) {
    if (!Number.isFinite(value) || value < 0) throw new RangeError(`${name} is ${value}; a size is 0 or more`);
  }
  const scratch = routeScratch(cache, dtype, context);
  const perToken = bytesPerToken(cache, dtype, layers);
  const need = needAt(question, context);
  const state = stateOf(need, limit);
  const estimated = limit.by === "api" ? "api" : "estimate";
  const left = limit.low - need;
  const parts: BudgetPart[] = [
    {
      id: "weights",
      label: "weights",
      bytes: question.weightBytes,
      by: question.weightsFrom === "bytes" ? "chosen" : "formula",
      how: question.weightsFrom === "bytes" ? "bytes as given" : "parameters × bits per weight / 8",
    },
    {
      id: "runtime",
      label: "runtime",
      bytes: question.runtimeBytes,
      by: "chosen",
      how: "activations, temporary buffers, allocator headroom: a figure of your own",
    },
    "bytes" in scratch
      ? {
          id: "scratch",
          label: "route scratch",
          bytes: scratch.bytes,
          by: "formula",
          how: `plan of ${scratch.route}, one layer at a time`,
        }
      : { id: "scratch", label: "route scratch", bytes: 0, by: "unknown", how: `not known: ${scratch.reason}` },
    ...(windowed === null
      ? []
      : [
          {
            id: "windowed",
            label: "KV of windowed layers",
            bytes: windowedBytes(windowed, dtype, context),
            by: "formula",
            how: `${windowed.layers} layers × 2 × ${windowed.kvHeads} KV heads × ${windowed.dim} × ${ELEMENT_BYTES[dtype]} B × ${Math.min(windowed.tokens, context).toLocaleString("en-US")} tokens`,
          } as const,
        ]),
    {
      id: "kv",
      label: "KV of the context",
      bytes: perToken * context,
      by: "formula",
      how: `${layers} layers × (${elementsFormula(cache)}) × ${ELEMENT_BYTES[dtype]} B × ${context.toLocaleString("en-US")} tokens`,
    },
    ...(left > 0
      ? [{ id: "left", label: "left", bytes: left, by: estimated, how: "limit less what is needed" } as const]
      : []),
    {
      id: "system",
      label: "macOS and the CPU side",
      bytes: Math.max(0, memoryBytes - Math.max(limit.low, need)),
      by: estimated,
      how: left < 0 ? "memory less what is needed: less than macOS keeps" : "memory less the limit",
    },
  ];
  return {
    parts,
    needBytes: need,
    bytesPerToken: perToken,
    state,
    sentence: sentenceOf(state, need, limit),
    longest: { low: longestContext(question, limit.low), high: longestContext(question, limit.high) },
  };
}

function pick({ weightBytes: weights, runtimeBytes }: BudgetQuestion): Readonly<Record<string, number>> {
  return { weightBytes: weights, runtimeBytes };
}
