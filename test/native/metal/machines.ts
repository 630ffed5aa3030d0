/** What the addon would read on some machines, as plain data: facts in the form of `native/metal/binding.ts`. */
import type { MetalDeviceFacts, MetalSystemFacts } from "../../../native/metal/binding.ts";
import type { MetalReading } from "../../../native/metal/profile.ts";

const GIB = 2 ** 30;

const system: MetalSystemFacts = {
  cpuBrand: "Apple M1",
  model: "Macmini9,1",
  virtualMachine: false,
  osVersion: "13.6.0",
  osBuild: "22G120",
  sdkVersion: 260100,
};

const device: MetalDeviceFacts = {
  registryId: "4294968414",
  name: "Apple M1",
  isDefault: true,
  architecture: null,
  families: [1005, 1006, 1007, 5001],
  hasUnifiedMemory: true,
  recommendedMaxWorkingSetBytes: 10.5 * GIB,
  maxBufferBytes: 8 * GIB,
  maxThreadgroupMemoryBytes: 32_768,
  maxThreadsPerThreadgroup: [1024, 1024, 1024],
  counterSets: ["timestamp"],
  samplesAtStageBoundary: true,
  samplesAtDispatchBoundary: false,
  timestampFrequencyHz: null,
  gpuCores: { count: 8 },
};

function reading(
  ofDevice: Partial<MetalDeviceFacts>,
  ofSystem: Partial<MetalSystemFacts>,
  offlineCompiler: MetalReading["offlineCompiler"] = { reason: "there is no xcrun on this machine" },
): MetalReading {
  return { device: { ...device, ...ofDevice }, system: { ...system, ...ofSystem }, offlineCompiler };
}

/** M1 with macOS 13: no architecture string, no MSL 3.1. */
export const M1 = reading({}, {});

/** M3 Max with macOS 15. */
export const M3_MAX = reading(
  {
    name: "Apple M3 Max",
    architecture: "applegpu_g15s",
    families: [1005, 1006, 1007, 1008, 1009, 5001],
    recommendedMaxWorkingSetBytes: 36 * GIB,
    maxBufferBytes: 27 * GIB,
    gpuCores: { count: 40 },
  },
  { cpuBrand: "Apple M3 Max", model: "Mac15,9", osVersion: "15.5.0", osBuild: "24F74" },
  { version: "Apple metal version 32023.620 (metalfe-32023.620)" },
);

/** M5 with macOS 26: Metal 4, timestamp frequency. */
export const M5 = reading(
  {
    name: "Apple M5",
    architecture: "applegpu_g17g",
    families: [1005, 1006, 1007, 1008, 1009, 1010, 5001, 5002],
    timestampFrequencyHz: 1_000_000_000,
    gpuCores: { count: 10 },
  },
  { cpuBrand: "Apple M5", model: "Mac17,2", osVersion: "26.1.0", osBuild: "25B78" },
);

/** The GPU that a runner in a virtual machine has. */
export const PARAVIRTUAL = reading(
  {
    name: "Apple Paravirtual device",
    architecture: "applegpu_paravirtual",
    families: [1005],
    counterSets: null,
    samplesAtStageBoundary: false,
    gpuCores: { problem: "the IO registry has no gpu-core-count for it" },
  },
  {
    cpuBrand: "Apple M1 (Virtual)",
    model: "VirtualMac2,1",
    virtualMachine: true,
    osVersion: "15.5.0",
    osBuild: "24F74",
  },
);

/** A family without facts in the chip table, and a chip that it does not have. */
export const FUTURE = reading(
  {
    name: "Apple M9 Max",
    architecture: "applegpu_g21s",
    families: [1005, 1006, 1007, 1008, 1009, 1010, 1011, 5001, 5002],
    timestampFrequencyHz: 1_000_000_000,
    gpuCores: { count: 44 },
  },
  { cpuBrand: "Apple M9 Max", model: "Mac21,1", osVersion: "27.0.0", osBuild: "26A1" },
);

/** With changes to what one of the others reads. */
export function changed(
  from: MetalReading,
  ofDevice: Partial<MetalDeviceFacts>,
  ofSystem: Partial<MetalSystemFacts> = {},
): MetalReading {
  return { ...from, device: { ...from.device, ...ofDevice }, system: { ...from.system, ...ofSystem } };
}
