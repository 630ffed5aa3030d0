/**
 * The gates: one versioned table with each formula, threshold and reason. The table itself is written into every
 * bundle as `data/gates/gates.json`, and records carry its digest, so that two verdicts are comparable only if they were
 * reached with the same table.
 */
import { stableJson } from "../evidence/json.ts";

/** Numbers that the formulas below use. `evaluate.ts` reads them from here and from nowhere else. */
export const GATE_CONSTANTS = {
  /** 2^-24, the unit roundoff of float32. */
  unitRoundoff: 2 ** -24,
  /** Rounding errors of a score grow with C, the sum of the sizes of its terms; 8 of them are allowed for. */
  conditioningFactor: 8,
  /** No f32 kernel is held below this NMSE: it is 1e-5 relative, about 100 roundings. */
  nmseFloor: 1e-10,
  /** No f32 kernel is let above this NMSE, however badly the scores are conditioned. */
  nmseCeiling: 2e-5,
  /** Values cancel where sum p|v| exceeds this many times the size of the reference. */
  cancellationRatio: 1024,
  /** 2^-126, the smallest normal float32. */
  smallestNormal: 2 ** -126,
  /** Allowed absolute error where every value is subnormal: hardware may flush them to zero. */
  subnormalError: 1.2e-38,
  /** Allowed deviation of the slope from 1. */
  slope: 1e-3,
  /** Allowed absolute error of lse where the scores are well conditioned. */
  lseFloor: 1e-5,
  /** f16 and bf16: the kernel may be this many times as far from the oracle as plain low-precision attention is. */
  twinFactor: 2,
  /** Square of the relative error of one rounding to the dtype, halved: what rounding the output alone costs. */
  outputRounding: { f16: 2 ** -24, bf16: 2 ** -18 },
  /** Oracle against a stored float64 reference: relative to max sum p|v| and to the conditioning. */
  referenceAgreement: 1e-13,
  /** The conditioning that `referenceAgreement` is scaled by is never taken above this. */
  referenceConditioningCap: 2 ** 20,
} as const;

export type GateId =
  | "launched"
  | "coverage"
  | "finite"
  | "exact_zero"
  | "subnormal"
  | "max_abs"
  | "nmse_case"
  | "nmse_head"
  | "nmse_row"
  | "slope"
  | "lse"
  | "stored_reference"
  | "oracle_agreement"
  | "sentinels"
  | "repeat"
  | "lockstep"
  | "checker"
  | "resources"
  | "validation";

export type GateVerdict = "pass" | "fail" | "not_run";

export interface Gate {
  readonly id: GateId;
  readonly title: string;
  /** What must hold, in words and symbols. o: output, r: oracle, A: sum p|v|, C: largest finite scale * sum |q_d k_d|. */
  readonly formula: string;
  readonly threshold: string;
  readonly reason: string;
  /** A required gate that did not run is not a pass. */
  readonly required: boolean;
  readonly appliesTo: string;
}

const F32_NMSE = "max(1e-10, min(2e-5, (8 * 2^-24 * C)^2))";
const LOW_NMSE = "max(4 * largest NMSE of the twin in any group of the kind, 2^-24 for f16 or 2^-18 for bf16)";
const NMSE =
  "sum (o - r)^2 / sum r^2; where the values cancel, that is sqrt(sum A^2 / sum r^2) > 1024 over the group, sum (o - r)^2 / sum A^2";

export const GATES: readonly Gate[] = [
  {
    id: "launched",
    title: "launched",
    formula: "every dispatch of the route was built, accepted and completed",
    threshold: "no error",
    reason: "A route that a device refuses, that crashes or that does not end has no result to judge.",
    required: true,
    appliesTo: "every route that runs here",
  },
  {
    id: "coverage",
    title: "full coverage",
    formula: "number of elements of out and lse that still hold the poison pattern",
    threshold: "0",
    reason:
      "A kernel that leaves part of its output unwritten shows whatever was there before, often the right values.",
    required: true,
    appliesTo: "every route that runs here",
  },
  {
    id: "finite",
    title: "finite",
    formula: "number of elements of out that are not finite, plus elements of lse that are NaN or +inf",
    threshold: "0",
    reason: "NaN compares false with every limit and can hide behind any metric.",
    required: true,
    appliesTo: "every case",
  },
  {
    id: "exact_zero",
    title: "exactly zero",
    formula: "max |o| over the rows, heads and cases whose reference is zero throughout",
    threshold: "0",
    reason: "A fully masked or empty row is 0 by contract. Ratios with a zero reference are not computed.",
    required: true,
    appliesTo: "cases with such a row, head or whole output",
  },
  {
    id: "subnormal",
    title: "subnormal values",
    formula: "max |o - r| where every A of the case is below 2^-126",
    threshold: "1.2e-38",
    reason: "Apple GPUs may flush subnormal numbers to zero, so only the absolute error says anything there.",
    required: true,
    appliesTo: "f32 cases whose values are all subnormal; replaces max_abs, nmse_*, slope and stored_reference",
  },
  {
    id: "max_abs",
    title: "largest error",
    formula:
      "f32, for every head: max |o - r| <= e * max |r| of the head, or e * max A of the head where its values cancel, with e = sqrt of the NMSE limit of the head. f16 and bf16, for the case and every head: max |o - r| <= 2 * max |twin - r|",
    threshold: "see the formula",
    reason:
      "One element of 32 x 512 that is wrong by 0.5 has an NMSE of 1.6e-5 and a correlation of 0.99999: only the largest error sees it. The twin is plain attention in the same dtype, which makes the limit scale-free.",
    required: true,
    appliesTo: "every case",
  },
  {
    id: "nmse_case",
    title: "NMSE of the case",
    formula: NMSE,
    threshold: `f32: ${F32_NMSE}; f16, bf16: ${LOW_NMSE}`,
    reason:
      "Correct f32 attention lies at 1e-14 to 1e-11; a dropped last token at L = 8192 is 7e-5. Rounding errors grow with C, which is computed from the inputs alone.",
    required: true,
    appliesTo: "every case",
  },
  {
    id: "nmse_head",
    title: "NMSE of the worst head",
    formula: `${NMSE}; per head, with the C of the head`,
    threshold: `f32: ${F32_NMSE}; f16, bf16: ${LOW_NMSE}`,
    reason: "A wrong head map or one broken head of 32 drowns in the NMSE of the case.",
    required: true,
    appliesTo: "every case",
  },
  {
    id: "nmse_row",
    title: "NMSE of the worst row",
    formula: `${NMSE}; per output row (query head, or query token and head), with the C of the row`,
    threshold: `f32: ${F32_NMSE}; f16, bf16: ${LOW_NMSE}`,
    reason: "Errors at a tile, page or sequence edge touch single rows.",
    required: true,
    appliesTo: "every case",
  },
  {
    id: "slope",
    title: "slope",
    formula: "|sum o r / sum r^2 - 1| over the case and every head",
    threshold: "max(1e-3, sqrt of the NMSE limit)",
    reason: "A scale error of 0.5 % has a correlation of 1 and an NMSE of only 2.5e-5. Bounds bf16 and f16 too.",
    required: true,
    appliesTo: "cases and heads whose values do not cancel",
  },
  {
    id: "lse",
    title: "log-sum-exp",
    formula: "for every row: |lse - r| <= max(1e-5, 8 * 2^-24 * max(C, |r|)); equal where r = -inf",
    threshold: "see the formula",
    reason:
      "lse merges partitions and chunks; a wrong sum of weights cancels in out and shows here. An empty row is -inf exactly.",
    required: true,
    appliesTo: "every route that runs here; imported outputs that contain lse",
  },
  {
    id: "stored_reference",
    title: "stored reference",
    formula:
      "NMSE and largest error of the case against the float64 output stored in the file, limits of nmse_case and max_abs",
    threshold: "as nmse_case and max_abs of the case",
    reason:
      "The stored output was computed by another program on another machine: it does not share the oracle's mistakes.",
    required: true,
    appliesTo: "cases whose file holds a float64 output",
  },
  {
    id: "oracle_agreement",
    title: "oracle against stored reference",
    formula: "max |oracle - stored| / (max A * max(1, min(C, 2^20)))",
    threshold: "1e-13",
    reason: "If the two float64 references differ, neither can judge a kernel.",
    required: true,
    appliesTo: "cases whose file holds a float64 output",
  },
  {
    id: "sentinels",
    title: "sentinels intact",
    formula: "number of buffers with a write between their end and their guard",
    threshold: "0",
    reason: "A write past the end of a buffer damages a neighbour that this case may not look at.",
    required: true,
    appliesTo: "every route that runs here",
  },
  {
    id: "repeat",
    title: "bit-equal repeat",
    formula: "number of bytes of out and lse that differ between two runs of the same route on the same buffers",
    threshold: "0",
    reason: "A difference is a data race or a read of uninitialised memory.",
    required: true,
    appliesTo: "every route that runs here",
  },
  {
    id: "lockstep",
    title: "lockstep agreement",
    formula:
      "number of bytes of out and lse that differ between the flavours fast and lockstep, once per set of pipelines",
    threshold: "0",
    reason:
      "A kernel that needs the lanes of a simdgroup to advance together, or that forgets a barrier, differs between the two.",
    required: true,
    appliesTo: "emulated devices: one small case per set of pipelines",
  },
  {
    id: "checker",
    title: "checker silent",
    formula: "number of places that the flavour check reports at error level, once per set of pipelines",
    threshold: "0",
    reason:
      "A race, an access out of bounds or a read of unwritten memory can give the right result here and a wrong one on a GPU: parity alone is no verdict.",
    required: true,
    appliesTo: "emulated devices: one small case per set of pipelines",
  },
  {
    id: "resources",
    title: "resource contract",
    formula:
      "number of pipelines whose receipt misses the contract of the route: SIMD width equal, launchable threads at least those dispatched, static plus dynamic threadgroup bytes within the limit",
    threshold: "0",
    reason:
      "A pipeline that cannot launch the planned threadgroup fails its gate; it never falls back to another layout.",
    required: true,
    appliesTo: "every route that runs here",
  },
  {
    id: "validation",
    title: "Metal's validation silent",
    formula:
      "number of errors that Metal's API and shader validation reported while the result was computed, or outside any result",
    threshold: "0",
    reason:
      "Metal drops an illegal dispatch and an access out of bounds without an error; its validation is what tells. It sees no race and no read of unwritten memory.",
    required: true,
    appliesTo: "runs under validation on a Metal device; it passes only where both layers said that they are on",
  },
];

/** Version of the table. Raise it with every change of a formula, a threshold or a constant. */
export const GATES_SCHEMA = "lockstep.gates/3";

/** The table as it is written into a bundle. */
export function gatesJson(): string {
  return stableJson({ schema: GATES_SCHEMA, constants: GATE_CONSTANTS, gates: GATES });
}
