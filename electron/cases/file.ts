/**
 * `--inputs FILE`: the cases of a tensor file. Every fact that a run rests on is checked here, before anything runs, and
 * errors name the file, the tensor, both sides and the mend.
 */
import path from "node:path";
import type { KernelDtype } from "../../kernels/route.ts";
import { VARIANTS } from "../../oracle/generator.ts";
import { openSafetensors, readTensor, SafetensorsError, type SafetensorsFile } from "../../oracle/safetensors.ts";
import type { FloatDtype } from "../../oracle/tensor.ts";
import { boundarySet } from "./boundary.ts";
import { type Case, caseKey, DEFAULT_SEED, decodeShape } from "./case.ts";
import { integerOf, type LayoutEntry, layoutOf, scaleOf, tensorName } from "./layout.ts";
import { floatDtype, indexWords, scanValues, shapeOf } from "./values.ts";

/** Name of a file in keys: its stem in lower case. */
export function fileStem(file: string): string {
  return path.basename(file).replace(/\.safetensors$/i, "");
}

/**
 * The cases of a file. Throws `SafetensorsError` for what is no safetensors file and for dtypes, shapes, bounds, head
 * counts and values that no run can use.
 */
export function casesFromFile(filePath: string): readonly Case[] {
  const file = openSafetensors(filePath);
  const cases = layoutOf(file).flatMap((entry) => casesOf(file, entry));
  const aliases = new Map<string, string>();
  for (const { key, alias } of cases) {
    const known = aliases.get(key);
    if (known !== undefined) {
      refuse(file, undefined, `its cases ${known} and ${alias} have one key, ${key}, which is lower case: rename one`);
    }
    aliases.set(key, alias);
  }
  return cases;
}

function casesOf(file: SafetensorsFile, entry: LayoutEntry): readonly Case[] {
  switch (entry.kind) {
    case "prefill":
      return prefillCases(file, entry);
    case "decode":
      return [decodeCase(file, entry)];
    case "scores":
      return scoresCases(file, entry);
    case "generated":
      return [generatedCase(file, entry)];
  }
}

function refuse(file: SafetensorsFile, tensor: string | undefined, message: string): never {
  throw new SafetensorsError(file.path, tensor, message);
}

function makeCase(file: SafetensorsFile, entry: LayoutEntry, shape: Case["shape"], suffix = ""): Case {
  const stem = fileStem(file.path);
  const alias = (entry.prefix === "" ? stem : `${stem}.${entry.prefix}`) + suffix;
  return {
    key: caseKey(shape, alias.toLowerCase()),
    alias,
    shape,
    source: { kind: "tensors", file: path.basename(file.path), prefix: entry.prefix },
    path: file.path,
    boundary: boundarySet(shape.operator, shape.dtype).includes(alias),
  };
}

/** q `[H, D]`, k and v `[>= live, Hk, D]`; `live` in the metadata, or all rows of k. */
function decodeCase(file: SafetensorsFile, entry: LayoutEntry): Case {
  const name = (tensor: string) => tensorName(entry.prefix, tensor);
  const [heads, dim] = shapeOf(file, name("q"), [undefined, undefined], "[query heads, dim]") as [number, number];
  const kShape = shapeOf(file, name("k"), [undefined, undefined, dim], "[tokens, KV heads, dim of q]");
  const [rows, kvHeads] = kShape as [number, number];
  shapeOf(file, name("v"), [rows, kvHeads, dim], "the shape of k");
  if (heads === 0 || kvHeads === 0 || heads % kvHeads !== 0) {
    refuse(
      file,
      name("q"),
      `has ${heads} query heads and k has ${kvHeads} KV heads, which do not divide: use a multiple of the KV heads`,
    );
  }
  for (const [key, value] of [
    ["q_heads", heads],
    ["kv_heads", kvHeads],
  ] as const) {
    const stated = entry.prefix === "" ? integerOf(file, key) : undefined;
    if (stated !== undefined && stated !== value) {
      refuse(file, undefined, `metadata "${key}" is ${stated} and the tensors have ${value}: correct one of them`);
    }
  }
  const live = (entry.prefix === "" ? integerOf(file, "live") : undefined) ?? rows;
  if (live > rows) refuse(file, name("k"), `has ${rows} rows and metadata "live" is ${live}: correct one of them`);
  if (live === 0) refuse(file, name("k"), "has no live token at all: a decode case needs at least 1");
  const facts = { x16: false };
  for (const [tensor, count, finite] of [
    ["q", heads * dim, true],
    ["k", live * kvHeads * dim, false],
    ["v", live * kvHeads * dim, true],
  ] as const) {
    floatDtype(file, name(tensor));
    const cached = tensor !== "q" && entry.prefix === "";
    scanValues(file, name(tensor), count, finite, facts, cached ? 'correct it, or lower "live"' : undefined);
  }
  checkStored(file, entry, [heads, dim]);
  return makeCase(file, entry, decodeShape({ heads, kvHeads, dim, live, scale: scaleOf(file, entry) }));
}

/** A stored float64 output must be one, have the shape of the output and hold numbers. */
function checkStored(file: SafetensorsFile, entry: LayoutEntry, shape: readonly number[]): void {
  const format = file.entries.get(tensorName(entry.prefix, "out_f64"))?.format;
  if (format !== undefined && format !== "F64") {
    refuse(
      file,
      tensorName(entry.prefix, "out_f64"),
      `is ${format.toLowerCase()} and must be f64: convert it, or rename it`,
    );
  }
  const name = storedName(file, entry.prefix);
  if (name === undefined) return;
  shapeOf(file, name, shape, "the shape of the output");
  const values = readTensor(file, name, { dtypes: ["f64"] }).data;
  const wrong = values.findIndex((value) => !Number.isFinite(value));
  if (wrong >= 0) {
    refuse(file, name, `holds ${values[wrong]} at ${indexWords(shape, wrong)}; outputs are finite: correct it`);
  }
}

/** Name of the stored float64 output of a case, if the file has one. */
export function storedName(file: SafetensorsFile, prefix: string): string | undefined {
  const candidates = prefix === "" ? ["out_f64"] : [`${prefix}.out_f64`, `${prefix}.out`];
  return candidates.find((name) => file.entries.get(name)?.format === "F64");
}

const PREFILL_DTYPES: readonly KernelDtype[] = ["f32", "f16", "bf16"];

/** Single, ragged and chunked prefill. Files that are exact in f16, bf16 and f32 give one case per dtype. */
function prefillCases(file: SafetensorsFile, entry: LayoutEntry): readonly Case[] {
  const name = (tensor: string) => tensorName(entry.prefix, tensor);
  const any = undefined;
  const [queries, heads, nope] = shapeOf(file, name("q_nope"), [any, any, any], "[query tokens, heads, width]") as [
    number,
    number,
    number,
  ];
  const [, , rope] = shapeOf(file, name("q_rope"), [queries, heads, any], "[query tokens, heads, rope width]") as [
    number,
    number,
    number,
  ];
  const [keys] = shapeOf(file, name("k_nope"), [any, heads, nope], "[keys, heads and width of q_nope]") as [number];
  shapeOf(file, name("k_rope"), [keys, rope], "[keys, rope width], one head shared by all");
  const [, , value] = shapeOf(file, name("v"), [keys, heads, any], "[keys, heads, value width]") as [
    number,
    number,
    number,
  ];
  if (queries === 0 || heads === 0) refuse(file, name("q_nope"), "has no token or no head at all: give at least 1");

  const bounds = sequenceBounds(file, entry, queries, keys);
  const counts = { q_nope: queries * heads * nope, q_rope: queries * heads * rope, k_rope: keys * rope };
  const facts = { x16: true };
  const dtypes = new Set<FloatDtype>();
  for (const [tensor, count, finite] of [
    ["q_nope", counts.q_nope, true],
    ["q_rope", counts.q_rope, true],
    ["k_nope", keys * heads * nope, false],
    ["k_rope", counts.k_rope, false],
    ["v", keys * heads * value, true],
  ] as const) {
    dtypes.add(floatDtype(file, name(tensor)));
    if (dtypes.size > 1) {
      refuse(file, name(tensor), `is ${[...dtypes].at(-1)} and q_nope is ${[...dtypes][0]}: store all in one dtype`);
    }
    scanValues(file, name(tensor), count, finite, facts);
  }
  checkStored(file, entry, [queries, heads, value]);
  const scale = scaleOf(file, entry);
  const stored = [...dtypes][0]!;
  return (facts.x16 ? PREFILL_DTYPES : [stored]).map((dtype) =>
    makeCase(file, entry, { operator: "mla_prefill", heads, nope, rope, value, ...bounds, scale, dtype }),
  );
}

const OWN_KEY = "every query token needs its own key";

interface SequenceBounds {
  readonly cuSeqlensQ: readonly number[];
  readonly cuSeqlensK: readonly number[];
  readonly qOffset: readonly number[];
}

function sequenceBounds(file: SafetensorsFile, entry: LayoutEntry, queries: number, keys: number): SequenceBounds {
  const name = (tensor: string) => tensorName(entry.prefix, tensor);
  const has = (tensor: string) => file.entries.has(name(tensor));
  const integers = (tensor: string) => [
    ...readTensor(file, name(tensor), { dtypes: ["i32"], shape: [undefined] }).data,
  ];
  if (has("cu_seqlens_q") !== has("cu_seqlens_k")) {
    const missing = has("cu_seqlens_q") ? "cu_seqlens_k" : "cu_seqlens_q";
    refuse(file, name(missing), "is missing beside its partner: a chunked prefill needs both");
  }
  const chunked = has("cu_seqlens_q");
  const plain = () => (has("cu_seqlens") ? integers("cu_seqlens") : [0, queries]);
  const cuSeqlensQ = chunked ? integers("cu_seqlens_q") : plain();
  const cuSeqlensK = chunked ? integers("cu_seqlens_k") : cuSeqlensQ;
  checkBounds(file, name(chunked ? "cu_seqlens_q" : "cu_seqlens"), cuSeqlensQ, queries, "query tokens");
  checkBounds(file, name(chunked ? "cu_seqlens_k" : "cu_seqlens"), cuSeqlensK, keys, "keys");
  if (cuSeqlensQ.length !== cuSeqlensK.length) {
    refuse(
      file,
      name("cu_seqlens_k"),
      `has ${cuSeqlensK.length} entries and cu_seqlens_q has ${cuSeqlensQ.length}: both need one a sequence and one more`,
    );
  }
  const sequences = cuSeqlensQ.length - 1;
  const lengths = Array.from({ length: sequences }, (_, b) => ({
    queries: cuSeqlensQ[b + 1]! - cuSeqlensQ[b]!,
    keys: cuSeqlensK[b + 1]! - cuSeqlensK[b]!,
  }));
  const qOffset = has("q_offset") ? integers("q_offset") : lengths.map((length) => length.keys - length.queries);
  if (qOffset.length !== sequences) {
    refuse(file, name("q_offset"), `has ${qOffset.length} entries and there are ${sequences} sequences: give one each`);
  }
  for (const [b, length] of lengths.entries()) {
    const offset = qOffset[b]!;
    if (offset < 0 || offset + length.queries > length.keys) {
      refuse(
        file,
        name(has("q_offset") ? "q_offset" : "cu_seqlens_k"),
        has("q_offset")
          ? `sequence ${b} has ${length.queries} query tokens from position ${offset} on and ${length.keys} keys: ${OWN_KEY}`
          : `sequence ${b} has ${length.queries} query tokens and ${length.keys} keys: ${OWN_KEY}`,
      );
    }
  }
  return { cuSeqlensQ, cuSeqlensK, qOffset };
}

function checkBounds(file: SafetensorsFile, name: string, bounds: readonly number[], rows: number, what: string): void {
  if (bounds.length < 2) refuse(file, name, `has ${bounds.length} entries; B sequences need B + 1, so at least 2`);
  if (bounds[0] !== 0) refuse(file, name, `starts at ${bounds[0]} and must start at 0`);
  for (let b = 1; b < bounds.length; b++) {
    if (bounds[b]! < bounds[b - 1]!) {
      refuse(file, name, `decreases from ${bounds[b - 1]} to ${bounds[b]} at entry ${b}: bounds never decrease`);
    }
  }
  if (bounds.at(-1) !== rows)
    refuse(file, name, `ends at ${bounds.at(-1)} and there are ${rows} ${what}: they must agree`);
}

/** Width of the head that scores are wrapped in. */
const SCORE_DIM = 32;

/**
 * Softmax rows as decode: every row is a query head with its own KV head, its score in one key dimension, 1 in that query
 * dimension, scale 1. Rows that differ in live length are a case each; a row may have no live token at all.
 */
function scoresCases(file: SafetensorsFile, entry: LayoutEntry): readonly Case[] {
  const name = (tensor: string) => tensorName(entry.prefix, tensor);
  const [rows, tokens] = shapeOf(file, name("scores"), [undefined, undefined], "[rows, tokens]") as [number, number];
  shapeOf(file, name("v"), [tokens, SCORE_DIM], `[tokens of scores, ${SCORE_DIM}]`);
  scanValues(file, name("v"), tokens * SCORE_DIM, true, { x16: false });
  checkStored(file, entry, [rows, SCORE_DIM]);
  const scale = 1;
  const lives = file.entries.has(name("live"))
    ? [...readTensor(file, name("live"), { dtypes: ["i32"], shape: [rows] }).data]
    : undefined;
  const scores = readTensor(file, name("scores"), { dtypes: ["f32"] }).data;
  for (let row = 0; row < rows; row++) {
    const live = lives?.[row] ?? tokens;
    if (live < 0 || live > tokens) refuse(file, name("live"), `row ${row} has ${live} live tokens of ${tokens}`);
    for (let t = 0; t < live; t++) {
      if (Number.isNaN(scores[row * tokens + t])) {
        refuse(
          file,
          name("scores"),
          `holds NaN at [${row}, ${t}], inside the live range: ${lives === undefined ? "correct it" : 'correct it, or lower "live"'}`,
        );
      }
    }
  }
  const base = { dim: SCORE_DIM, scale };
  if (lives === undefined) {
    const shape = decodeShape({ ...base, heads: rows, kvHeads: rows, live: tokens });
    const made = makeCase(file, entry, shape);
    return [{ ...made, source: { kind: "scores", file: path.basename(file.path), prefix: entry.prefix } }];
  }
  return lives.map((live, row): Case => {
    const made = makeCase(file, entry, decodeShape({ ...base, heads: 1, kvHeads: 1, live }), `.row${row}`);
    return { ...made, source: { kind: "scores", file: path.basename(file.path), prefix: entry.prefix, row } };
  });
}

/** `L8192.tail4` of a file that names generator, seed and variants. */
function generatedCase(file: SafetensorsFile, entry: LayoutEntry): Case {
  const match = /^L(\d+)\.([a-z0-9]+)$/.exec(entry.prefix);
  const seed = integerOf(file, "seed");
  const heads = integerOf(file, "q_heads");
  const kvHeads = integerOf(file, "kv_heads");
  const dim = integerOf(file, "dim");
  if (match === null || seed === undefined || heads === undefined || kvHeads === undefined || dim === undefined) {
    refuse(
      file,
      undefined,
      `case "${entry.prefix}" needs L<length>.<variant> and metadata seed, q_heads, kv_heads and dim`,
    );
  }
  const variant = match[2]!;
  if (!Object.hasOwn(VARIANTS, variant)) {
    refuse(file, undefined, `variant "${variant}" is unknown; known are ${Object.keys(VARIANTS).join(", ")}`);
  }
  const live = Number(match[1]);
  if (live === 0) refuse(file, undefined, `case "${entry.prefix}" has no token at all: a decode case needs at least 1`);
  const shape = decodeShape({ heads, kvHeads, dim, live, scale: scaleOf(file, entry) });
  return { ...generated(shape, variant, seed), path: file.path };
}

/** A generated decode case. */
export function generated(
  shape: Extract<Case["shape"], { operator: "gqa_decode" }>,
  variant: string,
  seed: number,
): Case {
  const alias = `L${shape.live}.${variant}`;
  const origin = seed === DEFAULT_SEED ? variant : `${variant}-seed${seed.toString(16)}`;
  return {
    key: caseKey(shape, origin),
    alias,
    shape,
    source: { kind: "generator", generator: "lockstep.fmix32/1", seed, variant },
    path: "",
    boundary: boundarySet(shape.operator, shape.dtype).includes(alias),
  };
}
