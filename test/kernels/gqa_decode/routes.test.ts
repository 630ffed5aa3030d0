import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as geometry from "../../../kernels/gqa_decode/geometry.ts";
import { GQA_DECODE_ROUTES } from "../../../kernels/gqa_decode/routes.ts";
import type { DecodeShape, RouteCapabilities, RoutePlan } from "../../../kernels/route.ts";
import { LONG_DECODE, M3 } from "../shapes.ts";

function plan(name: string, change: Partial<DecodeShape> = {}): RoutePlan {
  return route(name).plan({ ...LONG_DECODE, ...change });
}

function route(name: string) {
  const found = GQA_DECODE_ROUTES.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no route ${name}`);
  return found;
}

function bytes(routePlan: RoutePlan, name: string): number | undefined {
  return routePlan.buffers.find((buffer) => buffer.name === name)?.bytes;
}

/** Ids of the predicates that do not hold. */
function refused(name: string, shape: Partial<DecodeShape>, capabilities: Partial<RouteCapabilities> = {}): string[] {
  return route(name)
    .predicates({ ...LONG_DECODE, ...shape }, { ...M3, ...capabilities })
    .filter((result) => !result.holds)
    .map((result) => result.id);
}

test("the routes and their order", () => {
  expect(GQA_DECODE_ROUTES.map((candidate) => candidate.name)).toEqual([
    "three_stage",
    "three_stage_staged",
    "fused_split_kv_p32",
    "fused_split_kv_p64",
    "fused_split_kv_p128",
    "fused_split_kv_p256",
    "naive",
  ]);
});

describe("three_stage in the production shape", () => {
  test("scores are 32 x live f32 and the partials 1 MiB", () => {
    const routePlan = plan("three_stage");
    expect(bytes(routePlan, "scores")).toBe(8 * 2 ** 20);
    expect(bytes(plan("three_stage", { live: 131_072, capacity: 131_072 }), "scores")).toBe(16 * 2 ** 20);
    expect(bytes(routePlan, "partials")).toBe(2 ** 20);
    expect(routePlan.scratchBytes).toBe(9 * 2 ** 20);
  });

  test.each(["three_stage", "three_stage_staged"])("%s: stages and geometry", (name) => {
    const stages = plan(name).dispatches.map((dispatch) => [
      dispatch.stage,
      dispatch.threadgroups,
      dispatch.threadsPerThreadgroup[0],
    ]);
    expect(stages).toEqual([
      ["score", [4, 1024, 1], 256],
      ["normalise", [32, 1, 1], 1024],
      ["value", [16, 16, 4], 256],
      ["reduce", [64, 1, 1], 256],
    ]);
  });

  test("no live token still dispatches one threadgroup", () => {
    expect(plan("three_stage", { live: 0 }).dispatches[0]?.threadgroups).toEqual([4, 1, 1]);
    expect(bytes(plan("three_stage", { live: 0, capacity: 0 }), "k")).toBe(4);
  });
});

describe("fused_split_kv", () => {
  test("P = 32 has exactly 2,105,344 bytes of scratch", () => {
    const routePlan = plan("fused_split_kv_p32");
    expect(["maxima", "sums", "numerators"].map((name) => bytes(routePlan, name))).toEqual([4096, 4096, 2_097_152]);
    expect(routePlan.scratchBytes).toBe(2_105_344);
  });

  test.each([32, 64, 128, 256])("P = %i: scratch is linear in P", (partitions) => {
    expect(plan(`fused_split_kv_p${partitions}`).scratchBytes).toBe((partitions / 32) * 2_105_344);
  });

  test("scratch does not grow with the context", () => {
    expect(plan("fused_split_kv_p32", { live: 1 }).scratchBytes).toBe(plan("fused_split_kv_p32").scratchBytes);
  });

  test("resources: 256 threads, 16,384 dynamic bytes, then no dynamic bytes", () => {
    const { contracts, dispatches } = plan("fused_split_kv_p64");
    expect(contracts.map((c) => [c.kernel, c.simdWidth, c.threads, c.dynamicThreadgroupBytes])).toEqual([
      ["gqa_fused_partial", 32, 256, 16_384],
      ["gqa_fused_merge", 32, 256, 0],
    ]);
    expect(dispatches.map((d) => [d.threadgroups, d.threadsPerThreadgroup, d.threadgroupMemory])).toEqual([
      [[4, 64, 1], [256, 1, 1], [16_384]],
      [[32, 1, 1], [256, 1, 1], []],
    ]);
  });
});

test.each(GQA_DECODE_ROUTES.map((candidate) => candidate.name))("%s: contracts match the dispatches", (name) => {
  const { dispatches, contracts, buffers, scratchBytes } = plan(name);
  expect(contracts.map((c) => [c.kernel, c.threads, c.dynamicThreadgroupBytes])).toEqual(
    dispatches.map((d) => [d.kernel, d.threadsPerThreadgroup[0], d.threadgroupMemory[0] ?? 0]),
  );
  for (const dispatch of dispatches) {
    for (const used of dispatch.buffers) expect(buffers.map((buffer) => buffer.name)).toContain(used);
    expect(dispatch.params.length).toBe(20);
  }
  const scratch = buffers.filter((buffer) => buffer.role === "scratch");
  expect(scratchBytes).toBe(scratch.reduce((sum, buffer) => sum + buffer.bytes, 0));
});

test("parameters are the struct of decode.h", () => {
  const params = plan("fused_split_kv_p128", { live: 8193, scale: 0.5 }).dispatches[0]!.params;
  const view = new DataView(params.buffer);
  expect([0, 4, 8, 12].map((offset) => view.getUint32(offset, true))).toEqual([32, 4, 8193, 128]);
  expect(view.getFloat32(16, true)).toBe(0.5);
});

describe("predicates", () => {
  test.each(GQA_DECODE_ROUTES.map((candidate) => candidate.name))("%s holds in the production shape", (name) => {
    expect(refused(name, {})).toEqual([]);
  });

  test.each([
    ["heads_divide", { heads: 30 }],
    ["heads_divide", { heads: 0 }],
    ["group_size", { heads: 36, kvHeads: 4 }],
    ["head_dim", { dim: 48 }],
    ["head_dim", { dim: 544 }],
    ["live_tokens", { live: 65_537 }],
    ["live_tokens", { live: -1 }],
    ["live_tokens", { live: 2 ** 31, capacity: 2 ** 31 }],
    ["scale_finite", { scale: 1e39 }],
  ] as const)("%s fails for %o", (id, change) => {
    expect(refused("three_stage", change)).toContain(id);
    expect(() => plan("three_stage", change)).toThrow(RangeError);
  });

  test.each([
    ["apple_family", { appleFamily: 5 }],
    ["metal_version", { metalVersion: "3.0" }],
    ["threads_per_threadgroup", { maxThreadsPerThreadgroup: 512 }],
    ["threadgroup_memory", { maxThreadgroupMemoryBytes: 8_191 }],
  ] as const)("%s fails for %o", (id, change) => {
    expect(refused("three_stage", {}, change)).toEqual([id]);
  });

  test("the fused route has one geometry", () => {
    expect(refused("fused_split_kv_p32", { dim: 256 })).toEqual(["fused_head_dim"]);
    expect(refused("fused_split_kv_p32", { heads: 16 })).toEqual(["fused_group_size"]);
    expect(refused("fused_split_kv_p32", {}, { maxThreadsPerThreadgroup: 255 })).toEqual(["threads_per_threadgroup"]);
    expect(refused("fused_split_kv_p32", {}, { maxThreadgroupMemoryBytes: 16_383 })).toEqual(["threadgroup_memory"]);
    expect(() => plan("fused_split_kv_p32", { dim: 256 })).toThrow("a head width of exactly 512, but it is 256");
  });
});

test("products that overflow or exceed a buffer are refused", () => {
  const large = { live: 2 ** 24, capacity: 2 ** 24 };
  expect(() => plan("three_stage", large)).toThrow("buffer k is 137,438,953,472 bytes; the limit is 17,179,869,184");
  expect(() => plan("naive", { heads: 2 ** 50, kvHeads: 2 ** 50, live: 1, capacity: 1 })).toThrow("overflows");
});

test("the sources hold the constants of the table", () => {
  const source = ["stages.h", "decode.h", "three_stage_staged.metal", "fused_split_kv.metal", "naive.metal"]
    .map((file) => readFileSync(new URL(`../../../kernels/gqa_decode/${file}`, import.meta.url), "utf8"))
    .join("\n");
  const constant = (name: string): number => {
    const match = new RegExp(`constant constexpr uint ${name} = (\\d+);`).exec(source);
    if (!match) throw new Error(`${name} is not in the sources`);
    return Number(match[1]);
  };
  expect(constant("SIMD_WIDTH")).toBe(geometry.SIMD_WIDTH);
  expect(constant("SCORE_TILE")).toBe(geometry.SCORE_TILE);
  expect(constant("SCORE_BLOCK")).toBe(geometry.SCORE_BLOCK);
  expect(constant("NORMALISE_THREADS")).toBe(geometry.NORMALISE_THREADS);
  expect(constant("VALUE_PARTITIONS")).toBe(geometry.VALUE_PARTITIONS);
  expect(constant("VALUE_THREADS")).toBe(geometry.VALUE_THREADS);
  expect(constant("TILE_QUADS") * 4).toBe(geometry.VALUE_TILE_DIM);
  expect(constant("STAGED_TOKENS")).toBe(geometry.STAGED_TOKENS);
  expect(constant("TILE")).toBe(geometry.FUSED_TILE);
  expect(constant("PARTIAL_THREADS")).toBe(geometry.FUSED_THREADS);
  expect(constant("MERGE_THREADS")).toBe(geometry.FUSED_THREADS);
  expect(constant("NAIVE_THREADS")).toBe(geometry.NAIVE_THREADS);
});
