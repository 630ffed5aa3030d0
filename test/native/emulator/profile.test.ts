import { describe, expect, it } from "vitest";
import { chipTable } from "../../../native/chips.ts";
import { ASSUMED_SYSTEMS, DEFAULT_CHIP, emulatedProfile, emulatedProfiles } from "../../../native/emulator/profile.ts";

describe("profiles of the emulated device", () => {
  it.each([
    ["apple7", "M1", "emulated:apple7"],
    ["apple8", "M2", "emulated:apple8"],
    ["apple9", "M3 Max", "emulated:apple9"],
    ["apple10", "M5", "emulated:apple10"],
    ["M4 Pro", "M4 Pro", "emulated:m4-pro"],
    ["Apple M5 Max", "M5 Max", "emulated:m5-max"],
    ["m2 ultra", "M2 Ultra", "emulated:m2-ultra"],
  ])("%s is %s", (name, chip, id) => {
    const profile = emulatedProfile(name);
    expect(profile).toMatchObject({ id, execution: "emulated", chip: { value: chip } });
  });

  it("A18 Pro is apple9 although its architecture string counts as M5's", () => {
    const profile = emulatedProfile("A18 Pro");
    expect([profile.architecture.value, profile.family.value]).toEqual(["applegpu_g17p", "apple9"]);
  });

  it("never states an emulated fact as measured", () => {
    for (const profile of emulatedProfiles()) {
      const known = [
        profile.name,
        profile.chip,
        profile.architecture,
        profile.family,
        profile.metalVersion,
        profile.os,
      ];
      expect(
        [...known, profile.gpuCores, profile.limits].filter((fact) => fact.by === "api" || fact.by === "probe"),
      ).toEqual([]);
      expect(known.every((fact) => fact.source !== "" && fact.value !== "")).toBe(true);
      expect([profile.os.by, profile.metalVersion.by]).toEqual(["assumed", "assumed"]);
    }
  });

  it("covers every family and every chip of the table, with ids of their own", () => {
    const ids = emulatedProfiles().map((profile) => profile.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(4 + chipTable().chips.length);
    expect(ASSUMED_SYSTEMS.map((system) => system.family)).toEqual(["apple7", "apple8", "apple9", "apple10"]);
  });

  it("the default is a chip of the table", () => {
    expect(emulatedProfile().chip.value).toBe(DEFAULT_CHIP);
  });

  it("states the limits of the table, with their source", () => {
    expect(emulatedProfile("M1").limits).toEqual({
      value: {
        simdWidth: 32,
        maxThreadsPerThreadgroup: 1024,
        maxThreadgroupMemoryBytes: 32_768,
        threadgroupMemoryAlignmentBytes: 16,
        bufferSlots: 31,
        setBytesMax: 4096,
      },
      by: "table",
      source: "native/chips.json, common_limits",
    });
  });

  it("takes the compiler as it was found", () => {
    expect(emulatedProfile("M1", "clang version 19.1.7").toolchain).toMatchObject({
      value: "clang version 19.1.7",
      by: "probe",
    });
    expect(emulatedProfile("M1").toolchain.by).toBe("assumed");
  });

  it("refuses a chip that is not there, with the names there are", () => {
    expect(() => emulatedProfile("M9")).toThrow("There is no chip 'M9' in the chip table; it has M1, M1 Pro");
  });
});
