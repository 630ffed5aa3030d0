/**
 * What a GPU offers that matters to attention kernels: what each feature requires, what the profile has, and whether it is
 * held. A prediction from family, Metal and macOS, as dispatch makes it, and from the same predicates where it has them;
 * what a Metal device was asked itself counts before the prediction. Where the public sources read do not say what a feature
 * needs, the row says so. What an emulated device does not have is not held there, whatever the chip would have.
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
import type { DeviceProfile } from "../../native/device.ts";

export const FEATURE_GROUPS = ["matrices", "language", "memory", "measuring"] as const;
export type FeatureGroup = (typeof FEATURE_GROUPS)[number];

export type FeatureState = "held" | "not_held" | "not_known";

/** `predicted` from family and versions, or the answer of the device itself. */
export type FeatureBy = "predicted" | "api";

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
  readonly by: FeatureBy;
  readonly reason: string;
  readonly source: string;
}

/** What of a device decides besides its capabilities. Absent: a chip that is only thought of. */
export type FeatureDevice = Pick<DeviceProfile, "execution" | "facts" | "virtualGpu">;

type Family = ChipTable["families"]["apple7"];

interface Feature {
  readonly id: string;
  readonly group: FeatureGroup;
  readonly title: string;
  readonly matters: string;
  readonly source: string;
  /** What an emulated device does in its place, where it has not what a GPU has. */
  readonly emulated?: string;
  /** Id of the fact of a Metal device that answers: its value begins with `yes` or `no`. */
  readonly fact?: string;
  /** What must hold, all of it; or why that is not known. `family` is undefined where the chip table does not have it. */
  readonly check: (capabilities: RouteCapabilities, family: Family | undefined) => readonly PredicateResult[] | string;
}

function notInTable({ appleFamily }: RouteCapabilities): string {
  return `the chip table has nothing of Apple${appleFamily}: it has Apple7 to Apple10`;
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
        `cooperative tensors are part of Metal 4; here they run on: ${family?.matmul2d_backend ?? `not known, ${notInTable(capabilities)}`}`,
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
    check: (capabilities, family) =>
      family === undefined
        ? notInTable(capabilities)
        : [
            predicate(
              "bfloat_alu",
              "native",
              family.bfloat_alu,
              family.bfloat_alu === "native",
              `bfloat arithmetic of Apple${capabilities.appleFamily} is ${family.bfloat_alu}`,
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
    check: (capabilities, family) =>
      family === undefined
        ? notInTable(capabilities)
        : [
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
    source: "MTLResidencySet, macOS 15",
    emulated: "memory of this process, always there",
    check: (capabilities) => [macos("15.0", "MTLResidencySet came with macOS 15")(capabilities)],
  },
  {
    id: "register_bracket",
    group: "measuring",
    title: "registers of a thread, from the launchable threads",
    matters: "no API states registers; a step of the maximum brackets them",
    source: "chip table, register_occupancy_g13_g14",
    emulated: "threads follow the device's limit, not the code's registers",
    check: ({ appleFamily }) => [
      predicate(
        "apple_family",
        "Apple7 or Apple8",
        `Apple${appleFamily}`,
        appleFamily === 7 || appleFamily === 8,
        "their step table is public; from Apple9 on registers are given out on demand, before Apple7 nothing was measured",
      ),
    ],
  },
  {
    id: "command_buffer_times",
    group: "measuring",
    title: "times of a command buffer",
    matters: "one command buffer for each timed dispatch, where counters are missing",
    source: "GPUStartTime, GPUEndTime, macOS 10.15",
    emulated: "wall time of the emulation",
    check: (capabilities) => [macos("10.15", "GPUStartTime and GPUEndTime came with macOS 10.15")(capabilities)],
  },
  {
    id: "stage_counters",
    group: "measuring",
    title: "stage-boundary counters",
    matters: "timestamps at the edges of an encoder: one encoder for each timed dispatch",
    source: "gpuweb issue 1956, on M1",
    emulated: "wall time of the emulation",
    fact: "stage_boundary_sampling",
    check: (capabilities) => [
      apple(7, "Apple GPUs sample counters at stage boundaries")(capabilities),
      macos("11.0", "supportsCounterSampling came with macOS 11")(capabilities),
    ],
  },
  {
    id: "dispatch_counters",
    group: "measuring",
    title: "dispatch-boundary counters",
    matters: "timestamps between dispatches: would time each dispatch within one encoder",
    source: "gpuweb issue 1956, on M1",
    emulated: "wall time of the emulation",
    fact: "dispatch_boundary_sampling",
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
    id: "validation_run",
    group: "measuring",
    title: "a run under Metal's validation",
    matters: "illegal calls and accesses, in Metal's words; times of such a run count for nothing",
    source: "man MetalValidation",
    emulated: "the checker in its place, which sees races as well",
    check: (capabilities) => [
      macos("13.0", "in a process of its own: both variables must be set before a device exists")(capabilities),
    ],
  },
  {
    id: "shader_validation",
    group: "measuring",
    title: "shader validation for one pipeline",
    matters: "out-of-bounds and nil, not races; it changes register pressure",
    source: "MTLShaderValidation, macOS 15",
    emulated: "the checker in its place, which sees races as well",
    check: (capabilities) => [macos("15.0", "the descriptor's shaderValidation came with macOS 15")(capabilities)],
  },
  {
    id: "gpu_capture",
    group: "measuring",
    title: "capture of a case to a .gputrace",
    matters: "Xcode shows its counters and cost by line; excludes logging from a kernel",
    source: "MTLCaptureManager, macOS 10.15",
    emulated: "the checker counts accesses by line",
    check: (capabilities) => [
      macos("13.0", "in a process of its own: MTL_CAPTURE_ENABLED must be set before it starts")(capabilities),
    ],
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

const NOT_KNOWN = "not known";

/** The answer of the device itself, where it was asked; null where it was not. */
function askedOf({ fact, title }: Feature, device: FeatureDevice | undefined) {
  if (fact === undefined) return null;
  const known = device?.facts?.find(({ id, by, value }) => id === fact && value !== null && by === "api");
  if (known === undefined || known.value === null) return null;
  const held = /^yes\b/.test(known.value);
  return {
    requires: title,
    actual: known.value,
    state: held ? ("held" as const) : ("not_held" as const),
    by: "api" as const,
    reason: `the device says so: ${known.source}`,
  };
}

function judged(feature: Feature, capabilities: RouteCapabilities, family: Family | undefined, device?: FeatureDevice) {
  const asked = askedOf(feature, device);
  if (asked !== null) return asked;
  const unknown = (reason: string) => ({
    requires: NOT_KNOWN,
    actual: NOT_KNOWN,
    state: "not_known" as const,
    by: "predicted" as const,
    reason,
  });
  if (device?.virtualGpu?.value === true && feature.emulated !== undefined) {
    return unknown("a virtual GPU: what of this the hypervisor passes on, no source read says");
  }
  const found = feature.check(capabilities, family);
  if (typeof found === "string") return unknown(found);
  if (device?.execution === "emulated" && feature.emulated !== undefined) {
    const chip = found.every(({ holds }) => holds) ? "the chip would have it" : "the chip would not have it either";
    return {
      requires: "a Metal device",
      actual: "emulated",
      state: "not_held" as const,
      by: "predicted" as const,
      reason: `emulated: ${feature.emulated}; ${chip}`,
    };
  }
  const failed = found.filter(({ holds }) => !holds);
  return {
    requires: found.map(({ requires }) => requires).join(", "),
    actual: found.map(({ actual }) => actual).join(", "),
    state: failed.length === 0 ? ("held" as const) : ("not_held" as const),
    by: "predicted" as const,
    reason: (failed.length > 0 ? failed : found).map(({ reason }) => reason).join("; "),
  };
}

const FAMILY_NAMES = ["apple7", "apple8", "apple9", "apple10"] as const;

/**
 * Every feature for these capabilities: of a chip that is only thought of, or of `device`. A family that the chip table does
 * not have, Apple11 or that of a virtual GPU, leaves open what only the table tells.
 */
export function featuresOf(capabilities: RouteCapabilities, device?: FeatureDevice): readonly FeatureAnswer[] {
  const name = FAMILY_NAMES.find((family) => family === `apple${capabilities.appleFamily}`);
  const family = name === undefined ? undefined : chipTable().families[name];
  return FEATURES.map((feature) => {
    const { id, group, title, matters, source } = feature;
    return { id, group, title, matters, source, ...judged(feature, capabilities, family, device) };
  });
}
