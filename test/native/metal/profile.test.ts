import { describe, expect, it } from "vitest";
import { capabilitiesOf } from "../../../electron/dispatch/capabilities.ts";
import { missingNeeds } from "../../../native/conformance/needs.ts";
import { type DeviceFact, type DeviceProfile, WORKING_SET_FACT } from "../../../native/device.ts";
import { highestFamily, type MetalReading, readProfile } from "../../../native/metal/profile.ts";
import { changed, FUTURE, M1, M3_MAX, M5, PARAVIRTUAL } from "./machines.ts";

function profileOf(reading: MetalReading, index = 0): DeviceProfile {
  const result = readProfile(reading, index);
  if (!result.ok) throw new Error(result.reason);
  return result.profile;
}

function factOf(reading: MetalReading, id: string): DeviceFact {
  const fact = profileOf(reading).facts?.find((one) => one.id === id);
  if (fact === undefined) throw new Error(`no fact ${id}`);
  return fact;
}

describe("readProfile", () => {
  it.each([
    ["M1 on macOS 13", M1, "apple7", "3.0", "M1", "applegpu_g13g", "table", 8],
    ["M3 Max on macOS 15", M3_MAX, "apple9", "3.2", "M3 Max", "applegpu_g15s", "api", 40],
    ["M5 on macOS 26", M5, "apple10", "4.0", "M5", "applegpu_g17g", "api", 10],
    ["paravirtual", PARAVIRTUAL, "apple5", "3.2", "M1", "applegpu_paravirtual", "api", undefined],
    ["a future family", FUTURE, "apple11", "4.0", "M9 Max", "applegpu_g21s", "api", 44],
  ] as const)("%s", (_name, reading, family, metal, chip, architecture, by, cores) => {
    const profile = profileOf(reading);
    expect(profile).toMatchObject({
      id: "metal:0",
      execution: "metal",
      family: { value: family, by: "api" },
      metalVersion: { value: metal, by: "table" },
      chip: { value: chip, by: "api", source: "sysctl machdep.cpu.brand_string" },
      architecture: { value: architecture, by },
      gpuCores: { value: cores, by: "api" },
      os: { by: "api" },
    });
    expect(capabilitiesOf(profile)).toMatchObject({
      appleFamily: Number(family.replace("apple", "")),
      metalVersion: metal,
      macos: reading.system.osVersion,
    });
  });

  it("has its place in the list in its name, and the run-time compiler as its toolchain", () => {
    expect(profileOf(M5, 1)).toMatchObject({
      id: "metal:1",
      os: { value: "macOS 26.1.0 (25B78)" },
      toolchain: { value: "run-time compiler of macOS 26.1.0 (25B78)", by: "api" },
    });
  });

  it("takes the limits that Metal tells, and by the weaker way of knowing", () => {
    const odd = changed(M5, { maxThreadgroupMemoryBytes: 65_536, maxThreadsPerThreadgroup: [2048, 1024, 64] });
    const { limits } = profileOf(odd);
    expect(limits).toMatchObject({
      value: { maxThreadgroupMemoryBytes: 65_536, maxThreadsPerThreadgroup: 2048, simdWidth: 32, bufferSlots: 31 },
      by: "table",
    });
    expect(factOf(odd, "max_threadgroup_memory_bytes")).toMatchObject({ value: "65536", by: "api" });
    expect(factOf(odd, "max_threads_per_threadgroup")).toMatchObject({ value: "2048 x 1024 x 64", by: "api" });
    expect(factOf(odd, "set_bytes_max")).toMatchObject({ value: "4096", by: "table" });
  });

  it("has Metal 4 only where the device says so, whatever macOS is", () => {
    const without = changed(M5, { families: [1005, 1006, 1007, 1008, 1009, 1010, 5001] });
    expect(profileOf(without).metalVersion).toMatchObject({
      value: "3.2",
      source: "macOS 26 has MSL 4.0, but the device does not support family Metal4",
    });
  });

  it("refuses a GPU of no Apple family, naming what it supports", () => {
    const result = readProfile(changed(M1, { name: "AMD Radeon Pro 5600M", families: [5001] }), 0);
    expect(result).toMatchObject({
      ok: false,
      reason: "AMD Radeon Pro 5600M is of none of the families Apple5 to Apple11 (supportsFamily: says yes to 5001)",
    });
  });

  it("takes the highest family, in whatever order they come", () => {
    expect(highestFamily([1009, 1007, 1005])?.value).toBe("apple9");
    expect(highestFamily([1012, 5002])).toBeUndefined();
  });

  it("never takes the family from the name", () => {
    const renamed = changed(M1, { name: "Apple M5" }, { cpuBrand: "Apple M5" });
    expect(profileOf(renamed).family.value).toBe("apple7");
    expect(factOf(renamed, "chip_check").value).toBe("differs: the device has apple7, the table apple10 for M5");
  });

  it("without an architecture and a chip in the table says that it does not know", () => {
    const unknown = changed(M1, {}, { cpuBrand: null });
    expect(profileOf(unknown)).toMatchObject({
      chip: { value: "M1", by: "inferred" },
      architecture: { value: "unknown", by: "assumed" },
    });
  });
});

describe("a virtual GPU", () => {
  it.each([
    ["the system says so", PARAVIRTUAL, true, "api"],
    ["the name says so", changed(PARAVIRTUAL, {}, { virtualMachine: null }), true, "inferred"],
    [
      "only the family tells",
      changed(PARAVIRTUAL, { name: "Apple Software Renderer" }, { virtualMachine: false }),
      true,
      "inferred",
    ],
    ["a chip", M3_MAX, false, "api"],
    ["a chip on a system that does not tell", changed(M3_MAX, {}, { virtualMachine: null }), false, "inferred"],
  ] as const)("%s", (_name, reading, value, by) => {
    expect(profileOf(reading).virtualGpu).toMatchObject({ value, by });
  });

  it("is not held against the chip of the machine that lends it", () => {
    expect(factOf(PARAVIRTUAL, "chip_check")).toMatchObject({
      value: null,
      reason: "the GPU is virtual; Apple M1 (Virtual) is the chip of the machine that lends it",
    });
  });
});

describe("the chip table beside the device", () => {
  it("agrees, with what was compared", () => {
    expect(factOf(M3_MAX, "chip_check")).toMatchObject({
      value: "agrees: apple9, applegpu_g15s, 40 cores as the table has it for M3 Max",
      by: "table",
      reason: null,
    });
    expect(factOf(M1, "chip_check").value).toBe("agrees: apple7, 8 cores as the table has it for M1");
  });

  it("differs, with both sides of each difference and how sure the table is", () => {
    const odd = changed(M3_MAX, { architecture: "applegpu_g15d", gpuCores: { count: 39 } });
    expect(factOf(odd, "chip_check").value).toBe(
      "differs: the device has applegpu_g15d, the table applegpu_g15s (reported) for M3 Max; " +
        "the device has 39 cores, the table 30 or 40 cores for M3 Max",
    );
  });

  it("has nothing of a chip that it does not know", () => {
    expect(factOf(FUTURE, "chip_check")).toMatchObject({ value: null, reason: "the chip table has no M9 Max" });
  });
});

describe("facts", () => {
  it("are each there once, with a source, and with a value or a reason", () => {
    for (const reading of [M1, M3_MAX, M5, PARAVIRTUAL, FUTURE]) {
      const facts = profileOf(reading).facts ?? [];
      expect(new Set(facts.map((fact) => fact.id)).size).toBe(facts.length);
      for (const fact of facts) {
        expect(fact.source).not.toBe("");
        expect((fact.value === null) === (fact.reason !== null), fact.id).toBe(true);
      }
    }
  });

  it("say why a value is not known", () => {
    expect(factOf(M3_MAX, "timestamp_frequency_hz")).toMatchObject({
      value: null,
      reason: "Metal tells it from macOS 26 on, this is 15.5.0",
    });
    expect(factOf(changed(M5, { timestampFrequencyHz: null }), "timestamp_frequency_hz").reason).toBe(
      "Metal did not tell it",
    );
    expect(factOf(PARAVIRTUAL, "counter_sets").reason).toBe("Metal offers none on this device");
    expect(factOf(M1, "offline_compiler").reason).toBe("there is no xcrun on this machine");
  });

  it("tell what macOS and the SDK of the addon allow together", () => {
    expect(factOf(M3_MAX, "kernel_logging").value).toBe("yes");
    expect(factOf(M1, "kernel_logging").value).toBe("no: MTLLogState needs macOS 15; this is 13.6.0");
    expect(factOf(PARAVIRTUAL, "kernel_logging").value).toBe("no: a virtual GPU has none");
    expect(factOf(PARAVIRTUAL, "residency_sets").value).toBe("no: a virtual GPU has none");
    const opened = { logging: true, mayCapture: false };
    expect(missingNeeds(["shader_log"], { profile: profileOf(M3_MAX), ...opened })).toBeUndefined();
    expect(missingNeeds(["shader_log"], { profile: profileOf(PARAVIRTUAL), ...opened })).toBe(
      "a virtual GPU has no log of kernels",
    );
    expect(factOf(changed(M5, {}, { sdkVersion: 140200 }), "residency_sets").value).toBe(
      "no: MTLResidencySet needs an addon built with the SDK of macOS 15; this one was with that of 14",
    );
  });

  it("tell the working set, the families and the SDK as they were read", () => {
    expect(factOf(M3_MAX, WORKING_SET_FACT).value).toBe(String(36 * 2 ** 30));
    expect(factOf(M5, "families").value).toBe(
      "Apple5 (1005), Apple6 (1006), Apple7 (1007), Apple8 (1008), Apple9 (1009), Apple10 (1010), Metal3 (5001), Metal4 (5002)",
    );
    expect(factOf(M5, "sdk").value).toBe("macOS 26.1");
    expect(factOf(changed(M5, {}, { sdkVersion: 140200 }), "sdk").value).toBe("macOS 14.2");
    expect(factOf(M3_MAX, "offline_compiler").value).toContain("metalfe-32023.620");
    expect(factOf(M3_MAX, "stage_boundary_sampling").value).toBe("yes");
    expect(factOf(PARAVIRTUAL, "stage_boundary_sampling").value).toBe("no");
  });
});
