import { describe, expect, it } from "vitest";
import {
  alignedBytes,
  checkContract,
  openRequirements,
  type PipelineFacts,
  type Requirement,
  type RequirementId,
  type RouteContract,
  resourceMiss,
} from "../../kernels/contract.ts";
import { contractFor, variantsOf } from "../../kernels/contracts.ts";
import type { CaseShape, PrefillShape, RoutePlan } from "../../kernels/route.ts";
import { findRoute, routesFor } from "../../kernels/routes.ts";
import { LONG_DECODE } from "./shapes.ts";

const PREFILL: PrefillShape = {
  operator: "mla_prefill",
  heads: 4,
  nope: 128,
  rope: 64,
  value: 128,
  cuSeqlensQ: [0, 77],
  cuSeqlensK: [0, 77],
  qOffset: [0],
  scale: 0.1,
  dtype: "f16",
};

const planOf = (shape: CaseShape, route: string): RoutePlan => findRoute(shape.operator, route).plan(shape);

const stated = (value: number) => ({ value, by: "api", source: "a test" });

/** Receipts that keep the contract to the byte. */
function kept(contract: RouteContract, change: Partial<PipelineFacts> = {}): readonly PipelineFacts[] {
  return contract.kernels.map(({ kernel, staticBytes }) => ({
    function: kernel,
    simdWidth: stated(32),
    maxTotalThreadsPerThreadgroup: stated(1024),
    staticThreadgroupMemoryBytes: stated(alignedBytes(staticBytes)),
    ...change,
  }));
}

function checked(change: Partial<PipelineFacts> = {}, plan: Partial<RoutePlan> = {}, shape: CaseShape = LONG_DECODE) {
  const route = shape.operator === "gqa_decode" ? "fused_split_kv_p32" : "simdgroup_8x8";
  const contract = contractFor(shape, route)!;
  return checkContract(contract, { ...planOf(shape, route), ...plan }, kept(contract, change));
}

/** Ids of what does not hold, with both sides. */
function broken(check: ReturnType<typeof checkContract>): readonly (readonly [RequirementId, number, number | null])[] {
  return openRequirements(check).broken.map(({ requirement: { id, required, actual } }) => [id, required, actual]);
}

describe("the contract of the fused route", () => {
  it("is 256 threads, exactly 16,384 dynamic bytes and 2,105,344 bytes of scratch for 32 partitions", () => {
    const contract = contractFor(LONG_DECODE, "fused_split_kv_p32")!;
    expect(contract.scratchBytes).toBe(2_105_344);
    expect(contract.kernels[0]).toMatchObject({ threads: 256, dynamicBytes: { relation: "=", value: 16_384 } });
    expect(contractFor(LONG_DECODE, "fused_split_kv_p256")!.scratchBytes).toBe(8 * 2_105_344);
    expect(broken(checked())).toEqual([]);
    expect(openRequirements(checked())).toMatchObject({ unknown: 0, held: 13 });
  });

  it("does not hold with a tile of 8: 32,768 bytes, all that a threadgroup has", () => {
    const plan = planOf(LONG_DECODE, "fused_split_kv_p32");
    const dispatches = variantsOf(LONG_DECODE, plan);
    expect(dispatches.map(({ stage, threadgroupMemory }) => [stage, threadgroupMemory])).toEqual([
      ["partial, tile 8", [32_768]],
    ]);
    expect(broken(checked({}, { dispatches }))).toEqual([["dynamic_bytes", 16_384, 32_768]]);
    expect(variantsOf(LONG_DECODE, planOf(LONG_DECODE, "three_stage"))).toEqual([]);
  });
});

describe("each requirement fails where it must", () => {
  const dispatch = planOf(LONG_DECODE, "fused_split_kv_p32").dispatches[0]!;
  const only = (change: Partial<typeof dispatch>): Partial<RoutePlan> => ({ dispatches: [{ ...dispatch, ...change }] });
  const cases: readonly (readonly [RequirementId, Partial<PipelineFacts>, Partial<RoutePlan>])[] = [
    ["simd_width", { simdWidth: stated(64) }, {}],
    ["launchable_threads", { maxTotalThreadsPerThreadgroup: stated(224) }, {}],
    ["dispatched_threads", {}, only({ threadsPerThreadgroup: [128, 1, 1] })],
    ["static_bytes", { staticThreadgroupMemoryBytes: stated(2048) }, {}],
    ["dynamic_bytes", {}, only({ threadgroupMemory: [8192] })],
    ["threadgroup_bytes", { staticThreadgroupMemoryBytes: stated(16_400) }, only({})],
    ["scratch_bytes", {}, { scratchBytes: 2_105_348 }],
  ];
  it.each(cases)("%s", (id, receipt, plan) => {
    expect(broken(checked(receipt, plan)).map(([each]) => each)).toContain(id);
  });

  it("and NaN of a receipt holds nothing", () => {
    const check = checked({ simdWidth: stated(Number.NaN), maxTotalThreadsPerThreadgroup: stated(Number.NaN) });
    expect(new Set(broken(check).map(([id]) => id))).toEqual(new Set(["simd_width", "launchable_threads"]));
  });
});

describe("what no receipt states", () => {
  it("is neither held nor broken, and says so", () => {
    const contract = contractFor(LONG_DECODE, "fused_split_kv_p32")!;
    const check = checkContract(contract, planOf(LONG_DECODE, "fused_split_kv_p32"), []);
    const of = (id: RequirementId): Requirement => check.dispatches[0]!.requirements.find((each) => each.id === id)!;
    expect(of("simd_width")).toMatchObject({ actual: null, held: null, by: "no receipt" });
    expect(of("dynamic_bytes")).toMatchObject({ actual: 16_384, held: true, by: "plan" });
    expect(openRequirements(check)).toMatchObject({ broken: [], unknown: 8 });
  });
});

describe("every built route", () => {
  const shapes: readonly CaseShape[] = [
    LONG_DECODE,
    { ...LONG_DECODE, heads: 4, kvHeads: 4, dim: 32, live: 64, capacity: 64 },
    { ...LONG_DECODE, live: 0, capacity: 1 },
    PREFILL,
    { ...PREFILL, dtype: "f32", cuSeqlensQ: [0, 13, 13], cuSeqlensK: [0, 77, 80], qOffset: [64, 3] },
    { ...PREFILL, nope: 512, rope: 64, value: 512, dtype: "f32" },
  ];
  it("keeps its contract by its plan", () => {
    let seen = 0;
    for (const shape of shapes) {
      for (const { name, status } of routesFor(shape.operator)) {
        if (status !== "built" || (name.startsWith("fused") && shape.operator === "gqa_decode" && shape.dim !== 512))
          continue;
        const contract = contractFor(shape, name)!;
        expect(broken(checkContract(contract, planOf(shape, name), kept(contract))), name).toEqual([]);
        seen++;
      }
    }
    expect(seen).toBe(7 + 3 + 7 + 2 + 2 + 2);
  });

  it("has a contract; others have none", () => {
    expect(contractFor(LONG_DECODE, "fused_split_kv_p48")).toBeUndefined();
    expect(contractFor(PREFILL, "matrix_16x16")).toBeUndefined();
  });

  it("names the same kernels as its plan", () => {
    const contract = contractFor(LONG_DECODE, "naive")!;
    expect(() => checkContract(contract, planOf(LONG_DECODE, "three_stage"), [])).toThrow("has no kernel gqa_score");
  });
});

it("the gate on resources misses a pipeline with both numbers", () => {
  const contract = {
    kernel: "k",
    simdWidth: 32,
    threads: 256,
    dynamicThreadgroupBytes: 16_384,
    threadgroupBytesLimit: 32_768,
    reason: "r",
  };
  const receipt = (threads: number, bytes: number, width = 32, name = "k"): PipelineFacts => ({
    function: name,
    simdWidth: stated(width),
    maxTotalThreadsPerThreadgroup: stated(threads),
    staticThreadgroupMemoryBytes: stated(bytes),
  });
  expect(resourceMiss(contract, [receipt(256, 16_384)])).toBeNull();
  expect(resourceMiss(contract, [receipt(224, 0)])).toBe("k: 224 threads at most, required 256 (r)");
  expect(resourceMiss(contract, [receipt(256, 16_385)])).toContain("32769 threadgroup bytes, limit 32768");
  expect(resourceMiss(contract, [receipt(256, 0, 16)])).toContain("SIMD width 16, required 32");
  expect(resourceMiss(contract, [receipt(Number.NaN, 0)])).toContain("NaN threads");
  expect(resourceMiss(contract, [receipt(256, 0, 32, "other")])).toContain("no pipeline was built");
});
