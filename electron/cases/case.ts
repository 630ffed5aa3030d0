/** A case: operator, shape, dtype and where its inputs come from, under a key that two runs can be compared by. */
import { createHash } from "node:crypto";
import type { CaseShape, DecodeShape, KernelDtype, PrefillShape } from "../../kernels/route.ts";
import type { CaseSource } from "../runs/record.ts";

export interface Case {
  /** For example `gqa_decode/h32kv4d512/L8192/tail4/f32`. */
  readonly key: string;
  /** Name that outputs computed elsewhere are filed under: `L8192.tail4`, `mla_prefill_t77_h4_f32`. */
  readonly alias: string;
  readonly shape: CaseShape;
  readonly source: CaseSource;
  /** Absolute path of the file behind `source`; empty for generated cases. */
  readonly path: string;
  readonly boundary: boolean;
}

/** Rows of a decode cache beyond the live ones. They hold NaN, so that reading one shows. */
const POISONED_ROWS = 4;

/** Seed of the generated golden cases. */
export const DEFAULT_SEED = 0x5eed0001;

/** Geometry part of a key. */
function geometryKey(shape: CaseShape): string {
  return shape.operator === "gqa_decode"
    ? `h${shape.heads}kv${shape.kvHeads}d${shape.dim}`
    : `h${shape.heads}n${shape.nope}r${shape.rope}v${shape.value}`;
}

/** Length part of a key: live tokens, or query tokens and, where they differ, keys. */
export function lengthKey(shape: CaseShape): string {
  if (shape.operator === "gqa_decode") return `L${shape.live}`;
  const queries = shape.cuSeqlensQ.at(-1) ?? 0;
  const keys = shape.cuSeqlensK.at(-1) ?? 0;
  return queries === keys ? `T${queries}` : `T${queries}of${keys}`;
}

/** The whole key. `origin` names the inputs: a variant, or the stem of a file. */
export function caseKey(shape: CaseShape, origin: string): string {
  return `${shape.operator}/${geometryKey(shape)}/${lengthKey(shape)}/${origin}/${shape.dtype}`;
}

/**
 * The key as one path segment of a bundle: lower case, other characters than letters, digits, `.`, `_` and `-` replaced.
 * Long keys (files with long names) keep their beginning and end. Where that loses something, a digest of the key follows,
 * so that two keys never share a folder.
 */
export function caseSlug(key: string): string {
  // Keys have upper case in their length alone: nothing is lost by lower case.
  const flat = key.toLowerCase().replaceAll("/", ".");
  const slug = flat.replace(/[^a-z0-9._-]/g, "-");
  // A name with a slash of its own would meet one with a dot.
  const whole = slug === flat && key.split("/").length <= KEY_PARTS && /^[a-z0-9]/.test(slug);
  if (whole && slug.length <= SLUG_LENGTH) return slug;
  const tag = createHash("sha256").update(key).digest("hex").slice(0, 10);
  const start = slug.replace(/^[^a-z0-9]+/, "");
  const short = start.length <= SLUG_LENGTH - 12 ? start : `${start.slice(0, 38)}--${start.slice(-38)}`;
  return `${short}--${tag}`.replace(/^-+/, "");
}

/** Operator, geometry, length, origin, dtype. */
const KEY_PARTS = 5;

const SLUG_LENGTH = 90;

/** Output rows, elements a row and heads, for comparison. Rows are `token * heads + head`. */
export function outputLayout(shape: CaseShape): {
  readonly rows: number;
  readonly width: number;
  readonly heads: number;
  readonly rowLabel: (row: number) => string;
} {
  const { heads } = shape;
  if (shape.operator === "gqa_decode") {
    return { rows: heads, width: shape.dim, heads, rowLabel: (row) => `head ${row}` };
  }
  return {
    rows: (shape.cuSeqlensQ.at(-1) ?? 0) * heads,
    width: shape.value,
    heads,
    rowLabel: (row) => `token ${Math.floor(row / heads)} head ${row % heads}`,
  };
}

/** A decode shape with its poisoned rows. K and V are f32: f16 and bf16 files are widened exactly. */
export function decodeShape(parts: Pick<DecodeShape, "heads" | "kvHeads" | "dim" | "live" | "scale">): DecodeShape {
  return { operator: "gqa_decode", ...parts, capacity: parts.live + POISONED_ROWS, dtype: "f32" };
}

/** A prefill shape whose queries are all tokens of every sequence, unless `chunk` keeps only the last rows. */
export function prefillShape(
  parts: Pick<PrefillShape, "heads" | "nope" | "rope" | "value" | "scale"> & {
    readonly cuSeqlens: readonly number[];
    readonly dtype: KernelDtype;
    readonly chunk?: number | undefined;
  },
): PrefillShape {
  const { cuSeqlens, chunk, ...rest } = parts;
  const cuSeqlensQ = [0];
  const qOffset: number[] = [];
  for (let b = 0; b + 1 < cuSeqlens.length; b++) {
    const keys = cuSeqlens[b + 1]! - cuSeqlens[b]!;
    const queries = chunk === undefined ? keys : Math.min(chunk, keys);
    cuSeqlensQ.push(cuSeqlensQ[b]! + queries);
    qOffset.push(keys - queries);
  }
  return { operator: "mla_prefill", ...rest, cuSeqlensQ, cuSeqlensK: cuSeqlens, qOffset };
}
