import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MLA_PREFILL_ROUTES } from "../../../kernels/mla_prefill/routes.ts";
import * as tiles from "../../../kernels/mla_prefill/tiles.ts";
import type { KernelDtype, PrefillShape, RouteCapabilities, RoutePlan } from "../../../kernels/route.ts";
import { ELEMENT_BYTES } from "../../../kernels/sizes.ts";
import { M5 } from "../shapes.ts";

const RAGGED: PrefillShape = {
  operator: "mla_prefill",
  heads: 16,
  nope: 128,
  rope: 64,
  value: 128,
  cuSeqlensQ: [0, 77, 77, 333, 366],
  cuSeqlensK: [0, 77, 77, 333, 366],
  qOffset: [0, 0, 0, 0],
  scale: 0.1147213867929261,
  dtype: "bf16",
};

function route(name: string) {
  const found = MLA_PREFILL_ROUTES.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no route ${name}`);
  return found;
}

function plan(name: string, change: Partial<PrefillShape> = {}): RoutePlan {
  return route(name).plan({ ...RAGGED, ...change });
}

function refused(name: string, shape: Partial<PrefillShape>, capabilities: Partial<RouteCapabilities> = {}): string[] {
  return route(name)
    .predicates({ ...RAGGED, ...shape }, { ...M5, ...capabilities })
    .filter((result) => !result.holds)
    .map((result) => result.id);
}

test("the routes and which of them have a kernel", () => {
  expect(MLA_PREFILL_ROUTES.map(({ name, status }) => [name, status])).toEqual([
    ["matrix_16x16", "planned"],
    ["simdgroup_8x8", "built"],
    ["naive", "built"],
  ]);
  expect(() => plan("matrix_16x16")).toThrow("matrix_16x16 has no kernel yet: use simdgroup_8x8");
});

test("simdgroup_8x8: geometry, macros and threadgroup bytes of DeepSeek-V2-Lite", () => {
  const { dispatches, defines, scratchBytes } = plan("simdgroup_8x8");
  expect(scratchBytes).toBe(0);
  expect(defines).toEqual({
    ELEMENT: "bfloat",
    NOPE_DIM: 128,
    ROPE_DIM: 64,
    VALUE_DIM: 128,
    KV_ROWS: 32,
    KEY_CHUNK: 192,
    VALUE_CHUNK: 128,
    QUERY_RESIDENT: 1,
  });
  expect(dispatches.map((d) => [d.threadgroups, d.threadsPerThreadgroup, d.threadgroupMemory])).toEqual([
    [[8, 16, 4], [128, 1, 1], [12_800]],
  ]);
});

test("buffers in the order of the kernel's arguments", () => {
  const { buffers, dispatches } = plan("naive");
  expect(buffers.map(({ name, bytes }) => `${name} ${bytes}`)).toEqual([
    `q_nope ${366 * 16 * 128 * 2}`,
    `q_rope ${366 * 16 * 64 * 2}`,
    `k_nope ${366 * 16 * 128 * 2}`,
    `k_rope ${366 * 64 * 2}`,
    `v ${366 * 16 * 128 * 2}`,
    "cu_seqlens_q 20",
    "cu_seqlens_k 20",
    "q_offset 16",
    `scores ${366 * 16 * 256 * 4}`,
    `out ${366 * 16 * 128 * 2}`,
    `lse ${366 * 16 * 4}`,
  ]);
  expect(dispatches.map((d) => d.threadgroups)).toEqual([[256, 16, 4]]);
});

test("the parameters are the struct of sequence.h", () => {
  const view = new DataView(plan("naive").dispatches[0]!.params.buffer);
  expect([view.byteLength, view.getUint32(0, true), view.getUint32(4, true)]).toEqual([12, 16, 256]);
  expect(view.getFloat32(8, true)).toBe(Math.fround(0.1147213867929261));
});

describe("staging fits and divides", () => {
  const widths = [
    [16, 16, 16],
    [128, 64, 128],
    [192, 16, 256],
    [512, 64, 512],
    [944, 80, 496],
  ] as const;
  test.each(widths.flatMap((w) => (["f32", "f16", "bf16"] as const).map((dtype) => [...w, dtype] as const)))(
    "%i + %i / %i in %s",
    (nope: number, rope: number, value: number, dtype: KernelDtype) => {
      const stage = tiles.stagePlan(nope + rope, value, dtype);
      expect((nope + rope) % stage.keyChunk).toBe(0);
      expect(value % stage.valueChunk).toBe(0);
      expect(stage.keyChunk % 16).toBe(0);
      expect(stage.valueChunk % 16).toBe(0);
      const element = ELEMENT_BYTES[dtype];
      const keyRows = stage.queryResident ? 32 : 64;
      const rowBytes = (columns: number): number => columns * element + tiles.ROW_PADDING_BYTES;
      expect(stage.bytes).toBe(Math.max(keyRows * rowBytes(stage.keyChunk), 32 * rowBytes(stage.valueChunk)));
      expect(stage.bytes).toBeLessThanOrEqual(tiles.STAGE_TARGET_BYTES);
    },
  );

  test("512 + 64 / 512 in f32", () => {
    expect(tiles.stagePlan(576, 512, "f32")).toEqual({
      keyChunk: 48,
      valueChunk: 64,
      queryResident: false,
      bytes: 13_312,
    });
  });
});

describe("predicates", () => {
  test.each(["matrix_16x16", "simdgroup_8x8", "naive"])("%s holds on an M5", (name) => {
    expect(refused(name, {})).toEqual([]);
  });

  test.each([
    ["heads", { heads: 0 }],
    ["widths", { nope: 120 }],
    ["widths", { rope: 0 }],
    ["widths", { value: 8 }],
    ["cu_seqlens", { cuSeqlensQ: [0, 77, 76, 333, 366] }],
    ["cu_seqlens", { cuSeqlensK: [1, 77, 77, 333, 366] }],
    ["cu_seqlens", { cuSeqlensK: [0, 77, 77, 333] }],
    ["cu_seqlens", { cuSeqlensQ: [0, 1.5, 77, 333, 366] }],
    ["cu_seqlens", { cuSeqlensQ: [0, 77, 77, 333, 2 ** 31] }],
    ["cu_seqlens", { cuSeqlensQ: [0], cuSeqlensK: [0], qOffset: [] }],
    ["q_offset", { qOffset: [0, 0, 0.5, 0] }],
    ["q_offset", { qOffset: [0, 0, 0, 2 ** 31] }],
    ["scale_finite", { scale: Number.NaN }],
  ] as const)("%s fails for %o", (id, change) => {
    expect(refused("simdgroup_8x8", change)).toContain(id);
    expect(() => plan("simdgroup_8x8", change)).toThrow(RangeError);
    expect(() => plan("naive", change)).toThrow(RangeError);
  });

  test.each([{ nope: 1008 }, { value: 528 }])("%o is too wide for tiles in registers, not for naive", (change) => {
    expect(refused("simdgroup_8x8", change)).toEqual(["widths_limit"]);
    expect(refused("matrix_16x16", change)).toEqual(["widths_limit"]);
    expect(() => plan("simdgroup_8x8", change)).toThrow(RangeError);
    expect(refused("naive", change)).toEqual([]);
    expect(plan("naive", change).dispatches).toHaveLength(1);
  });

  test.each([
    ["apple_family", { appleFamily: 6 }],
    ["metal_version", { metalVersion: "3.0" }],
    ["threads_per_threadgroup", { maxThreadsPerThreadgroup: 127 }],
    ["threadgroup_memory", { maxThreadgroupMemoryBytes: 12_799 }],
  ] as const)("simdgroup_8x8: %s fails for %o", (id, change) => {
    expect(refused("simdgroup_8x8", {}, change)).toEqual([id]);
  });

  test("matrix_16x16: each requirement by itself", () => {
    expect(refused("matrix_16x16", {}, { appleFamily: 9 })).toEqual(["apple10"]);
    expect(refused("matrix_16x16", {}, { metalVersion: "3.2" })).toEqual(["metal_4"]);
    expect(refused("matrix_16x16", {}, { macos: "26.1" })).toEqual(["macos_26_2"]);
    expect(refused("matrix_16x16", {}, { macos: "26.10" })).toEqual([]);
    expect(refused("matrix_16x16", {}, { macos: "unknown" })).toEqual(["macos_26_2"]);
    expect(refused("matrix_16x16", { dtype: "f32" })).toEqual(["dtype_16_bit"]);
    expect(refused("matrix_16x16", { value: 136 })).toEqual(["widths", "multiples_of_16"]);
  });
});

test("a scratch buffer beyond the limit is refused", () => {
  const long = { cuSeqlensQ: [0, 2 ** 17], cuSeqlensK: [0, 2 ** 17], qOffset: [0] };
  expect(() => plan("naive", long)).toThrow("buffer scores is 1,099,511,627,776 bytes; the limit is 17,179,869,184");
});

test("the sources hold the constants of the table", () => {
  const read = (file: string): string =>
    readFileSync(new URL(`../../../kernels/mla_prefill/${file}`, import.meta.url), "utf8");
  expect(read("prefill.h")).toContain(`constant constexpr uint SIMDGROUPS = ${tiles.SIMDGROUPS};`);
  expect(read("prefill.h")).toContain(`ROW_PADDING = ${tiles.ROW_PADDING_BYTES} / sizeof(ELEMENT)`);
  expect(read("fragment_8x8.h")).toContain(`static constant constexpr uint SIDE = ${tiles.FRAGMENT_ROWS};`);
  expect(read("naive.metal")).toContain("constant constexpr uint NAIVE_THREADS = 128;");
});
