/** From what a Metal device and its system say to a `DeviceProfile`: pure, and each value with how it is known. */
import { APPLE_FAMILIES, type AppleFamily, type DeviceLimits, type DeviceProfile, type Known } from "../device.ts";
import { tableLimits } from "../emulator/profile.ts";
import type { MetalDeviceFacts, MetalSystemFacts } from "./binding.ts";
import { chipName, tableChip } from "./chip.ts";
import { metalFacts } from "./facts.ts";
import { macosMajor, newestLanguage } from "./language.ts";
import type { OfflineCompiler } from "./toolchain.ts";

/** Everything that was read of one device. */
export interface MetalReading {
  readonly device: MetalDeviceFacts;
  readonly system: MetalSystemFacts;
  readonly offlineCompiler: OfflineCompiler;
}

export type ProfileResult =
  | { readonly ok: true; readonly profile: DeviceProfile }
  | { readonly ok: false; readonly reason: string; readonly mend: string };

/** MTLGPUFamilyApple1 is 1001. */
const APPLE_FAMILY_BASE = 1000;
const METAL_4_FAMILY = 5002;

/**
 * The profile of the device at `index` of the list of devices. Fails for a GPU that is no Apple family: kernels of this
 * project need one.
 */
export function readProfile(reading: MetalReading, index: number): ProfileResult {
  const { device, system } = reading;
  const family = highestFamily(device.families);
  if (family === undefined) {
    const families = device.families.join(", ") || "none";
    return {
      ok: false,
      reason: `${device.name} is of none of the families Apple5 to Apple11 (supportsFamily: says yes to ${families})`,
      mend: "run Lockstep on a Mac with an M-series chip, or use the emulated device",
    };
  }
  const virtualGpu = isVirtual(reading, family.value);
  const build = system.osBuild === null ? "" : ` (${system.osBuild})`;
  const os = `macOS ${system.osVersion}${build}`;
  const profile: DeviceProfile = {
    id: `metal:${index}`,
    execution: "metal",
    name: known(device.name, "api", "MTLDevice.name"),
    chip: chipOf(reading),
    architecture: architectureOf(reading),
    family,
    metalVersion: metalVersionOf(reading),
    os: known(os, "api", "NSProcessInfo.operatingSystemVersion and sysctl kern.osversion"),
    gpuCores: coresOf(device),
    limits: limitsOf(device),
    toolchain: known(`run-time compiler of ${os}`, "api", "MTLDevice.newLibraryWithSource is a part of macOS"),
    virtualGpu,
  };
  return { ok: true, profile: { ...profile, facts: metalFacts(reading, profile) } };
}

/** The highest of Apple5 to Apple11 that the device supports. */
export function highestFamily(families: readonly number[]): Known<AppleFamily> | undefined {
  const name = APPLE_FAMILIES.findLast((family) => families.includes(familyValue(family)));
  if (name === undefined) return undefined;
  return known(
    name,
    "api",
    `supportsFamily: ${familyValue(name)} is the highest of Apple5 to Apple11 that it confirms`,
  );
}

/** Raw value of MTLGPUFamily. */
function familyValue(family: AppleFamily): number {
  return APPLE_FAMILY_BASE + Number(family.replace("apple", ""));
}

/** A GPU that a hypervisor lends: said by the system, or told by the name or by a family that no M-series chip has. */
function isVirtual({ device, system }: MetalReading, family: AppleFamily): Known<boolean> {
  if (system.virtualMachine === true) return known(true, "api", "sysctl kern.hv_vmm_present is 1");
  if (/paravirtual/i.test(device.name)) return known(true, "inferred", `MTLDevice.name is "${device.name}"`);
  const called = [device.architecture, system.cpuBrand].find((name) => name !== null && /virtual/i.test(name));
  if (called !== undefined) return known(true, "inferred", `architecture or processor is called "${called}"`);
  if (family === "apple5" || family === "apple6") {
    const source = `the highest family is ${family}, which no M-series chip has: a virtual GPU reports it`;
    return known(true, "inferred", source);
  }
  if (system.virtualMachine === false) return known(false, "api", "sysctl kern.hv_vmm_present is 0");
  return known(false, "inferred", "sysctl kern.hv_vmm_present is not there; name and family are those of a chip");
}

function chipOf({ device, system }: MetalReading): Known<string> {
  if (system.cpuBrand !== null) return known(chipName(system.cpuBrand), "api", "sysctl machdep.cpu.brand_string");
  return known(chipName(device.name), "inferred", "MTLDevice.name; machdep.cpu.brand_string is not there");
}

function architectureOf({ device, system }: MetalReading): Known<string> {
  if (device.architecture !== null) return known(device.architecture, "api", "MTLDevice.architecture.name");
  const isOld = macosMajor(system.osVersion) < 14;
  const untold = isOld ? `MTLDevice.architecture needs macOS 14, this is ${system.osVersion}` : "the device tells none";
  const chip = tableChip(system.cpuBrand);
  if (chip?.architecture_string) {
    return known(chip.architecture_string, "table", `native/chips.json: ${chip.architecture_confidence}; ${untold}`);
  }
  return known("unknown", "assumed", untold);
}

/**
 * The newest MSL that runs here: of this macOS, and 4.0 only where the device also is of family Metal4, for without it
 * tensors are not there.
 */
function metalVersionOf({ device, system }: MetalReading): Known<string> {
  const { osVersion } = system;
  const newest = newestLanguage(osVersion) ?? "unknown";
  const isMetal4 = device.families.includes(METAL_4_FAMILY);
  const family = isMetal4 ? "supports family Metal4" : "does not support family Metal4";
  if (newest !== "4.0" || isMetal4) {
    return known(newest, "table", `newest MSL of macOS ${macosMajor(osVersion)}; the device ${family}`);
  }
  return known("3.2", "table", `macOS ${macosMajor(osVersion)} has MSL 4.0, but the device ${family}`);
}

function coresOf(device: MetalDeviceFacts): Known<number | undefined> {
  const { gpuCores } = device;
  if ("count" in gpuCores) return known(gpuCores.count, "api", "gpu-core-count in the IO registry");
  return known(undefined, "api", `gpu-core-count in the IO registry: ${gpuCores.problem}`);
}

/** By the weaker of the two ways in which the limits are known; `facts` has each with its own. */
function limitsOf(device: MetalDeviceFacts): Known<DeviceLimits> {
  const table = tableLimits();
  const [maxThreadsPerThreadgroup] = device.maxThreadsPerThreadgroup;
  return known(
    { ...table.value, maxThreadsPerThreadgroup, maxThreadgroupMemoryBytes: device.maxThreadgroupMemoryBytes },
    "table",
    `threads and threadgroup memory from MTLDevice; the others from ${table.source}`,
  );
}

function known<T>(value: T, by: Known<T>["by"], source: string): Known<T> {
  return { value, by, source };
}
