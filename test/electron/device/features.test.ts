/** The capability table: every family answers every row; what is not held says what it lacks; unknown stays unknown. */
import { describe, expect, it } from "vitest";
import { FEATURE_GROUPS, FEATURES, type FeatureDevice, featuresOf } from "../../../electron/device/features.ts";
import { capabilitiesOf } from "../../../electron/dispatch/capabilities.ts";
import { M3_REFUSAL } from "../../../kernels/mla_prefill/routes.ts";
import type { RouteCapabilities } from "../../../kernels/route.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";

const on = (chip: string): RouteCapabilities => capabilitiesOf(emulatedProfile(chip));

function row(capabilities: RouteCapabilities, id: string, device?: FeatureDevice) {
  const found = featuresOf(capabilities, device).find((feature) => feature.id === id);
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
    expect(row(on("M5"), "coherence")).toMatchObject({ state: "not_known", requires: "not known" });
  });

  it("leaves open of Apple11 what only the chip table tells, and answers the rest", () => {
    const next = { ...on("M5"), appleFamily: 11 };
    for (const id of ["bfloat_alu", "dynamic_registers"]) {
      expect(row(next, id)).toMatchObject({
        state: "not_known",
        reason: expect.stringContaining("nothing of Apple11"),
      });
    }
    expect(row(next, "simdgroup_matrix_8x8").state).toBe("held");
    expect(row(next, "matrix_16x16").state).toBe("held");
    expect(row(next, "matmul2d").reason).toContain("nothing of Apple11");
  });

  it("brackets registers on Apple7 and Apple8 alone", () => {
    const states = ["M1", "M2", "M3 Max", "M5"].map((chip) => row(on(chip), "register_bracket").state);
    expect(states).toEqual(["held", "held", "not_held", "not_held"]);
  });
});

describe("the capability table of a device", () => {
  const measuring = ["stage_counters", "command_buffer_times", "validation_run", "gpu_capture", "shader_validation"];
  const fact = (id: string, value: string | null, by: "api" | "inferred" = "api") => ({
    id,
    label: id,
    value,
    by,
    source: "supportsCounterSampling:",
    reason: value === null ? "not asked" : null,
  });

  it("an emulated one has no counters, validation or capture, whatever the chip would have", () => {
    const profile = emulatedProfile("M3 Max");
    for (const id of measuring) {
      expect(row(on("M3 Max"), id).state, id).toBe("held");
      const here = row(on("M3 Max"), id, profile);
      expect(here, id).toMatchObject({ state: "not_held", requires: "a Metal device", actual: "emulated" });
      expect(here.reason).toMatch(/^emulated: .*; the chip would have it$/);
    }
    expect(row(on("M3 Max"), "register_bracket", profile).reason).toContain("would not have it either");
    expect(row(on("M3 Max"), "shader_log", profile).state).toBe("held");
  });

  it("what a Metal device answered counts before the prediction; a guess does not", () => {
    const device = (...facts: ReturnType<typeof fact>[]): FeatureDevice => ({ execution: "metal", facts });
    const asked = row(on("M3 Max"), "stage_counters", device(fact("stage_boundary_sampling", "no")));
    expect(asked).toMatchObject({ state: "not_held", by: "api" });
    expect(row(on("M3 Max"), "dispatch_counters", device(fact("dispatch_boundary_sampling", "yes"))).state).toBe(
      "held",
    );
    for (const doubtful of [fact("stage_boundary_sampling", null), fact("stage_boundary_sampling", "no", "inferred")]) {
      expect(row(on("M3 Max"), "stage_counters", device(doubtful))).toMatchObject({ state: "held", by: "predicted" });
    }
  });

  it("of a virtual GPU nothing is predicted that its hypervisor decides", () => {
    const device: FeatureDevice = {
      execution: "metal",
      virtualGpu: { value: true, by: "api", source: "kern.hv_vmm_present" },
      facts: [fact("stage_boundary_sampling", "yes")],
    };
    const lent = { ...on("M3 Max"), appleFamily: 5 };
    for (const id of ["validation_run", "gpu_capture", "command_buffer_times"]) {
      expect(row(lent, id, device)).toMatchObject({
        state: "not_known",
        reason: expect.stringContaining("hypervisor"),
      });
    }
    expect(row(lent, "stage_counters", device)).toMatchObject({ state: "held", by: "api" });
    expect(row(lent, "simd_reductions", device).state).toBe("not_held");
  });
});
