/**
 * Models that the memory budget begins with: what their weights and their key and value cache take. Every figure can be
 * typed over in the window. Plain data with sources; the window imports it.
 */
import type { Operator } from "../../kernels/route.ts";

/** What one token of one layer keeps. Counts of elements follow from it, `elementsPerToken` of `budget.ts`. */
export type CacheShape =
  /** Keys and values of `kvHeads` heads of width `dim`, as `gqa_decode` reads them. */
  | { readonly form: "gqa"; readonly heads: number; readonly kvHeads: number; readonly dim: number }
  /** Keys and values of every head and one shared rotary key, as `mla_prefill` reads them. */
  | {
      readonly form: "mla_expanded";
      readonly heads: number;
      readonly nope: number;
      readonly rope: number;
      readonly value: number;
    }
  /** The latent row that MLA was made for: keys and values are made from it for every use. */
  | { readonly form: "mla_latent"; readonly rank: number; readonly rope: number };

/** Layers whose cache stops growing at `tokens`. */
export interface WindowedLayers {
  readonly layers: number;
  readonly kvHeads: number;
  readonly dim: number;
  readonly tokens: number;
  readonly source: string;
}

export interface BudgetModel {
  /** In a URL. */
  readonly id: string;
  readonly label: string;
  readonly operator: Operator;
  readonly parameters: number;
  readonly parametersSource: string;
  readonly bitsPerWeight: number;
  readonly bitsSource: string;
  /** Layers whose cache grows with the context. */
  readonly layers: number;
  readonly layersSource: string;
  /** Forms of the cache, the one that the operator reads first. */
  readonly caches: readonly CacheShape[];
  readonly cacheSource: string;
  readonly windowed: WindowedLayers | null;
}

const Q4_BITS = 4.5;
const Q4_SOURCE = "32 weights of 4 bits and one f16 scale: (32 x 4 + 16) / 32";

export const BUDGET_MODELS: readonly BudgetModel[] = [
  {
    id: "gemma",
    label: "Gemma 4 31B",
    operator: "gqa_decode",
    parameters: 31e9,
    parametersSource: "the model's overview, rounded (ai.google.dev/gemma/docs/core)",
    bitsPerWeight: Q4_BITS,
    bitsSource: Q4_SOURCE,
    layers: 10,
    layersSource: "full-attention layers of 60 (vllm-project/vllm-metal pull 563)",
    caches: [{ form: "gqa", heads: 32, kvHeads: 4, dim: 512 }],
    cacheSource: "the production shape of gqa_decode, 32 / 4 / 512",
    windowed: {
      layers: 50,
      kvHeads: 16,
      dim: 256,
      tokens: 1024,
      source: "vllm-project/tpu-inference pull 3220, tenstorrent/tt-xla issue 5727",
    },
  },
  {
    id: "deepseek",
    label: "DeepSeek-V2-Lite",
    operator: "mla_prefill",
    parameters: 16e9,
    parametersSource: "the model's card, rounded: 16B in total",
    bitsPerWeight: Q4_BITS,
    bitsSource: Q4_SOURCE,
    layers: 27,
    layersSource: "num_hidden_layers of the model's config.json",
    caches: [
      { form: "mla_expanded", heads: 16, nope: 128, rope: 64, value: 128 },
      { form: "mla_latent", rank: 512, rope: 64 },
    ],
    cacheSource: "config.json of the model: 16 heads, 128 + 64 / 128, kv_lora_rank 512",
    windowed: null,
  },
];

export function budgetModel(id: string | undefined): BudgetModel {
  return BUDGET_MODELS.find((model) => model.id === id) ?? BUDGET_MODELS[0]!;
}
