/**
 * What a GPU offers that matters to attention kernels: what each feature requires, what the profile has, and whether it is
 * held. A prediction from family, Metal and macOS, as dispatch makes it, and from the same predicates where it has them;
 * nothing here is probed. Where the public sources read do not say what a feature needs, the row says so.
 */
import {
  compareVersions,
  familyPredicate,
  KERNEL_LANGUAGE_VERSION,
  languagePredicate,
  limitPredicates,
  predicate,
} from "../../kernels/predicates.ts";
import type { PredicateResult, RouteCapabilities } from "../../kernels/route.ts";
import { findRoute } from "../../kernels/routes.ts";
import { type ChipTable, chipTable } from "../../native/chips.ts";

export const FEATURE_GROUPS = ["matrices", "language", "memory", "measuring"] as const;
export type FeatureGroup = (typeof FEATURE_GROUPS)[number];

export type FeatureState = "held" | "not_held" | "not_known";

/** A row of the capability table, answered for a profile. */
export interface FeatureAnswer {
  readonly id: string;
  readonly group: FeatureGroup;
  readonly title: string;
  /** Why a kernel cares. */
  readonly matters: string;
  readonly requires: string;
  readonly actual: string;
  readonly state: FeatureState;
  readonly reason: string;
  readonly source: string;
}

type Family = ChipTable["families"]["apple7"];

interface Feature {
  readonly id: string;
  readonly group: FeatureGroup;
  readonly title: string;
  readonly matters: string;
  readonly source: string;
  /** What must hold, all of it; or why that is not known. */
  readonly check: (capabilities: RouteCapabilities, family: Family) => readonly PredicateResult[] | string;
}

function metal(version: string, reason: string): (capabilities: RouteCapabilities) => PredicateResult {
  return ({ metalVersion }) =>
    predicate(
      "metal_version",
      `MSL ${version} or later`,
      `MSL ${metalVersion}`,
      compareVersions(metalVersion, version) >= 0,
      reason,
    );
}

function macos(version: string, reason: string): (capabilities: RouteCapabilities) => PredicateResult {
  return ({ macos: actual }) =>
    predicate("macos", `macOS ${version} or later`, `macOS ${actual}`, compareVersions(actual, version) >= 0, reason);
}

function apple(family: number, reason: string): (capabilities: RouteCapabilities) => PredicateResult {
  return ({ appleFamily }) =>
    predicate("apple_family", `Apple${family} or later`, `Apple${appleFamily}`, appleFamily >= family, reason);
}

/** What the actual values of the route's predicates are versions of. */
const UNITS: Readonly<Record<string, string>> = { metal_4: "Metal ", macos_26_2: "macOS " };

/** The device's share of what the 16x16 route requires, from the route's own table. */
function matrixPredicates(capabilities: RouteCapabilities): readonly PredicateResult[] {
  const shape = {
    operator: "mla_prefill",
    heads: 16,
    nope: 128,
    rope: 64,
    value: 128,
    cuSeqlensQ: [0, 16],
    cuSeqlensK: [0, 16],
    qOffset: [0],
    scale: 1,
    dtype: "f16",
  } as const;
  const ofDevice = ["apple10", "metal_4", "macos_26_2"];
  return findRoute("mla_prefill", "matrix_16x16")
    .predicates(shape, capabilities)
    .filter(({ id }) => ofDevice.includes(id))
    .map((result) => ({ ...result, actual: `${UNITS[result.id] ?? ""}${result.actual}` }));
}

function limitPredicate(capabilities: RouteCapabilities, id: string): readonly PredicateResult[] {
  return limitPredicates(capabilities, 1024, 32_768).filter((result) => result.id === id);
}

export const FEATURES: readonly Feature[] = [
  {
    id: "simdgroup_matrix_8x8",
    group: "matrices",
    title: "simdgroup_matrix 8×8",
    matters: "two elements a lane; simdgroup_8x8 stands on it",
    source: "Metal feature set tables; chip table, families",
    check: (capabilities) => [familyPredicate(capabilities, "8x8 simdgroup matrices")],
  },
  {
    id: "simdgroup_matrix_bfloat",
    group: "matrices",
    title: "simdgroup_matrix of bfloat",
    matters: "bf16 operands without widening",
    source: "MSL specification, macOS 14",
    check: (capabilities) => [
      familyPredicate(capabilities, "8x8 simdgroup matrices"),
      metal("3.1", "bfloat matrices came with MSL 3.1 (macOS 14)")(capabilities),
    ],
  },
  {
    id: "matmul2d",
    group: "matrices",
    title: "matmul2d on cooperative tensors",
    matters: "tiles whose layout the device chooses",
    source: "Apple Tech Talk 111432",
    check: (capabilities, family) => [
      metal(
        "4.0",
        `cooperative tensors are part of Metal 4; here they run on: ${family.matmul2d_backend}`,
      )(capabilities),
      macos("26.0", "matmul2d came with macOS 26.0")(capabilities),
    ],
  },
  {
    id: "matmul2d_inputs",
    group: "matrices",
    title: "input cooperative tensors",
    matters: "operands from registers: scores feed the value product",
    source: "MPPTensorOpsAvailability.h",
    check: (capabilities) => [...matrixPredicates(capabilities).filter(({ id }) => id !== "apple10")],
  },
  {
    id: "matrix_16x16",
    group: "matrices",
    title: "16×16 matrix engine and its map",
    matters: "eight elements a lane; matrix_16x16 stands on it",
    source: "recorded on an M3; chip table, families",
    check: (capabilities) => matrixPredicates(capabilities),
  },
  {
    id: "tensor_bfloat",
    group: "matrices",
    title: "bfloat tensor elements",
    matters: "bf16 operands of matmul2d",
    source: "Apple Tech Talk 111432",
    check: (capabilities) => [
      metal("4.0", "tensors are part of Metal 4")(capabilities),
      macos("26.1", "bfloat elements came with macOS 26.1")(capabilities),
    ],
  },
  {
    id: "tensor_int8",
    group: "matrices",
    title: "8-bit and 4-bit integer tensors",
    matters: "quantised keys and values",
    source: "MTLTensorDataType, API_AVAILABLE(macos(26.4))",
    check: (capabilities) => [
      metal("4.0", "tensors are part of Metal 4")(capabilities),
      macos("26.4", "8-bit and 4-bit elements came with macOS 26.4")(capabilities),
    ],
  },
  {
    id: "tensor_fp8",
    group: "matrices",
    title: "FP8, FP4 and 2-bit tensors, scale planes",
    matters: "block-scaled caches",
    source: "MPP headers of macOS 27",
    check: (capabilities) => [
      metal("4.1", "needs the language version 4.1")(capabilities),
      macos("27.0", "needs a deployment target of macOS 27.0")(capabilities),
    ],
  },
  {
    id: "simd_reductions",
    group: "language",
    title: "simd_sum, simd_max, simd_shuffle_xor",
    matters: "row sums and maxima of the online softmax",
    source: "Metal feature set tables",
    check: (capabilities) => [familyPredicate(capabilities, "simd_sum, simd_max and simd_shuffle_xor")],
  },
  {
    id: "language",
    group: "language",
    title: "language version of the kernels",
    matters: "every source here is compiled with it",
    source: "kernels/predicates.ts",
    check: (capabilities) => [metal(KERNEL_LANGUAGE_VERSION, languagePredicate(capabilities).reason)(capabilities)],
  },
  {
    id: "bfloat_alu",
    group: "language",
    title: "bfloat arithmetic in hardware",
    matters: "otherwise widened to float by the compiler",
    source: "chip table, families: bfloat_alu",
    check: ({ appleFamily }, family) => [
      predicate(
        "bfloat_alu",
        "native",
        family.bfloat_alu,
        family.bfloat_alu === "native",
        `bfloat arithmetic of Apple${appleFamily} is ${family.bfloat_alu}`,
      ),
    ],
  },
  {
    id: "shader_log",
    group: "language",
    title: "logging from a kernel (os_log)",
    matters: "print what a lane holds; excludes a GPU capture",
    source: "MTLLogState, macOS 15; MSL 3.2",
    check: (capabilities) => [
      metal("3.2", "os_log in kernels came with MSL 3.2")(capabilities),
      macos("15.0", "MTLLogState came with macOS 15")(capabilities),
    ],
  },
  {
    id: "math_mode",
    group: "language",
    title: "math mode and precise functions by option",
    matters: "NaN and -inf must survive; the default is fast",
    source: "MTLCompileOptions.mathMode, macOS 15",
    check: (capabilities) => [
      macos("15.0", "before, fastMathEnabled alone; it is on unless it is turned off")(capabilities),
    ],
  },
  {
    id: "threadgroup_memory",
    group: "memory",
    title: "32 KiB of threadgroup memory",
    matters: "static plus dynamic: tiles of keys and values",
    source: "chip table, common_limits",
    check: (capabilities) => limitPredicate(capabilities, "threadgroup_memory"),
  },
  {
    id: "threads",
    group: "memory",
    title: "1,024 threads of a threadgroup",
    matters: "a pipeline may launch fewer: see its receipt",
    source: "chip table, common_limits",
    check: (capabilities) => limitPredicate(capabilities, "threads_per_threadgroup"),
  },
  {
    id: "dynamic_registers",
    group: "memory",
    title: "registers given out on demand",
    matters: "occupancy no longer follows the peak register count alone",
    source: "chip table, families: occupancy_model",
    check: (_, family) => [
      predicate(
        "occupancy_model",
        "dynamic",
        family.occupancy_model.split(/[:;]/)[0]!,
        family.occupancy_model.startsWith("dynamic"),
        family.occupancy_model,
      ),
    ],
  },
  {
    id: "coherence",
    group: "memory",
    title: "coherence across threadgroups",
    matters: "a value handed from one threadgroup to another in one dispatch",
    source: "one M5 Pro, measured by a third party",
    check: () =>
      "a seq_cst fence of device scope on both sides plus an atomic was needed on one M5 Pro; which MSL version and families have it, no source read says",
  },
  {
    id: "residency_sets",
    group: "memory",
    title: "residency sets",
    matters: "keep weights and caches wired between two tokens",
    source: "ggml-org/llama.cpp issues 10119 and 11427",
    check: () => "they ended an idle stall of 300 ms on an M4 Pro; which macOS brought them, no source read says",
  },
  {
    id: "stage_counters",
    group: "measuring",
    title: "timestamps at the edges of an encoder",
    matters: "one encoder for each timed dispatch",
    source: "gpuweb issue 1956, on M1",
    check: (capabilities) => [
      apple(7, "Apple GPUs sample counters at stage boundaries")(capabilities),
      macos("11.0", "supportsCounterSampling came with macOS 11")(capabilities),
    ],
  },
  {
    id: "dispatch_counters",
    group: "measuring",
    title: "timestamps between dispatches",
    matters: "would time each dispatch within one encoder",
    source: "gpuweb issue 1956, on M1",
    check: ({ appleFamily }) => [
      predicate(
        "counter_sampling",
        "dispatch boundary",
        "stage boundary alone",
        false,
        `Apple${appleFamily}: Apple GPUs answer no to supportsCounterSampling at a dispatch boundary, and sampling there asserts`,
      ),
    ],
  },
  {
    id: "shader_validation",
    group: "measuring",
    title: "shader validation for one pipeline",
    matters: "out-of-bounds and nil, not races; it changes register pressure",
    source: "MTLShaderValidation, macOS 15",
    check: (capabilities) => [macos("15.0", "the descriptor's shaderValidation came with macOS 15")(capabilities)],
  },
  {
    id: "architecture_name",
    group: "measuring",
    title: "architecture string of the GPU",
    matters: "evidence of what ran; never a reason for dispatch",
    source: "MTLDevice.architecture, macOS 14",
    check: (capabilities) => [macos("14.0", "MTLDevice.architecture came with macOS 14")(capabilities)],
  },
];

function answer({ check, ...feature }: Feature, capabilities: RouteCapabilities, family: Family): FeatureAnswer {
  const { id, group, title, matters, source } = feature;
  const found = check(capabilities, family);
  if (typeof found === "string") {
    const notKnown = "not known";
    return {
      id,
      group,
      title,
      matters,
      source,
      requires: notKnown,
      actual: notKnown,
      state: "not_known",
      reason: found,
    };
  }
  const failed = found.filter(({ holds }) => !holds);
  const shown = failed.length > 0 ? failed : found;
  return {
    id,
    group,
    title,
    matters,
    source,
    requires: found.map(({ requires }) => requires).join(", "),
    actual: found.map(({ actual }) => actual).join(", "),
    state: failed.length === 0 ? "held" : "not_held",
    reason: shown.map(({ reason }) => reason).join("; "),
  };
}

const FAMILY_NAMES = ["apple7", "apple8", "apple9", "apple10"] as const;

/** Every feature for these capabilities. Throws RangeError for a family that the chip table does not have. */
export function featuresOf(capabilities: RouteCapabilities): readonly FeatureAnswer[] {
  const name = FAMILY_NAMES.find((family) => family === `apple${capabilities.appleFamily}`);
  if (name === undefined) {
    throw new RangeError(`The chip table has no family Apple${capabilities.appleFamily}; it has Apple7 to Apple10`);
  }
  const family = chipTable().families[name];
  return FEATURES.map((feature) => answer(feature, capabilities, family));
}
