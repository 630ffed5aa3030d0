/**
 * What an error looks like, in one sentence: what a known mistake would have given is compared with what the kernel gave, at
 * this element and at others of its row; and where the wrong elements of the whole output lie. It is a hint, not a proof:
 * only what explains every probed element is named, and where nothing does the sentence says so. Pure.
 */
import type { FloatDtype } from "../../oracle/tensor.ts";
import { type Column, type Hypothesis, hypotheses, plainSoftmax, type RowScores } from "./hypotheses.ts";
import type { WrongPlaces } from "./where_wrong.ts";

/** An element of the row at hand: what came out, what should have, and its column of v. */
export interface Probe {
  readonly output: number;
  readonly reference: number;
  readonly column: Column;
  /** sum_j weight_j |v_j|: how large the terms are. */
  readonly absolute: number;
}

/** Another place of the output whose row might have been written here. */
export interface OtherRow {
  /** `head 3`, `query 12`. */
  readonly words: string;
  /** Its reference at the probed dimensions, in the order of the probes. */
  readonly references: ArrayLike<number>;
}

/** Other keys that the row might have read: its scores with them, and their columns of v at the probes. */
export interface OtherKeys {
  /** `the keys of KV head 2 were read`. */
  readonly words: string;
  readonly row: RowScores;
  readonly columns: readonly Column[];
}

export interface DiagnosisInput {
  readonly dtype: FloatDtype;
  /** The element at hand first. */
  readonly probes: readonly Probe[];
  readonly row: RowScores;
  /** Limit of the gate on the largest error; null where it was not judged. */
  readonly limit: number | null;
  /** What f32 sums in index order are off by here. */
  readonly drift: number;
  readonly places: WrongPlaces;
  readonly others: Iterable<OtherRow>;
  readonly otherKeys: Iterable<OtherKeys>;
}

/**
 * `within`: rounding explains it. `not_finite`, `unwritten`: nothing to compare. `pattern`: a known mistake gives these
 * outputs. `place`: none does, but the wrong elements share a part of the output. `none`: neither.
 */
export type DiagnosisKind = "within" | "not_finite" | "unwritten" | "pattern" | "place" | "none";

export interface Diagnosis {
  readonly kind: DiagnosisKind;
  readonly sentence: string;
}

/** Rounding of sums of products, relative to the size of their terms: some steps of the coarsest type on the way. */
const ROUNDING: Readonly<Record<FloatDtype, number>> = { f32: 2 ** -19, f16: 2 ** -9, bf16: 2 ** -6 };
/** Share of an error that an explanation may leave open. */
const OPEN_SHARE = 0.03;

function figure(value: number): string {
  return value.toExponential(1).replace("-", "−");
}

function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

function errorOf({ output, reference }: Probe): number {
  return Math.abs(output - reference);
}

function roundingOf({ reference, absolute }: Probe, dtype: FloatDtype): number {
  return ROUNDING[dtype] * Math.max(Math.abs(reference), absolute);
}

/** Whether a value is what the kernel gave at a probe, as far as rounding and the share left open allow. */
function gives(value: number, probe: Probe, dtype: FloatDtype): boolean {
  return Math.abs(value - probe.output) <= Math.max(roundingOf(probe, dtype), OPEN_SHARE * errorOf(probe));
}

function explains({ predict }: Hypothesis, probes: readonly Probe[], dtype: FloatDtype): boolean {
  return probes.every((probe) => gives(predict(probe.column), probe, dtype));
}

/** Where the wrong elements lie, as the end of a sentence. */
function placeText({ count, of, words }: WrongPlaces): string {
  if (count === 0) return "";
  if (words !== null) return `${plural(count, "element")} beyond the limit, ${words}`;
  return `${plural(count, "element")} of ${of.toLocaleString("en-US")} beyond the limit`;
}

function withPlace(sentence: string, places: WrongPlaces): string {
  const place = placeText(places);
  return place === "" ? sentence : `${sentence}; ${place}`;
}

/** The sentence about the first probe. Throws RangeError without a probe. */
export function diagnose(input: DiagnosisInput): Diagnosis {
  const { dtype, probes, row, limit, drift, places } = input;
  const [here] = probes;
  if (here === undefined) throw new RangeError("no element was given: give the one at hand first");
  if (!Number.isFinite(here.output)) {
    const what = Number.isNaN(here.output) ? "NaN" : "infinite";
    const known = "The scores of the row and its oracle are finite";
    return {
      kind: "not_finite",
      sentence: withPlace(
        `The output is ${what}. ${known}: it was not written, or an intermediate left the range`,
        places,
      ),
    };
  }
  if (limit === null ? errorOf(here) <= roundingOf(here, dtype) : errorOf(here) <= limit) {
    const bound = limit === null ? "Within rounding" : "Within the limit";
    return { kind: "within", sentence: `${bound}. f32 sums in index order alone are off by ${figure(drift)} here` };
  }
  const finite = probes.filter(({ output }) => Number.isFinite(output));
  if (finite.every(({ output }) => output === 0) && finite.some(({ reference }) => reference !== 0)) {
    const what = finite.length > 1 ? "Every probed element of the row is 0" : "The output is 0";
    return { kind: "unwritten", sentence: withPlace(`${what}: not written, or every key was masked`, places) };
  }
  const clear = finite.filter((probe) => errorOf(probe) > 4 * roundingOf(probe, dtype));
  const found = clear.includes(here) ? patternOf(input, finite, clear.length) : undefined;
  if (found !== undefined) {
    const probed = finite.length === 1 ? "this element" : `${plural(finite.length, "probed element")} of the row`;
    return { kind: "pattern", sentence: withPlace(`It looks as if ${found}: that gives ${probed}`, places) };
  }
  if (row.keys === 0) return { kind: "none", sentence: "The row sees no key, and its output must be 0" };
  if (clear.length === 1 && finite.length > 1) {
    return {
      kind: "place",
      sentence: withPlace(
        "The other probed elements of its row are right, so scores and sum are: look at v, the store or the owner",
        places,
      ),
    };
  }
  if (places.words !== null) {
    return { kind: "place", sentence: withPlace("No known mistake of the softmax gives this output", places) };
  }
  const tried = "keys, tiles or partitions left out or doubled, wrong rescale, merge, scale, mask or keys";
  return { kind: "none", sentence: withPlace(`No pattern found (tried: ${tried})`, places) };
}

/** The words of the first mistake that gives every probe; undefined where none does. */
function patternOf(input: DiagnosisInput, probes: readonly Probe[], clear: number): string | undefined {
  const { dtype, row, others, otherKeys } = input;
  // Among many alike one may fit a single number by chance.
  const enough = clear >= 2;
  for (const hypothesis of hypotheses(row)) {
    if (hypothesis.oneOfMany && !enough) continue;
    if (explains(hypothesis, probes, dtype)) return hypothesis.words();
  }
  if (!enough) return undefined;
  for (const { words, references } of others) {
    if (probes.every((probe, i) => gives(references[i]!, probe, dtype)))
      return `the output of ${words} were written here`;
  }
  for (const { words, row: scores, columns } of otherKeys) {
    const { predict } = plainSoftmax(words, scores);
    if (probes.every((probe, i) => gives(predict(columns[i]!), probe, dtype))) return words;
  }
  return undefined;
}
