/**
 * The counter-based generator: every element is a function of seed, tensor and index, in 32-bit integers only, so any
 * slice can be made anywhere. Definition and test vectors: `test/golden/README.md`.
 */

/** The two keys of one tensor's stream. */
export interface Stream {
  readonly k1: number;
  readonly k2: number;
}

/** Tensor numbers. Decode uses q, k, v; a generated prefill adds the rope parts. */
export const TENSOR_IDS = { q: 0, k: 1, v: 2, qRope: 3, kRope: 4 } as const;

function fmix32(x: number): number {
  x ^= x >>> 16;
  x = Math.imul(x, 0x7feb352d);
  x ^= x >>> 15;
  x = Math.imul(x, 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** The stream of tensor number `tensor` under `seed`, both unsigned 32-bit. */
export function stream(seed: number, tensor: number): Stream {
  const k1 = fmix32((seed + Math.imul(0x9e3779b9, 2 * tensor + 1)) | 0);
  return { k1, k2: fmix32(k1 ^ 0x85ebca6b) };
}

/** Element `index` of the stream as an unsigned 32-bit number. */
export function raw(keys: Stream, index: number): number {
  return fmix32(fmix32((index + keys.k1) | 0) ^ keys.k2);
}

/** A raw number as a multiple of 2^-23 in [-1, 1): exact in f32. */
export function u24(value: number): number {
  return ((value >>> 8) - 2 ** 23) / 2 ** 23;
}

/** A raw number as a multiple of 2^-7 in [-1, 1): exact in f32, f16 and bf16. */
export function u8(value: number): number {
  return ((value >>> 24) - 128) / 128;
}

/** A slice of a stream, times a power of two. The same fields as the native generator's options. */
export interface SliceOptions {
  readonly seed: number;
  readonly tensor: number;
  readonly bits: 8 | 24;
  readonly multiplier: number;
  readonly start: number;
  readonly count: number;
}

/** Elements [start, start + count) of a stream, exact in f32. */
export function generateSlice(options: SliceOptions): Float32Array {
  const keys = stream(options.seed, options.tensor);
  const convert = options.bits === 24 ? u24 : u8;
  const out = new Float32Array(options.count);
  for (let i = 0; i < options.count; i++) out[i] = convert(raw(keys, options.start + i)) * options.multiplier;
  return out;
}

/** How a variant changes K after generation. */
export type KeyEditRule = "none" | "tail" | "head" | "edges32";

export interface Variant {
  readonly bits: 8 | 24;
  /** Applies to q alone; a power of two, so that q stays exact. */
  readonly qMultiplier: number;
  readonly edit: KeyEditRule;
  readonly character: string;
}

/** The decode variants of the golden set: which softmax each makes and which mistake it shows. */
export const VARIANTS = {
  spread: { bits: 24, qMultiplier: 2 ** -3, edit: "none", character: "flat: about 0.42 L tokens take part" },
  mid: { bits: 24, qMultiplier: 2 ** -2, edit: "none", character: "about 0.05 L tokens take part" },
  peaky: { bits: 24, qMultiplier: 1, edit: "none", character: "one to three tokens carry the result" },
  tail4: { bits: 24, qMultiplier: 2 ** -3, edit: "tail", character: "the last token is heavy in one head of a group" },
  head4: { bits: 24, qMultiplier: 2 ** -3, edit: "head", character: "the first token is heavy in one head of a group" },
  edges32: {
    bits: 24,
    qMultiplier: 2 ** -3,
    edit: "edges32",
    character: "first and last row of each of 32 partitions are heavy in one head of a group",
  },
  spread8: { bits: 8, qMultiplier: 2 ** -3, edit: "none", character: "as spread; exact in f16 and bf16" },
} as const satisfies Readonly<Record<string, Variant>>;

export type VariantName = keyof typeof VARIANTS;

/** One edit: `K[row, h, :] = 4 * q[h * heads / kvHeads + queryInGroup, :]` for every KV head h. */
export interface KeyEdit {
  readonly row: number;
  readonly queryInGroup: number;
}

/** Factor from the query to the key that replaces a row. */
const KEY_EDIT_FACTOR = 4;

/** The rows of K that `rule` replaces at `live` tokens, with `group` = heads / kvHeads. */
export function keyEdits(rule: KeyEditRule, live: number, group: number): readonly KeyEdit[] {
  if (live === 0) return [];
  switch (rule) {
    case "none":
      return [];
    case "tail":
      return [{ row: live - 1, queryInGroup: 0 }];
    case "head":
      return [{ row: 0, queryInGroup: 0 }];
    case "edges32": {
      const size = Math.ceil(live / 32);
      const edits: KeyEdit[] = [];
      for (let p = 0; p * size < live; p++) {
        const queryInGroup = p % group;
        edits.push({ row: p * size, queryInGroup });
        edits.push({ row: Math.min(live, (p + 1) * size) - 1, queryInGroup });
      }
      return edits;
    }
  }
}

/** The key row, one KV head after the other, that an edit writes: `[kvHeads, dim]`. */
export function editedKeyRow(edit: KeyEdit, q: Float32Array, heads: number, kvHeads: number, dim: number) {
  const row = new Float32Array(kvHeads * dim);
  const group = heads / kvHeads;
  for (let h = 0; h < kvHeads; h++) {
    const from = (h * group + edit.queryInGroup) * dim;
    for (let d = 0; d < dim; d++) row[h * dim + d] = KEY_EDIT_FACTOR * q[from + d]!;
  }
  return row;
}

export interface GeneratedDecodeOptions {
  readonly seed: number;
  readonly variant: VariantName;
  readonly heads: number;
  readonly kvHeads: number;
  readonly dim: number;
  readonly live: number;
}

/** q `[heads, dim]`, k and v `[live, kvHeads, dim]` of a generated decode case. */
export interface GeneratedDecode {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
}

/** Inputs of a generated decode case. For long lengths use the native generator: this one makes 10^8 values in seconds. */
export function generateDecode(options: GeneratedDecodeOptions): GeneratedDecode {
  const { seed, heads, kvHeads, dim, live } = options;
  const variant: Variant = VARIANTS[options.variant];
  const slice = (tensor: number, multiplier: number, count: number) =>
    generateSlice({ seed, tensor, bits: variant.bits, multiplier, start: 0, count });
  const q = slice(TENSOR_IDS.q, variant.qMultiplier, heads * dim);
  const k = slice(TENSOR_IDS.k, 1, live * kvHeads * dim);
  const v = slice(TENSOR_IDS.v, 1, live * kvHeads * dim);
  for (const edit of keyEdits(variant.edit, live, heads / kvHeads)) {
    k.set(editedKeyRow(edit, q, heads, kvHeads, dim), edit.row * kvHeads * dim);
  }
  return { q, k, v };
}
