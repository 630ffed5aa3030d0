import { describe, expect, test } from "vitest";
import { capabilitiesOf, type Decision, dispatch } from "../../../electron/dispatch/dispatch.ts";
import type { DecodeShape, PrefillShape, RouteCapabilities } from "../../../kernels/route.ts";
import { chipTable } from "../../../native/chips.ts";
import type { DeviceProfile } from "../../../native/device.ts";
import { M3, M5 } from "../../kernels/shapes.ts";

const DECODE: DecodeShape = {
  operator: "gqa_decode",
  heads: 32,
  kvHeads: 4,
  dim: 512,
  live: 8192,
  capacity: 8192,
  scale: 1,
  dtype: "f32",
};
const PREFILL: PrefillShape = {
  operator: "mla_prefill",
  heads: 16,
  nope: 128,
  rope: 64,
  value: 128,
  cuSeqlensQ: [0, 77],
  cuSeqlensK: [0, 77],
  qOffset: [0],
  scale: 0.1147213867929261,
  dtype: "bf16",
};

function candidate(decision: Decision, route: string) {
  const found = decision.candidates.find((entry) => entry.route === route);
  if (!found) throw new Error(`${route} is no candidate`);
  return found;
}

describe("decode", () => {
  test.each([0, 1, 8191, 8192, 131_072])("production at %i tokens is three_stage", (live) => {
    const decision = dispatch({ ...DECODE, live, capacity: 131_072 }, M3);
    expect(decision.route).toBe("three_stage");
    expect(decision.candidates.filter((entry) => entry.chosen).map((entry) => entry.route)).toEqual(["three_stage"]);
    expect(decision.reasons[0]).toBe("three_stage: the production route, and all 9 requirements hold");
  });

  test("every route is listed with its requirements", () => {
    const decision = dispatch(DECODE, M3);
    expect(decision.candidates.map(({ route, applicable }) => [route, applicable])).toEqual([
      ["three_stage", true],
      ["three_stage_staged", true],
      ["fused_split_kv_p32", true],
      ["fused_split_kv_p64", true],
      ["fused_split_kv_p128", true],
      ["fused_split_kv_p256", true],
      ["naive", true],
    ]);
    for (const entry of decision.candidates) expect(entry.predicates.length).toBeGreaterThan(0);
  });

  test("fused below 8,192 tokens misses the prefix and the promotion", () => {
    const { policy } = candidate(dispatch({ ...DECODE, live: 8191 }, M3), "fused_split_kv_p32");
    expect(policy.map(({ id, actual, holds }) => [id, actual, holds])).toEqual([
      ["fused_prefix", "8,191", false],
      ["forced_or_promoted", "neither", false],
    ]);
  });

  test("a promoted route is taken from 8,192 tokens on", () => {
    const promoted = ["fused_split_kv_p64"];
    expect(dispatch({ ...DECODE, live: 8191 }, M3, { promoted }).route).toBe("three_stage");
    const decision = dispatch(DECODE, M3, { promoted });
    expect(decision.route).toBe("fused_split_kv_p64");
    expect(decision.reasons[0]).toBe("fused_split_kv_p64: promoted, and all 11 requirements hold");
    expect(candidate(decision, "three_stage").why).toBe("another route comes first");
    expect(dispatch(DECODE, M3, { promoted: ["naive"] }).route).toBe("three_stage");
  });

  test("a forced route is taken at any length", () => {
    const decision = dispatch({ ...DECODE, live: 1 }, M3, { forced: "fused_split_kv_p256" });
    expect(decision.route).toBe("fused_split_kv_p256");
    expect(decision.reasons).toEqual(["fused_split_kv_p256: forced, and all 11 requirements hold"]);
    expect(candidate(decision, "three_stage").why).toBe("fused_split_kv_p256 is forced");
  });

  test("a forced route whose requirements do not hold is refused, not replaced", () => {
    const decision = dispatch({ ...DECODE, heads: 16 }, M3, { forced: "fused_split_kv_p32" });
    expect(decision.route).toBeNull();
    expect(decision.reasons).toEqual([
      "no route is taken by itself",
      "fused_split_kv_p32: needs exactly 8 query heads per KV head, but it is 4 " +
        "(256 threads are 8 simdgroups, one per query head that shares the staged K and V)",
    ]);
  });

  test("no route where the shape fits none", () => {
    const decision = dispatch({ ...DECODE, heads: 30 }, M3);
    expect(decision.route).toBeNull();
    expect(decision.candidates.every((entry) => !entry.applicable)).toBe(true);
    expect(decision.reasons).toHaveLength(8);
  });

  test("unknown names are errors that list the known ones", () => {
    expect(() => dispatch(DECODE, M3, { forced: "fused" })).toThrow(
      'gqa_decode has no route "fused": use one of three_stage, three_stage_staged, fused_split_kv_p32',
    );
    expect(() => dispatch(DECODE, M3, { promoted: ["simdgroup_8x8"] })).toThrow(RangeError);
  });
});

describe("prefill", () => {
  test("an M3 takes 8x8, and the refusal cites the recorded message", () => {
    const decision = dispatch(PREFILL, M3);
    expect(decision.route).toBe("simdgroup_8x8");
    const refused = candidate(decision, "matrix_16x16");
    expect(refused.applicable).toBe(false);
    expect(refused.why).toContain(
      "needs Apple10 or later, but it is Apple9 (an M3 refuses the pipeline: " +
        '"simdgroup_matrix<T,16,16x16> operations are supported by GPUFamily10 and later")',
    );
    expect(decision.reasons[1]).toBe(`matrix_16x16: ${refused.why}`);
  });

  test("an M5 could take 16x16, but its kernel is not built yet", () => {
    const decision = dispatch(PREFILL, M5);
    expect(decision.route).toBe("simdgroup_8x8");
    const planned = candidate(decision, "matrix_16x16");
    expect([planned.status, planned.applicable, planned.chosen]).toEqual(["planned", true, false]);
    expect(planned.why).toContain("needs a kernel, but it is not built yet");
    expect(dispatch(PREFILL, M5, { forced: "matrix_16x16" }).route).toBeNull();
  });

  test.each([
    ["metal_4", { metalVersion: "3.2" }, {}],
    ["macos_26_2", { macos: "26.1" }, {}],
    ["dtype_16_bit", {}, { dtype: "f32" as const }],
  ])("16x16 misses %s", (id, device, shape) => {
    const decision = dispatch({ ...PREFILL, ...shape }, { ...M5, ...device });
    const misses = candidate(decision, "matrix_16x16").predicates.filter((result) => !result.holds);
    expect(misses.map((result) => result.id)).toEqual([id]);
    expect(decision.route).toBe("simdgroup_8x8");
  });

  test("naive runs only when forced", () => {
    expect(dispatch(PREFILL, M3, { forced: "naive" }).route).toBe("naive");
  });
});

describe("what if: every chip of the table", () => {
  const limits = chipTable().common_limits;
  test.each(chipTable().chips.map((chip) => [chip.name, chip.mtl_gpu_family] as const))("%s (%s)", (_, family) => {
    const capabilities: RouteCapabilities = {
      appleFamily: Number(family.slice("apple".length)),
      metalVersion: "4.0",
      macos: "26.2",
      maxThreadsPerThreadgroup: limits.max_threads_per_threadgroup,
      maxThreadgroupMemoryBytes: limits.max_threadgroup_memory_bytes,
    };
    expect(dispatch(DECODE, capabilities).route).toBe("three_stage");
    const prefill = dispatch(PREFILL, capabilities);
    expect(prefill.route).toBe("simdgroup_8x8");
    expect(candidate(prefill, "matrix_16x16").applicable).toBe(family === "apple10");
  });
});

describe("capabilities of a device", () => {
  const known = <T>(value: T) => ({ value, by: "table", source: "test" }) as const;
  const profile: DeviceProfile = {
    id: "emulated:apple9",
    execution: "emulated",
    name: known("Emulated M5 Max"),
    chip: known("M5 Max"),
    architecture: known("applegpu_g17s"),
    family: known("apple9"),
    metalVersion: known("Metal 4.0"),
    os: known("macOS 26.2"),
    gpuCores: known(undefined),
    limits: known({
      simdWidth: 32,
      maxThreadsPerThreadgroup: 1024,
      maxThreadgroupMemoryBytes: 32_768,
      threadgroupMemoryAlignmentBytes: 16,
      bufferSlots: 31,
      setBytesMax: 4096,
    }),
    toolchain: known("clang 19"),
  };

  test("are the family, versions and limits, never the name", () => {
    expect(capabilitiesOf(profile)).toEqual({ ...M3, metalVersion: "4.0", macos: "26.2" });
    const decision = dispatch(PREFILL, capabilitiesOf(profile));
    expect(candidate(decision, "matrix_16x16").applicable).toBe(false);
    const renamed = { ...profile, name: known("x"), chip: known("y"), architecture: known("z") };
    expect(dispatch(PREFILL, capabilitiesOf(renamed))).toEqual(decision);
  });

  test("an OS that is not macOS has no macOS version", () => {
    const linux = { ...profile, family: known("apple10" as const), os: known("Linux 6.1") };
    expect(capabilitiesOf(linux).macos).toBe("unknown");
    expect(candidate(dispatch(PREFILL, capabilitiesOf(linux)), "matrix_16x16").applicable).toBe(false);
  });
});
