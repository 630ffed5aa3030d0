/**
 * The suites as tables: which generated cases, which files, which chunks of a prefill. `quick` shows in seconds that the
 * line works, `standard` is what a claim needs, `full` adds the longest caches.
 */
import path from "node:path";
import type { PrefillShape } from "../../kernels/route.ts";
import { blindCases } from "./blind.ts";
import { boundarySet } from "./boundary.ts";
import { type Case, caseKey, DEFAULT_SEED, decodeShape, prefillShape } from "./case.ts";
import { casesFromFile, generated } from "./file.ts";

export const SUITES = ["quick", "standard", "full"] as const;
export type SuiteName = (typeof SUITES)[number];

/** Geometry of the Gemma 4 31B full-attention layers, whose softmax scale is 1. */
const GEMMA_DECODE = { heads: 32, kvHeads: 4, dim: 512, scale: 1 } as const;

/** Where the stored float64 outputs of the generated cases are. */
const GENERATED_REFERENCE = "gqa_decode_d512_long_f64.safetensors";

/** Generated decode cases: length -> variants. */
const QUICK_DECODE: readonly (readonly [number, readonly string[]])[] = [
  [1, ["spread"]],
  [33, ["spread"]],
  [1023, ["tail4"]],
];

const STANDARD_DECODE: readonly (readonly [number, readonly string[]])[] = [
  [1, ["spread"]],
  [2, ["spread"]],
  [31, ["spread", "spread8"]],
  [33, ["spread", "spread8"]],
  [127, ["spread", "spread8"]],
  [1023, ["spread", "spread8", "tail4"]],
  [8191, ["spread", "spread8", "tail4", "edges32"]],
  [8192, ["spread", "spread8", "mid", "peaky", "tail4", "edges32"]],
  [8193, ["spread", "spread8", "tail4", "edges32"]],
];

const FULL_DECODE: typeof STANDARD_DECODE = [
  ...STANDARD_DECODE,
  [65536, ["spread", "spread8", "peaky", "tail4", "edges32"]],
  [131072, ["spread", "spread8", "mid", "peaky", "tail4", "edges32"]],
];

interface FileChoice {
  readonly file: string;
  /** Prefixes to take; all of them where it is left out. */
  readonly only?: readonly string[];
  /** Chunked prefill cases: the last rows of q against all keys. */
  readonly chunks?: readonly number[];
}

const QUICK_FILES: readonly FileChoice[] = [
  { file: "softmax_stress.safetensors", only: ["increasing_steep", "rows_fully_masked", "v_large_cancel"] },
  { file: "attention_stress.safetensors", only: ["gqa.first_and_last", "mla.first_last"] },
  { file: "mla_prefill_t77_h4_x16.safetensors", chunks: [13] },
];

const STANDARD_FILES: readonly FileChoice[] = [
  { file: "gqa_decode_d512_L127_h32kv4_gemma4_f32.safetensors" },
  { file: "gqa_decode_d512_L1023_h8kv1_bf16.safetensors" },
  { file: "softmax_stress.safetensors" },
  { file: "attention_stress.safetensors" },
  { file: "mla_prefill_t77_h4_f32.safetensors", chunks: [1, 8, 33] },
  { file: "mla_prefill_t77_h4_x16.safetensors", chunks: [1, 13] },
  { file: "mla_prefill_ragged_h3_f32.safetensors" },
  { file: "mla_prefill_ragged_h2_x16.safetensors" },
];

interface Suite {
  readonly summary: string;
  readonly decode: typeof STANDARD_DECODE;
  readonly files: readonly FileChoice[];
  /** With prefills whose first rows see no key. */
  readonly blind: boolean;
}

const TABLE: Readonly<Record<SuiteName, Suite>> = {
  quick: { summary: "a handful of cases of every kind", decode: QUICK_DECODE, files: QUICK_FILES, blind: false },
  standard: {
    summary: "captured tensors, every generator variant up to 8,193 tokens, stress cases, chunks, rows without keys",
    decode: STANDARD_DECODE,
    files: STANDARD_FILES,
    blind: true,
  },
  full: { summary: "standard, and 65,536 and 131,072 tokens", decode: FULL_DECODE, files: STANDARD_FILES, blind: true },
};

/** One line that says what a suite holds. */
export function suiteSummary(name: SuiteName): string {
  return TABLE[name].summary;
}

export interface SuiteOptions {
  /** Folder of the golden files. */
  readonly golden: string;
  /** Seed of the generated cases; with another than the default there is no stored reference. */
  readonly seed?: number | undefined;
}

/** The cases of a suite, cheap ones first within each group. */
export function suiteCases(name: SuiteName, options: SuiteOptions): readonly Case[] {
  const suite = TABLE[name];
  const seed = options.seed ?? DEFAULT_SEED;
  const reference = seed === DEFAULT_SEED ? path.join(options.golden, GENERATED_REFERENCE) : "";
  const decode = suite.decode.flatMap(([live, variants]) =>
    variants.map((variant): Case => {
      const made = generated(decodeShape({ ...GEMMA_DECODE, live }), variant, seed);
      return { ...made, path: reference };
    }),
  );
  const files = suite.files.flatMap((choice) => fileCases(choice, options.golden));
  return [...decode, ...files, ...(suite.blind ? blindCases(seed) : [])];
}

function fileCases(choice: FileChoice, golden: string): readonly Case[] {
  const all = casesFromFile(path.join(golden, choice.file));
  const chosen = all.filter((entry) => choice.only === undefined || choice.only.includes(prefixOf(entry)));
  return chosen.flatMap((entry) => [entry, ...(choice.chunks ?? []).map((rows) => chunkCase(entry, rows))]);
}

function prefixOf(entry: Case): string {
  return entry.source.kind === "generator" ? entry.alias : entry.source.prefix;
}

/** The last `rows` query tokens of every sequence against all its keys: what a chunked prefill sees last. */
export function chunkCase(whole: Case, rows: number): Case {
  if (whole.shape.operator !== "mla_prefill" || whole.source.kind !== "tensors") {
    throw new RangeError(`${whole.key} is no prefill from tensors: only those are chunked`);
  }
  const { cuSeqlensK, heads, nope, rope, value, scale, dtype } = whole.shape;
  const shape: PrefillShape = prefillShape({
    ...{ heads, nope, rope, value, scale, dtype },
    cuSeqlens: cuSeqlensK,
    chunk: rows,
  });
  const alias = `${whole.alias}.chunk${rows}`;
  return {
    ...whole,
    key: caseKey(shape, alias.toLowerCase()),
    alias,
    shape,
    source: { ...whole.source, chunk: rows },
    boundary: boundarySet(shape.operator, shape.dtype).includes(alias),
  };
}
