/** The prefill routes: the only place that states their geometry, buffers, scratch bytes and resource needs. */
import { compareVersions, familyPredicate, languagePredicate, limitPredicates, predicate } from "../predicates.ts";
import type { PredicateResult, PrefillShape, Route, RouteCapabilities } from "../route.ts";
import { NAIVE_STATIC_BYTES, NAIVE_THREADS, planNaive, planSimdgroup8x8 } from "./plan.ts";
import { prefillPredicates, tilePredicates } from "./shape.ts";
import { PREFILL_THREADS, stagePlan } from "./tiles.ts";

/** What an M3 answers when a pipeline asks for 16x16 matrices, as recorded there. */
export const M3_REFUSAL = "simdgroup_matrix<T,16,16x16> operations are supported by GPUFamily10 and later";

const simdgroup8x8: Route<PrefillShape> = {
  name: "simdgroup_8x8",
  operator: "mla_prefill",
  summary: "8x8 simdgroup matrices, four simdgroups of eight query rows, keys in sub-tiles of eight",
  status: "built",
  predicates: (shape, capabilities) => [
    ...prefillPredicates(shape),
    ...tilePredicates(shape),
    familyPredicate(capabilities, "8x8 simdgroup matrices"),
    languagePredicate(capabilities),
    ...limitPredicates(
      capabilities,
      PREFILL_THREADS,
      stagePlan(shape.nope + shape.rope, shape.value, shape.dtype).bytes,
    ),
  ],
  plan: planSimdgroup8x8,
};

const matrix16x16: Route<PrefillShape> = {
  name: "matrix_16x16",
  operator: "mla_prefill",
  summary: "16x16 tiles on cooperative tensors (matmul2d); the kernel is not built yet",
  status: "planned",
  predicates: (shape, capabilities) => [
    ...prefillPredicates(shape),
    ...tilePredicates(shape),
    ...matrix16x16Predicates(shape, capabilities),
  ],
  plan: () => {
    throw new RangeError("matrix_16x16 has no kernel yet: use simdgroup_8x8");
  },
};

function matrix16x16Predicates(shape: PrefillShape, capabilities: RouteCapabilities): readonly PredicateResult[] {
  return [
    predicate(
      "apple10",
      "Apple10 or later",
      `Apple${capabilities.appleFamily}`,
      capabilities.appleFamily >= 10,
      `an M3 refuses the pipeline: "${M3_REFUSAL}"`,
    ),
    predicate(
      "metal_4",
      "Metal 4 or later",
      capabilities.metalVersion,
      compareVersions(capabilities.metalVersion, "4.0") >= 0,
      "matmul2d and cooperative tensors are part of Metal 4",
    ),
    predicate(
      "macos_26_2",
      "macOS 26.2 or later",
      capabilities.macos,
      compareVersions(capabilities.macos, "26.2") >= 0,
      "input cooperative tensors are available from macOS 26.2 on (MPPTensorOpsAvailability.h)",
    ),
    predicate(
      "dtype_16_bit",
      "f16 or bf16 inputs",
      shape.dtype,
      shape.dtype === "f16" || shape.dtype === "bf16",
      "float operands are truncated to 10 fraction bits in the relaxed 16x16 form",
    ),
    predicate(
      "multiples_of_16",
      "nope, rope and value widths that are multiples of 16",
      `${shape.nope} + ${shape.rope} / ${shape.value}`,
      [shape.nope, shape.rope, shape.value].every((width) => width > 0 && width % 16 === 0),
      "tiles are 16 wide",
    ),
  ];
}

const naive: Route<PrefillShape> = {
  name: "naive",
  operator: "mla_prefill",
  summary: "a threadgroup per query row and head, scores computed once, plain softmax: the route to compare with",
  status: "built",
  predicates: (shape, capabilities) => [
    ...prefillPredicates(shape),
    familyPredicate(capabilities, "simd_sum and simd_max"),
    languagePredicate(capabilities),
    ...limitPredicates(capabilities, NAIVE_THREADS, NAIVE_STATIC_BYTES),
  ],
  plan: planNaive,
};

/** In the order in which dispatch prefers them. */
export const MLA_PREFILL_ROUTES: readonly Route<PrefillShape>[] = [matrix16x16, simdgroup8x8, naive];
