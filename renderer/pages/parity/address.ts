/** Addresses of output elements as text, measures and their words. Pure. */
import {
  type Address,
  addressOf,
  elementsOf,
  extentsOf,
  indexOf,
  type OutputExtents,
  positionAxis,
} from "../../../electron/analysis/layout.ts";
import { MEASURES, type Measure } from "../../../electron/analysis/messages.ts";

export { type Address, addressOf, elementsOf, extentsOf, MEASURES, type Measure, type OutputExtents, positionAxis };

export const MEASURE_WORDS: Readonly<Record<Measure, { readonly short: string; readonly axis: string }>> = {
  abs: { short: "abs", axis: "|error|" },
  relative: { short: "rel", axis: "|error| / |oracle|" },
  ulp: { short: "ULP", axis: "ULP distance" },
  signed: { short: "±", axis: "error, output minus oracle" },
};

/** `h 11, d 77` of a decode, `h 11, q 833, d 77` of a prefill. */
export function addressText({ tokens }: OutputExtents, { token, head, dim }: Address): string {
  return tokens === 1 ? `h ${head}, d ${dim}` : `h ${head}, q ${token}, d ${dim}`;
}

/**
 * The element that a text names: its index (`5,932` or `5932`), or head, query and dimension (`h11 d77`, `h=1,q=83,d=7`);
 * what is not named is 0. Undefined where it names none of this output.
 */
export function parseElement(extents: OutputExtents, text: string): number | undefined {
  const plain = text.trim().toLowerCase();
  if (/^[\d,]+$/.test(plain)) {
    const index = Number(plain.replaceAll(",", ""));
    return index < elementsOf(extents) ? index : undefined;
  }
  const named = new Map<string, number>();
  const rest = plain.replace(/\b([hqtd])[a-z]*\s*=?\s*(\d+)/g, (_, name: string, value: string) => {
    named.set(name === "t" ? "q" : name, Number(value));
    return "";
  });
  if (named.size === 0 || /[^\s,;]/.test(rest)) return undefined;
  const [head, token, dim] = [named.get("h") ?? 0, named.get("q") ?? 0, named.get("d") ?? 0];
  if (head >= extents.heads || token >= extents.tokens || dim >= extents.width) return undefined;
  return indexOf(extents, { token, head, dim });
}

/** What may run across a chart. */
export type ColumnAxis = "token" | "dim";

/** `0.41`, `20.1`: how often a limit holds an error. */
export function ratioText(value: number, limit: number): string {
  const ratio = value / limit;
  if (!Number.isFinite(ratio)) return "not finite";
  if (ratio >= 1e6) return ratio.toExponential(1);
  if (ratio >= 1000) return Number(ratio.toPrecision(3)).toLocaleString("en-US");
  return ratio >= 10 ? ratio.toFixed(1) : ratio.toFixed(2);
}
