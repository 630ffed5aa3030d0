/**
 * What the emulated device claims to be. Limits come from the chip table, the system software is assumed: a profile is a
 * model of a Mac with the newest system, never evidence about a chip.
 */
import { type Chip, chipTable, findChip, shortName } from "../chips.ts";
import type { DeviceLimits, DeviceProfile, EmulatedFamily, Known } from "../device.ts";

/** System software that a family is assumed to run. */
interface AssumedSystem {
  readonly family: EmulatedFamily;
  readonly os: string;
  readonly metal: string;
  /** The chip that stands for the family if only the family is named. */
  readonly chip: string;
  readonly source: string;
}

/** macOS 26 runs on every Apple-silicon Mac and brings Metal 4 to all of them; what differs is the matrix hardware. */
export const ASSUMED_SYSTEMS: readonly AssumedSystem[] = [
  {
    family: "apple7",
    os: "macOS 26.4",
    metal: "4.0",
    chip: "M1",
    source: "newest system for M1; matmul2d there runs on the 8x8 engine (Metal 4)",
  },
  {
    family: "apple8",
    os: "macOS 26.4",
    metal: "4.0",
    chip: "M2",
    source: "newest system for M2; matmul2d there runs on the 8x8 engine (Metal 4)",
  },
  {
    family: "apple9",
    os: "macOS 26.4",
    metal: "4.0",
    chip: "M3 Max",
    source: "newest system for M3 and M4; matmul2d there runs on the 8x8 engine with a map of its own",
  },
  {
    family: "apple10",
    os: "macOS 26.4",
    metal: "4.0",
    chip: "M5",
    source: "newest system for M5; cooperative-tensor inputs need macOS 26.2, 8-bit integers 26.4",
  },
];

/** The chip that is emulated if none is asked for: a common machine of the last family without 16x16 matrices. */
export const DEFAULT_CHIP = "M3 Max";

const FAMILIES: ReadonlySet<string> = new Set(ASSUMED_SYSTEMS.map((system) => system.family));

/** Limits of the chip table in the terms of a device. */
export function tableLimits(): Known<DeviceLimits> {
  const limits = chipTable().common_limits;
  return {
    value: {
      simdWidth: limits.simd_width,
      maxThreadsPerThreadgroup: limits.max_threads_per_threadgroup,
      maxThreadgroupMemoryBytes: limits.max_threadgroup_memory_bytes,
      threadgroupMemoryAlignmentBytes: limits.threadgroup_memory_length_alignment,
      bufferSlots: limits.buffer_slots,
      setBytesMax: limits.set_bytes_max,
    },
    by: "table",
    source: "native/chips.json, common_limits",
  };
}

/**
 * The profile of the chip or family called `name`: `apple9`, `M4 Pro`, `Apple M5`. Throws with the names there are.
 * @param toolchain what compiles kernels, if known
 */
export function emulatedProfile(name: string = DEFAULT_CHIP, toolchain?: string): DeviceProfile {
  const asFamily = ASSUMED_SYSTEMS.find((system) => system.family === name.toLowerCase());
  const chip = findChip(asFamily?.chip ?? name);
  const system = ASSUMED_SYSTEMS.find((entry) => entry.family === chip.mtl_gpu_family);
  if (!system) throw new Error(`No system is assumed for family ${chip.mtl_gpu_family} of ${chip.name}.`);
  return {
    id: `emulated:${asFamily ? system.family : slug(chip)}`,
    execution: "emulated",
    name: known(`Emulated ${shortName(chip)} (${system.family})`, "assumed", "this project"),
    chip: known(shortName(chip), "assumed", asFamily ? `stands for ${system.family}` : "chosen by name"),
    architecture: known(
      chip.architecture_string ?? "unknown",
      "table",
      `native/chips.json: ${chip.architecture_confidence}`,
    ),
    family: known(chip.mtl_gpu_family, "table", `native/chips.json: ${chip.sources.join(", ")}`),
    metalVersion: known(system.metal, "assumed", system.source),
    os: known(system.os, "assumed", system.source),
    gpuCores: cores(chip),
    limits: tableLimits(),
    toolchain: known(
      toolchain ?? "unknown",
      toolchain === undefined ? "assumed" : "probe",
      "the compiler on this machine",
    ),
  };
}

/** Profiles of the four families, then of every chip of the table. */
export function emulatedProfiles(): readonly DeviceProfile[] {
  return [...FAMILIES, ...chipTable().chips.map((chip) => shortName(chip))].map((name) => emulatedProfile(name));
}

/** The largest variant of the chip: the table lists what was sold, an emulation has to pick one. */
function cores(chip: Chip): Known<number | undefined> {
  const most = Math.max(...chip.variants.map((variant) => variant.gpu_cores));
  const counts = chip.variants.map((variant) => variant.gpu_cores).join(" or ");
  return { value: most, by: "assumed", source: `largest variant of native/chips.json (${counts} cores)` };
}

function slug(chip: Chip): string {
  return shortName(chip)
    .toLowerCase()
    .replace(/\s*\(.*\)/, "")
    .replaceAll(" ", "-");
}

function known<T>(value: T, by: Known<T>["by"], source: string): Known<T> {
  return { value, by, source };
}
