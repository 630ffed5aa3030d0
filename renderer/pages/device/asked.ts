/**
 * The budget that is asked for, as texts of a form and parameters of a URL. What a URL holds and no field takes is as if
 * it were not there. Pure.
 */
import {
  type BudgetQuestion,
  GIB,
  MAX_CONTEXT,
  MEMORY_SIZES_GIB,
  weightBytes,
  workingSetLimit,
} from "../../../electron/device/budget.ts";
import { type BudgetModel, budgetModel, type CacheShape } from "../../../electron/device/models.ts";
import type { KernelDtype } from "../../../kernels/route.ts";

/** Fields of the form, which are parameters of the URL. */
const BUDGET_FIELDS = [
  "ram",
  "model",
  "weights",
  "bits",
  "layers",
  "cache",
  "heads",
  "kv",
  "dim",
  "nope",
  "rope",
  "value",
  "rank",
  "dtype",
  "runtime",
  "ctx",
] as const;
export type BudgetField = (typeof BUDGET_FIELDS)[number];

export const DTYPES: readonly KernelDtype[] = ["f32", "f16", "bf16"];

/** What is asked where the URL says nothing: 128 GiB, as the largest machine that the decode design names. */
const DEFAULT_MEMORY_GIB = 128;
const DEFAULT_CONTEXT = 65_536;
const DEFAULT_RUNTIME_GIB = 2;

export type Weights =
  | { readonly kind: "parameters"; readonly count: number }
  | { readonly kind: "bytes"; readonly bytes: number };

const PARAMETER_UNITS: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, b: 1e9, t: 1e12 };
const BYTE_UNITS: Readonly<Record<string, number>> = {
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  mib: 2 ** 20,
  gib: GIB,
  tib: 2 ** 40,
};

/** `31B` and `7e9` are parameters, `18 GiB` and `18 GB` bytes. Undefined for what is neither. */
export function parseWeights(text: string): Weights | undefined {
  const match = /^\s*([\d.,]+(?:e\d{1,2})?)\s*([a-z]*)\s*$/i.exec(text);
  if (match === null) return undefined;
  const figure = Number(match[1]!.replaceAll(",", ""));
  const unit = match[2]!.toLowerCase();
  if (!Number.isFinite(figure) || figure < 0 || figure > 1e15) return undefined;
  const perUnit = PARAMETER_UNITS[unit];
  if (perUnit !== undefined) return { kind: "parameters", count: figure * perUnit };
  const bytesPerUnit = BYTE_UNITS[unit];
  return bytesPerUnit === undefined ? undefined : { kind: "bytes", bytes: Math.ceil(figure * bytesPerUnit) };
}

/** A whole number from `least` to `most`; commas are taken. */
function parseWhole(text: string, least: number, most: number): number | undefined {
  const plain = text.replaceAll(",", "").trim();
  const value = Number(plain);
  return /^\d{1,9}$/.test(plain) && value >= least && value <= most ? value : undefined;
}

function parseDecimal(text: string, least: number, most: number): number | undefined {
  const plain = text.trim();
  const value = Number(plain);
  return /^\d{1,6}(\.\d{1,4})?$/.test(plain) && value >= least && value <= most ? value : undefined;
}

/** `31B`, `16B`, `7,500,000`. */
export function parametersText(count: number): string {
  return count >= 1e9 && count % 1e8 === 0 ? `${count / 1e9}B` : count.toLocaleString("en-US");
}

interface FieldRule {
  /** The text in the form in which a URL holds it; undefined where it is not taken. */
  readonly read: (text: string) => string | undefined;
  /** What is taken, in words. */
  readonly takes: string;
}

const whole = (least: number, most: number): FieldRule => ({
  read: (text) => parseWhole(text, least, most)?.toString(),
  takes: `a whole number, ${least.toLocaleString("en-US")} to ${most.toLocaleString("en-US")}`,
});
const decimal = (least: number, most: number, unit: string): FieldRule => ({
  read: (text) => parseDecimal(text, least, most)?.toString(),
  takes: `a number, ${least} to ${most.toLocaleString("en-US")}${unit}`,
});

/** What the typed fields take. */
export const RULES = {
  weights: {
    read: (text) => (parseWeights(text) === undefined ? undefined : text.trim()),
    takes: "parameters such as 31B, or bytes such as 18 GiB",
  },
  bits: decimal(1, 64, ""),
  layers: whole(0, 1000),
  heads: whole(1, 1024),
  kv: whole(1, 1024),
  dim: whole(1, 4096),
  nope: whole(1, 4096),
  rope: whole(0, 4096),
  value: whole(1, 4096),
  rank: whole(1, 8192),
  runtime: decimal(0, 1024, " GiB"),
  ctx: whole(1, MAX_CONTEXT),
} as const satisfies Readonly<Record<string, FieldRule>>;
export type TypedField = keyof typeof RULES;

type Texts = Readonly<Record<string, string>>;

export interface Asked {
  readonly model: BudgetModel;
  readonly memoryGib: number;
  readonly weights: Weights;
  readonly bits: number;
  readonly form: CacheShape["form"];
  readonly question: BudgetQuestion;
  /** The text of every typed field that has a place in the form. */
  readonly texts: Readonly<Partial<Record<TypedField, string>>>;
  /** Fields whose value is not the model's own. */
  readonly changed: readonly BudgetField[];
}

function taken(field: TypedField, params: Texts): string | undefined {
  const text = params[field];
  return text === undefined ? undefined : RULES[field].read(text);
}

/** Parameters of the URL that are figures of the cache's shape, by its form. */
export const SHAPE_FIELDS = {
  gqa: ["heads", "kv", "dim"],
  mla_expanded: ["heads", "nope", "rope", "value"],
  mla_latent: ["rank", "rope"],
} as const satisfies Readonly<Record<CacheShape["form"], readonly TypedField[]>>;

function figuresOf(shape: CacheShape): Readonly<Partial<Record<TypedField, number>>> {
  switch (shape.form) {
    case "gqa":
      return { heads: shape.heads, kv: shape.kvHeads, dim: shape.dim };
    case "mla_expanded":
      return { heads: shape.heads, nope: shape.nope, rope: shape.rope, value: shape.value };
    case "mla_latent":
      return { rank: shape.rank, rope: shape.rope };
  }
}

function shapeWith(base: CacheShape, params: Texts): CacheShape {
  const own = figuresOf(base);
  const figure = (field: TypedField): number => Number(taken(field, params) ?? own[field] ?? 0);
  switch (base.form) {
    case "gqa":
      return { form: base.form, heads: figure("heads"), kvHeads: figure("kv"), dim: figure("dim") };
    case "mla_expanded":
      return {
        form: base.form,
        heads: figure("heads"),
        nope: figure("nope"),
        rope: figure("rope"),
        value: figure("value"),
      };
    case "mla_latent":
      return { form: base.form, rank: figure("rank"), rope: figure("rope") };
  }
}

/** The dtype that the operator's cache has where none is chosen. */
function ownDtype(model: BudgetModel): KernelDtype {
  return model.operator === "gqa_decode" ? "f32" : "f16";
}

/**
 * @param reported the limit of the device in bytes, where it reports one: that of the memory it has, and of no other size
 * @param memoryBytes memory of the machine that the device is in, where it is this one
 */
export function askedOf(params: Texts, reported: number | null = null, memoryBytes: number | null = null): Asked {
  const model = budgetModel(params.model);
  const own =
    memoryBytes === null ? undefined : MEMORY_SIZES_GIB.find((size) => size === Math.round(memoryBytes / GIB));
  const chosen = MEMORY_SIZES_GIB.find((size) => String(size) === params.ram);
  const memoryGib = chosen ?? (reported === null ? undefined : own) ?? DEFAULT_MEMORY_GIB;
  const applies = chosen === undefined || chosen === own;
  const ownWeights = parametersText(model.parameters);
  const weightsText = taken("weights", params) ?? ownWeights;
  const weights = parseWeights(weightsText)!;
  const bits = Number(taken("bits", params) ?? model.bitsPerWeight);
  const layers = Number(taken("layers", params) ?? model.layers);
  const base = model.caches.find(({ form }) => form === params.cache) ?? model.caches[0]!;
  const cache = shapeWith(base, params);
  const dtype = DTYPES.find((name) => name === params.dtype) ?? ownDtype(model);
  const runtimeGib = Number(taken("runtime", params) ?? DEFAULT_RUNTIME_GIB);
  const context = Number(taken("ctx", params) ?? DEFAULT_CONTEXT);
  const given = figuresOf(base);
  const now = figuresOf(cache);
  const changed: BudgetField[] = [
    ...(weightsText === ownWeights ? [] : (["weights"] as const)),
    ...(bits === model.bitsPerWeight ? [] : (["bits"] as const)),
    ...(layers === model.layers ? [] : (["layers"] as const)),
    ...(base === model.caches[0] ? [] : (["cache"] as const)),
    ...(dtype === ownDtype(model) ? [] : (["dtype"] as const)),
    ...SHAPE_FIELDS[base.form].filter((field) => given[field] !== now[field]),
  ];
  return {
    model,
    memoryGib,
    weights,
    bits,
    form: base.form,
    question: {
      memoryBytes: memoryGib * GIB,
      limit: workingSetLimit(memoryGib * GIB, applies ? reported : null),
      weightsFrom: weights.kind,
      weightBytes: weights.kind === "bytes" ? weights.bytes : weightBytes(weights.count, bits),
      cache,
      dtype,
      layers,
      windowed: model.windowed,
      runtimeBytes: Math.round(runtimeGib * GIB),
      context,
    },
    texts: {
      weights: weightsText,
      bits: String(bits),
      layers: String(layers),
      runtime: String(runtimeGib),
      ctx: context.toLocaleString("en-US"),
      ...Object.fromEntries(Object.entries(now).map(([field, value]) => [field, String(value)])),
    },
    changed,
  };
}

/** Parameters that a new model takes away: what was typed belongs to the model before. */
export const CLEARED: Readonly<Record<string, null>> = Object.fromEntries(
  BUDGET_FIELDS.filter((field) => !["ram", "model", "runtime", "ctx"].includes(field)).map((field) => [field, null]),
);

/** The slider is logarithmic: eight steps double the context. */
export const SLIDER = { least: 8, steps: (Math.log2(MAX_CONTEXT) - 8) * 8 } as const;

export function contextOfStep(step: number): number {
  return Math.round(2 ** (SLIDER.least + step / 8));
}

/** The nearest step; a context below the slider's least is at its start. */
export function stepOfContext(context: number): number {
  const step = Math.round((Math.log2(context) - SLIDER.least) * 8);
  return Math.max(0, Math.min(SLIDER.steps, step));
}
