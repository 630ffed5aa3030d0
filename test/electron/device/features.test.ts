/** The capability table: every family answers every row; what is not held says what it lacks; unknown stays unknown. */
import { describe, expect, it } from "vitest";
import { FEATURE_GROUPS, FEATURES, featuresOf } from "../../../electron/device/features.ts";
import { capabilitiesOf } from "../../../electron/dispatch/capabilities.ts";
import { M3_REFUSAL } from "../../../kernels/mla_prefill/routes.ts";
import type { RouteCapabilities } from "../../../kernels/route.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";

const on = (chip: string): RouteCapabilities => capabilitiesOf(emulatedProfile(chip));

function row(capabilities: RouteCapabilities, id: string) {
  const found = featuresOf(capabilities).find((feature) => feature.id === id);
  if (found === undefined) throw new Error(`no feature ${id}`);
  return found;
}

describe("the capability table", () => {
  it("has one row for each feature, with a source, in a group", () => {
    const ids = FEATURES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const chip of ["M1", "M2", "M3 Max", "M5"]) {
      for (const feature of featuresOf(on(chip))) {
        expect(FEATURE_GROUPS).toContain(feature.group);
        for (const text of [feature.title, feature.matters, feature.requires, feature.actual, feature.reason]) {
          expect(text).not.toBe("");
        }
        expect(feature.source).not.toBe("");
      }
    }
  });

  it("gives 16x16 to Apple10 alone, and quotes the M3's refusal elsewhere", () => {
    expect(row(on("M5"), "matrix_16x16").state).toBe("held");
    const refused = row(on("M3 Max"), "matrix_16x16");
    expect(refused.state).toBe("not_held");
    expect(refused.reason).toContain(M3_REFUSAL);
    expect(refused.reason).not.toContain("macOS");
  });

  it("says on what matmul2d runs, by the family", () => {
    expect(row(on("M1"), "matmul2d")).toMatchObject({ state: "held" });
    expect(row(on("M1"), "matmul2d").reason).toContain("8x8 engine");
    expect(row(on("M5"), "matmul2d").reason).toContain("16x16x16");
  });

  it("follows the language and the system, not the family alone", () => {
    const old: RouteCapabilities = { ...on("M5"), metalVersion: "3.0", macos: "13.6" };
    expect(row(old, "simdgroup_matrix_bfloat").state).toBe("not_held");
    expect(row(old, "matrix_16x16").state).toBe("not_held");
    expect(row(old, "simd_reductions").state).toBe("held");
    expect(row({ ...old, macos: "unknown" }, "architecture_name").state).toBe("not_held");
  });

  it("takes native bfloat and dynamic registers from the chip table", () => {
    expect(["M1", "M2", "M3 Max", "M5"].map((chip) => row(on(chip), "bfloat_alu").state)).toEqual([
      "not_held",
      "not_held",
      "held",
      "held",
    ]);
    expect(["M2", "M3 Max"].map((chip) => row(on(chip), "dynamic_registers").state)).toEqual(["not_held", "held"]);
  });

  it("holds a limit to the device's own", () => {
    expect(row({ ...on("M3 Max"), maxThreadgroupMemoryBytes: 16_384 }, "threadgroup_memory").state).toBe("not_held");
  });

  it("does not claim what no source says", () => {
    for (const id of ["residency_sets", "coherence"]) {
      expect(row(on("M5"), id)).toMatchObject({ state: "not_known", requires: "not known" });
    }
  });

  it("refuses a family that the chip table does not have", () => {
    expect(() => featuresOf({ ...on("M5"), appleFamily: 11 })).toThrow("no family Apple11");
  });
});
