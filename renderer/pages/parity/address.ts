/** Addresses of output elements, measures and their words. Pure. */
import type { CaseRecord } from "../../state/run_model.ts";

type Shape = CaseRecord["shape"];

export const MEASURES = ["abs", "relative", "ulp", "signed"] as const;
export type Measure = (typeof MEASURES)[number];

export const MEASURE_WORDS: Readonly<Record<Measure, { readonly short: string; readonly axis: string }>> = {
  abs: { short: "abs", axis: "|error|" },
  relative: { short: "rel", axis: "|error| / |oracle|" },
  ulp: { short: "ULP", axis: "ULP distance" },
  signed: { short: "±", axis: "error, output minus oracle" },
};

/** Sizes of an output: tokens x heads x width, row-major. */
export interface Extents {
  readonly tokens: number;
  readonly heads: number;
  readonly width: number;
}

export interface Address {
  readonly token: number;
  readonly head: number;
  readonly dim: number;
}

/** One query token for decode. */
export function extentsOf(shape: Shape): Extents {
  if (shape.operator === "gqa_decode") return { tokens: 1, heads: shape.heads, width: shape.dim };
  return { tokens: shape.cuSeqlensQ.at(-1) ?? 0, heads: shape.heads, width: shape.value };
}

export function addressOf({ heads, width }: Extents, index: number): Address {
  const row = Math.floor(index / width);
  return { token: Math.floor(row / heads), head: row % heads, dim: index % width };
}

/** `h 11, d 77` of a decode, `h 11, q 833, d 77` of a prefill. */
export function addressText({ tokens }: Extents, { token, head, dim }: Address): string {
  return tokens === 1 ? `h ${head}, d ${dim}` : `h ${head}, q ${token}, d ${dim}`;
}

/**
 * The element that a text names: its index (`5,932` or `5932`), or head, query and dimension (`h11 d77`, `h=1,q=83,d=7`);
 * what is not named is 0. Undefined where it names none of this output.
 */
export function parseElement({ tokens, heads, width }: Extents, text: string): number | undefined {
  const plain = text.trim().toLowerCase();
  if (/^[\d,]+$/.test(plain)) {
    const index = Number(plain.replaceAll(",", ""));
    return index < tokens * heads * width ? index : undefined;
  }
  const named = new Map<string, number>();
  const rest = plain.replace(/\b([hqtd])[a-z]*\s*=?\s*(\d+)/g, (_, name: string, value: string) => {
    named.set(name === "t" ? "q" : name, Number(value));
    return "";
  });
  if (named.size === 0 || /[^\s,;]/.test(rest)) return undefined;
  const [head, token, dim] = [named.get("h") ?? 0, named.get("q") ?? 0, named.get("d") ?? 0];
  if (head >= heads || token >= tokens || dim >= width) return undefined;
  return (token * heads + head) * width + dim;
}

export type ColumnAxis = "token" | "dim";

/** The axis that position means: the query token of a prefill, the output dimension of a decode. */
export function positionAxis(shape: Shape): ColumnAxis {
  return shape.operator === "mla_prefill" ? "token" : "dim";
}

/** `0.41`, `20.1`: how often a limit holds an error. */
export function ratioText(value: number, limit: number): string {
  const ratio = value / limit;
  if (!Number.isFinite(ratio)) return "not finite";
  return ratio >= 1000 ? ratio.toExponential(1) : ratio >= 10 ? ratio.toFixed(1) : ratio.toFixed(2);
}
