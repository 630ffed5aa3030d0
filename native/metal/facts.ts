/** What is told of a Metal device beside its profile: one row a fact, with where it is read and how it is known. */
import { type DeviceFact, type DeviceProfile, type KnownBy, WORKING_SET_FACT } from "../device.ts";
import { chipCheck } from "./chip.ts";
import { loggingProblem, macosMajor, newestLanguage, residencyProblem } from "./language.ts";
import type { MetalReading } from "./profile.ts";

/** A value, or why it is not known. */
type Answer = string | { readonly reason: string };

interface FactRow {
  readonly id: string;
  readonly label: string;
  readonly by: KnownBy;
  /** Where it is read. */
  readonly source: string;
  readonly read: (reading: MetalReading, profile: Omit<DeviceProfile, "facts">) => Answer;
}

const FAMILY_NAMES: Readonly<Record<number, string>> = { 5001: "Metal3", 5002: "Metal4" };

const MACHINE: readonly FactRow[] = [
  {
    id: "cpu_brand",
    label: "CPU",
    by: "api",
    source: "sysctl machdep.cpu.brand_string",
    read: ({ system }) => system.cpuBrand ?? { reason: "the system does not tell" },
  },
  {
    id: "model",
    label: "Mac model",
    by: "api",
    source: "sysctl hw.model",
    read: ({ system }) => system.model ?? { reason: "the system does not tell" },
  },
  {
    id: "virtual_machine",
    label: "Runs in a virtual machine",
    by: "api",
    source: "sysctl kern.hv_vmm_present",
    read: ({ system }) =>
      system.virtualMachine === null ? { reason: "the system does not tell" } : yesNo(system.virtualMachine),
  },
  {
    id: "os_version",
    label: "macOS",
    by: "api",
    source: "NSProcessInfo.operatingSystemVersion",
    read: ({ system }) => system.osVersion,
  },
  {
    id: "os_build",
    label: "macOS build",
    by: "api",
    source: "sysctl kern.osversion",
    read: ({ system }) => system.osBuild ?? { reason: "the system does not tell" },
  },
  {
    id: "sdk",
    label: "SDK that the addon was built with",
    by: "api",
    source: "__MAC_OS_X_VERSION_MAX_ALLOWED",
    read: ({ system }) => sdkText(system.sdkVersion),
  },
];

const DEVICE: readonly FactRow[] = [
  {
    id: "registry_id",
    label: "Registry id",
    by: "api",
    source: "MTLDevice.registryID",
    read: ({ device }) => device.registryId,
  },
  {
    id: "is_default",
    label: "Default device of the system",
    by: "api",
    source: "MTLCreateSystemDefaultDevice",
    read: ({ device }) => yesNo(device.isDefault),
  },
  {
    id: "families",
    label: "Families that it supports",
    by: "api",
    source: "MTLDevice.supportsFamily, Apple5 to Apple11, Metal3 and Metal4 by raw value",
    read: ({ device }) => device.families.map(familyText).join(", "),
  },
  {
    id: "unified_memory",
    label: "Unified memory",
    by: "api",
    source: "MTLDevice.hasUnifiedMemory",
    read: ({ device }) => yesNo(device.hasUnifiedMemory),
  },
  {
    id: WORKING_SET_FACT,
    label: "Recommended working set, bytes",
    by: "api",
    source: "MTLDevice.recommendedMaxWorkingSetSize",
    read: ({ device }) => String(device.recommendedMaxWorkingSetBytes),
  },
  {
    id: "max_buffer_bytes",
    label: "Largest buffer, bytes",
    by: "api",
    source: "MTLDevice.maxBufferLength",
    read: ({ device }) => String(device.maxBufferBytes),
  },
];

const LIMITS: readonly FactRow[] = [
  {
    id: "max_threads_per_threadgroup",
    label: "Threads of a threadgroup, width x height x depth",
    by: "api",
    source: "MTLDevice.maxThreadsPerThreadgroup; a pipeline may allow fewer",
    read: ({ device }) => device.maxThreadsPerThreadgroup.join(" x "),
  },
  {
    id: "max_threadgroup_memory_bytes",
    label: "Threadgroup memory, bytes",
    by: "api",
    source: "MTLDevice.maxThreadgroupMemoryLength",
    read: ({ device }) => String(device.maxThreadgroupMemoryBytes),
  },
  {
    id: "simd_width",
    label: "Lanes of a simdgroup",
    by: "table",
    source: "native/chips.json, common_limits; each pipeline tells its own",
    read: (_reading, { limits }) => String(limits.value.simdWidth),
  },
  {
    id: "threadgroup_memory_alignment_bytes",
    label: "Alignment of dynamic threadgroup memory, bytes",
    by: "table",
    source: "native/chips.json, common_limits",
    read: (_reading, { limits }) => String(limits.value.threadgroupMemoryAlignmentBytes),
  },
  {
    id: "buffer_slots",
    label: "Entries of the buffer argument table",
    by: "table",
    source: "native/chips.json, common_limits",
    read: (_reading, { limits }) => String(limits.value.bufferSlots),
  },
  {
    id: "set_bytes_max",
    label: "Inline bytes of an argument at most",
    by: "table",
    source: "native/chips.json, common_limits",
    read: (_reading, { limits }) => String(limits.value.setBytesMax),
  },
];

const MEASURING: readonly FactRow[] = [
  {
    id: "counter_sets",
    label: "Counter sets",
    by: "api",
    source: "MTLDevice.counterSets",
    read: ({ device }) =>
      device.counterSets === null
        ? { reason: "Metal offers none on this device" }
        : device.counterSets.join(", ") || "none",
  },
  {
    id: "stage_boundary_sampling",
    label: "Stage-boundary counters",
    by: "api",
    source: "MTLDevice.supportsCounterSampling, AtStageBoundary",
    read: ({ device }) => yesNo(device.samplesAtStageBoundary),
  },
  {
    id: "dispatch_boundary_sampling",
    label: "Dispatch-boundary counters",
    by: "api",
    source: "MTLDevice.supportsCounterSampling, AtDispatchBoundary",
    read: ({ device }) => yesNo(device.samplesAtDispatchBoundary),
  },
  {
    id: "timestamp_frequency_hz",
    label: "GPU timestamps, ticks a second",
    by: "api",
    source: "MTLDevice.queryTimestampFrequency",
    read: ({ device, system }) => since(device.timestampFrequencyHz, 26, system.osVersion),
  },
];

const COMPILERS: readonly FactRow[] = [
  {
    id: "newest_language",
    label: "Newest MSL of the run-time compiler",
    by: "table",
    source: "MTLLanguageVersion by macOS",
    read: ({ system }) =>
      newestLanguage(system.osVersion) ?? { reason: `no MSL is known for macOS ${system.osVersion}` },
  },
  {
    id: "kernel_logging",
    label: "Takes what kernels log",
    by: "table",
    source: "MTLLogState, by the versions of macOS and of the SDK; virtual GPUs have none",
    read: ({ system }, profile) => yesOrWhy(loggingProblem(system, profile.virtualGpu?.value ?? false)),
  },
  {
    id: "residency_sets",
    label: "Residency sets",
    by: "table",
    source: "MTLResidencySet, by the versions of macOS and of the SDK; virtual GPUs have none",
    read: ({ system }, profile) => yesOrWhy(residencyProblem(system, profile.virtualGpu?.value ?? false)),
  },
  {
    id: "offline_compiler",
    label: "Offline Metal compiler",
    by: "probe",
    source: "xcrun metal --version; kernels do not need it",
    read: ({ offlineCompiler }) =>
      "version" in offlineCompiler ? offlineCompiler.version : { reason: offlineCompiler.reason },
  },
];

/** Every fact in the order in which it is shown. */
export function metalFacts(reading: MetalReading, profile: Omit<DeviceProfile, "facts">): readonly DeviceFact[] {
  const fact = ({ id, label, by, source, read }: FactRow): DeviceFact => {
    const answer = read(reading, profile);
    if (typeof answer === "string") return { id, label, value: answer, by, source, reason: null };
    return { id, label, value: null, by, source, reason: answer.reason };
  };
  const { device, system } = reading;
  const check = chipCheck({
    name: system.cpuBrand ?? device.name,
    architecture: device.architecture,
    family: profile.family.value,
    gpuCores: profile.gpuCores.value,
    isVirtual: profile.virtualGpu?.value ?? false,
  });
  return [...[...MACHINE, ...DEVICE].map(fact), check, ...[...LIMITS, ...MEASURING, ...COMPILERS].map(fact)];
}

function yesNo(value: boolean): string {
  return value ? "yes" : "no";
}

function yesOrWhy(problem: string | undefined): string {
  return problem === undefined ? "yes" : `no: ${problem}`;
}

function familyText(value: number): string {
  return `${FAMILY_NAMES[value] ?? `Apple${value - 1000}`} (${value})`;
}

/** `260100` as `26.1`; 1.0 of the two schemes of macOS has two digits a part. */
function sdkText(version: number): string {
  const minor = Math.floor(version / 100) % 100;
  const patch = version % 100;
  return `macOS ${Math.floor(version / 10_000)}.${minor}${patch === 0 ? "" : `.${patch}`}`;
}

/** A value that Metal tells from a macOS on. */
function since(value: number | null, macos: number, osVersion: string): Answer {
  if (value !== null) return String(value);
  const isOld = macosMajor(osVersion) < macos;
  return { reason: isOld ? `Metal tells it from macOS ${macos} on, this is ${osVersion}` : "Metal did not tell it" };
}
