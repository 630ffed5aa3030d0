/**
 * The shape of a question as texts of a form and as parameters of a URL. Pure: presets, what each field takes, the shape
 * that base and changes make together.
 */
import type { CaseShape, KernelDtype, Operator } from "../../../kernels/route.ts";

export type FieldId =
  | "heads"
  | "kv"
  | "dim"
  | "live"
  | "capacity"
  | "nope"
  | "rope"
  | "value"
  | "seqs"
  | "scale"
  | "dtype";

export interface Field {
  readonly id: FieldId;
  readonly label: string;
  readonly kind: "count" | "number" | "sequences" | "dtype";
  /** What it means, and what is accepted. */
  readonly hint: string;
}

const SCALE: Field = { id: "scale", label: "Scale", kind: "number", hint: "multiplies every score before the softmax" };
const DTYPE: Field = { id: "dtype", label: "Data type", kind: "dtype", hint: "of every input; sums are f32" };

const count = (id: FieldId, label: string, hint: string): Field => ({ id, label, kind: "count", hint });

export const FIELDS: Readonly<Record<Operator, readonly Field[]>> = {
  gqa_decode: [
    count("heads", "Heads", "query heads"),
    count("kv", "KV heads", "heads of K and V"),
    count("dim", "Head width", "elements of a row of q, k and v"),
    count("live", "Live tokens", "rows of the cache that take part"),
    count("capacity", "Capacity", "rows of the cache; follows the live tokens until it is set"),
    SCALE,
    DTYPE,
  ],
  mla_prefill: [
    count("heads", "Heads", "query heads; each has its own keys and values"),
    count("nope", "QK nope", "width of the key part without position"),
    count("rope", "QK rope", "width of the key part with position, shared by the heads"),
    count("value", "V", "width of a value row"),
    {
      id: "seqs",
      label: "Sequences",
      kind: "sequences",
      hint: "tokens of each sequence: 20 7 50; 13/77 for the last 13 of 77; 8/20@4 for 8 rows from position 4",
    },
    SCALE,
    DTYPE,
  ],
};

/** Decode takes f32 alone: f16 and bf16 caches are widened before. */
export const DTYPES: Readonly<Record<Operator, readonly KernelDtype[]>> = {
  gqa_decode: ["f32"],
  mla_prefill: ["f16", "bf16", "f32"],
};

export interface Preset {
  readonly id: string;
  readonly label: string;
  readonly shape: CaseShape;
}

const decode = (live: number): CaseShape => ({
  operator: "gqa_decode",
  heads: 32,
  kvHeads: 4,
  dim: 512,
  live,
  capacity: live + 4,
  scale: 1,
  dtype: "f32",
});

const prefill = (tokens: number, heads: number): CaseShape => ({
  operator: "mla_prefill",
  heads,
  nope: 128,
  rope: 64,
  value: 128,
  cuSeqlensQ: [0, tokens],
  cuSeqlensK: [0, tokens],
  qOffset: [0],
  scale: 1 / Math.sqrt(192),
  dtype: "f16",
});

/** The shapes that the kernels are made for. The first of an operator is where it starts. */
export const PRODUCTION: readonly Preset[] = [
  { id: "decode", label: "L 8,192, 32/4/512", shape: decode(8192) },
  { id: "decodelong", label: "L 131,072, 32/4/512", shape: decode(131_072) },
  { id: "prefill", label: "T 1,024, 16 heads, 128+64/128", shape: prefill(1024, 16) },
  { id: "prefilllong", label: "T 8,192, 16 heads, 128+64/128", shape: prefill(8192, 16) },
];

export const DEFAULT_PRESET = PRODUCTION[2]!;

export function presetOf(operator: Operator): Preset {
  return PRODUCTION.find(({ shape }) => shape.operator === operator)!;
}

export type Texts = Readonly<Partial<Record<FieldId, string>>>;

/** What a form shows of a shape; `shapeOf` makes the same shape of it again. */
export function textsOf(shape: CaseShape): Texts {
  const common = { heads: String(shape.heads), scale: String(shape.scale), dtype: shape.dtype };
  if (shape.operator === "gqa_decode") {
    const { kvHeads, dim, live, capacity } = shape;
    return { ...common, kv: String(kvHeads), dim: String(dim), live: String(live), capacity: String(capacity) };
  }
  const { nope, rope, value } = shape;
  return { ...common, nope: String(nope), rope: String(rope), value: String(value), seqs: sequencesText(shape) };
}

function sequencesText({ cuSeqlensQ, cuSeqlensK, qOffset }: Extract<CaseShape, { operator: "mla_prefill" }>): string {
  return qOffset
    .map((offset, b) => {
      const queries = cuSeqlensQ[b + 1]! - cuSeqlensQ[b]!;
      const keys = cuSeqlensK[b + 1]! - cuSeqlensK[b]!;
      if (offset !== keys - queries) return `${queries}/${keys}@${offset}`;
      return queries === keys ? `${queries}` : `${queries}/${keys}`;
    })
    .join(" ");
}

interface Sequences {
  readonly cuSeqlensQ: readonly number[];
  readonly cuSeqlensK: readonly number[];
  readonly qOffset: readonly number[];
}

/** Longest list of sequences and longest sequence that a field takes. */
const MAX_SEQUENCES = 64;
const MAX_COUNT = 2 ** 40;

function parseSequences(text: string): Sequences | undefined {
  const words = text.split(/[\s,]+/).filter(Boolean);
  if (words.length === 0 || words.length > MAX_SEQUENCES) return undefined;
  const cuSeqlensQ = [0];
  const cuSeqlensK = [0];
  const qOffset: number[] = [];
  for (const word of words) {
    const match = /^(\d{1,10})(?:\/(\d{1,10})(?:@(-?\d{1,10}))?)?$/.exec(word);
    if (match === null) return undefined;
    const queries = Number(match[1]);
    const keys = match[2] === undefined ? queries : Number(match[2]);
    cuSeqlensQ.push(cuSeqlensQ.at(-1)! + queries);
    cuSeqlensK.push(cuSeqlensK.at(-1)! + keys);
    qOffset.push(match[3] === undefined ? keys - queries : Number(match[3]));
  }
  return { cuSeqlensQ, cuSeqlensK, qOffset };
}

function parseCount(text: string): number | undefined {
  const plain = text.replaceAll(",", "").trim();
  const value = Number(plain);
  return /^\d{1,13}$/.test(plain) && value <= MAX_COUNT ? value : undefined;
}

function parseNumber(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== "" && Number.isFinite(value) ? value : undefined;
}

/** The text in the form in which a URL holds it, or what is wrong with it. */
export function readField(
  operator: Operator,
  { id, kind, label }: Field,
  text: string,
): { readonly text: string } | { readonly fault: string } {
  switch (kind) {
    case "count": {
      const value = parseCount(text);
      return value === undefined ? { fault: `${label} is a whole number, 0 or more` } : { text: String(value) };
    }
    case "number": {
      const value = parseNumber(text);
      return value === undefined ? { fault: `${label} is a finite number` } : { text: String(value) };
    }
    case "sequences":
      return parseSequences(text) === undefined
        ? { fault: "tokens of each sequence, such as 20 7 50 or 13/77" }
        : {
            text: text
              .split(/[\s,]+/)
              .filter(Boolean)
              .join(" "),
          };
    case "dtype":
      return DTYPES[operator].some((dtype) => dtype === text)
        ? { text }
        : { fault: `${id} is one of ${DTYPES[operator].join(", ")}` };
  }
}

/** Texts of the base with the changes over them. What a URL holds and no field takes is as if it were not there. */
export function mergedTexts(base: CaseShape, params: Readonly<Record<string, string>>): Texts {
  const { operator } = base;
  const merged: Partial<Record<FieldId, string>> = { ...textsOf(base) };
  for (const field of FIELDS[operator]) {
    const given = params[field.id];
    const read = given === undefined ? undefined : readField(operator, field, given);
    if (read !== undefined && "text" in read) merged[field.id] = read.text;
  }
  // Poisoned rows stay behind the live ones.
  if (base.operator === "gqa_decode" && params.capacity === undefined) {
    merged.capacity = String(Number(merged.live) + base.capacity - base.live);
  }
  return merged;
}

/** The shape that a form's texts make. */
export function shapeOf(operator: Operator, texts: Texts): CaseShape {
  const whole = (id: FieldId): number => parseCount(texts[id] ?? "") ?? 0;
  const scale = parseNumber(texts.scale ?? "") ?? 1;
  const dtype = DTYPES[operator].find((name) => name === texts.dtype) ?? DTYPES[operator][0]!;
  if (operator === "gqa_decode") {
    return {
      operator,
      heads: whole("heads"),
      kvHeads: whole("kv"),
      dim: whole("dim"),
      live: whole("live"),
      capacity: whole("capacity"),
      scale,
      dtype,
    };
  }
  const sequences = parseSequences(texts.seqs ?? "") ?? { cuSeqlensQ: [0], cuSeqlensK: [0], qOffset: [] };
  return {
    operator,
    heads: whole("heads"),
    nope: whole("nope"),
    rope: whole("rope"),
    value: whole("value"),
    ...sequences,
    scale,
    dtype,
  };
}

/** Fields whose text is not the base's. */
export function changedFields(base: CaseShape, texts: Texts): readonly FieldId[] {
  const own = mergedTexts(base, {});
  const live = texts.live !== own.live;
  return FIELDS[base.operator]
    .map(({ id }) => id)
    .filter((id) => texts[id] !== own[id])
    .filter((id) => id !== "capacity" || !live || !follows(base, texts));
}

/** Whether the capacity is only as much larger as the live length is. */
function follows(base: CaseShape, texts: Texts): boolean {
  return base.operator === "gqa_decode" && Number(texts.capacity) - Number(texts.live) === base.capacity - base.live;
}

/** One text for equal shapes. */
export function shapeKey(shape: CaseShape): string {
  return `${shape.operator} ${JSON.stringify(textsOf(shape))}`;
}
