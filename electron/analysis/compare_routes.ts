/** Two routes on the same case: which elements differ, by how much, and which of the two is closer to the oracle. */
import { ulpDistance } from "../../oracle/metrics.ts";
import type { FloatDtype } from "../../oracle/tensor.ts";
import type { OutputExtents } from "./layout.ts";

/** One side: output values, exact in the dtype, and the verdict of its gates. */
export interface RouteSide {
  readonly route: string;
  readonly output: ArrayLike<number>;
  readonly verdict: "pass" | "fail" | "not_run";
}

/**
 * `identical`: equal values everywhere, NaN included. `within_gates`: they differ and both passed. `a_wrong`, `b_wrong`:
 * the other one passed. `both_wrong`: neither passed.
 */
export type CompareWord = "identical" | "within_gates" | "a_wrong" | "b_wrong" | "both_wrong";

export interface HeadDifference {
  readonly label: string;
  readonly differing: number;
  /** Largest |a - b| where both are finite. */
  readonly maxAbs: number;
}

export interface RouteComparison {
  readonly word: CompareWord;
  /** The word in a sentence with its figures. */
  readonly sentence: string;
  readonly elements: number;
  readonly differing: number;
  /** Elements where one side alone is NaN or infinite, or they are not finite in different ways. */
  readonly notFinite: number;
  readonly firstDiffering: number | null;
  /** Largest |a - b| where both are finite, and its flat index; null where nothing finite differs. */
  readonly maxAbs: number;
  readonly maxAbsAt: number | null;
  readonly maxUlp: number;
  /** Elements whose error against the oracle is smaller for a, smaller for b, equal. NaN is never smaller. */
  readonly aCloser: number;
  readonly bCloser: number;
  readonly equallyClose: number;
  readonly heads: readonly HeadDifference[];
  /** a - b of every element; NaN where either is not finite. */
  readonly difference: Float64Array;
}

/** Throws RangeError where the sides or the reference differ in size. */
export function compareRoutes(
  a: RouteSide,
  b: RouteSide,
  reference: ArrayLike<number>,
  extents: OutputExtents,
  dtype: FloatDtype,
): RouteComparison {
  const elements = reference.length;
  for (const side of [a, b]) {
    if (side.output.length !== elements) {
      throw new RangeError(
        `${side.route} has ${side.output.length} elements and the oracle ${elements}: compare outputs of one case`,
      );
    }
  }
  const heads = Array.from({ length: extents.heads }, (_, head) => ({
    label: `head ${head}`,
    differing: 0,
    maxAbs: 0,
  }));
  const difference = new Float64Array(elements);
  let [differing, notFinite, maxAbs, maxUlp, aCloser, bCloser] = [0, 0, 0, 0, 0, 0];
  let firstDiffering: number | null = null;
  let maxAbsAt: number | null = null;
  for (let i = 0; i < elements; i++) {
    const x = a.output[i]!;
    const y = b.output[i]!;
    const [errorA, errorB] = [Math.abs(x - reference[i]!), Math.abs(y - reference[i]!)];
    if (errorA < errorB || (Number.isNaN(errorB) && !Number.isNaN(errorA))) aCloser++;
    else if (errorB < errorA || (Number.isNaN(errorA) && !Number.isNaN(errorB))) bCloser++;
    const finite = Number.isFinite(x) && Number.isFinite(y);
    difference[i] = finite ? x - y : Number.NaN;
    if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue;
    differing++;
    firstDiffering ??= i;
    const head = heads[Math.floor(i / extents.width) % extents.heads]!;
    head.differing++;
    if (!finite) {
      notFinite++;
      continue;
    }
    const size = Math.abs(x - y);
    if (maxAbsAt === null || size > maxAbs) {
      maxAbs = size;
      maxAbsAt = i;
    }
    head.maxAbs = Math.max(head.maxAbs, size);
    maxUlp = Math.max(maxUlp, ulpDistance(x, y, dtype));
  }
  const counts = { elements, differing, notFinite, maxAbs, maxUlp };
  const word = wordOf(a, b, differing);
  return {
    word,
    sentence: sentenceOf(word, a, b, counts),
    ...counts,
    firstDiffering,
    maxAbsAt,
    aCloser,
    bCloser,
    equallyClose: elements - aCloser - bCloser,
    heads,
    difference,
  };
}

/** The gates decide who is wrong; this module has no limits of its own. */
function wordOf(a: RouteSide, b: RouteSide, differing: number): CompareWord {
  if (differing === 0) return "identical";
  const [passA, passB] = [a.verdict === "pass", b.verdict === "pass"];
  if (passA && passB) return "within_gates";
  if (passA) return "b_wrong";
  return passB ? "a_wrong" : "both_wrong";
}

function sentenceOf(
  word: CompareWord,
  a: RouteSide,
  b: RouteSide,
  counts: Pick<RouteComparison, "elements" | "differing" | "notFinite" | "maxAbs" | "maxUlp">,
): string {
  const { elements, differing, notFinite, maxAbs, maxUlp } = counts;
  const count = (value: number): string => value.toLocaleString("en-US");
  if (word === "identical") return `${a.route} and ${b.route} are equal in all ${count(elements)} elements`;
  const size =
    differing === notFinite
      ? ""
      : `, by ${maxAbs.toExponential(2)} or ${count(maxUlp)} ULP at most where both are finite`;
  const odd = notFinite === 0 ? "" : `; in ${count(notFinite)} of them one is not finite`;
  const where = `${a.route} and ${b.route} differ in ${count(differing)} of ${count(elements)} elements${size}${odd}`;
  const failed = (side: RouteSide): string => `${side.route} ${side.verdict === "fail" ? "failed" : "did not pass"}`;
  switch (word) {
    case "within_gates":
      return `${where}. Both passed their gates`;
    case "a_wrong":
      return `${where}. ${failed(a)}, ${b.route} passed`;
    case "b_wrong":
      return `${where}. ${failed(b)}, ${a.route} passed`;
    case "both_wrong":
      return `${where}. Neither passed its gates`;
  }
}
