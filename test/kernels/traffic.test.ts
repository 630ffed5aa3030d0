import { describe, expect, it } from "vitest";
import { flopsOf, minimumBytes, trafficFor } from "../../kernels/contracts.ts";
import type { CaseShape, PrefillShape } from "../../kernels/route.ts";
import { bytesByKind, type RouteTraffic } from "../../kernels/traffic.ts";
import { LONG_DECODE } from "./shapes.ts";

const MIB = 2 ** 20;
const PREFILL: PrefillShape = {
  operator: "mla_prefill",
  heads: 2,
  nope: 128,
  rope: 64,
  value: 128,
  cuSeqlensQ: [0, 40],
  cuSeqlensK: [0, 40],
  qOffset: [0],
  scale: 0.1,
  dtype: "f16",
};

function kinds(shape: CaseShape, route: string): Readonly<Record<string, number>> {
  return Object.fromEntries(bytesByKind(trafficFor(shape, route)!).map(({ kind, bytes }) => [kind, bytes]));
}

function of(traffic: RouteTraffic, stage: string, buffer: string): readonly [number, number] {
  const entries = traffic.entries.filter((entry) => entry.stage === stage && entry.buffer === buffer);
  const sum = (pick: "readBytes" | "writtenBytes"): number => entries.reduce((all, entry) => all + entry[pick], 0);
  return [sum("readBytes"), sum("writtenBytes")];
}

describe("decode", () => {
  it.each([
    [65_536, 176],
    [131_072, 352],
  ])("three_stage moves 22 x 32 x live x 4 bytes of scores: %i tokens, %i MiB", (live, mib) => {
    const shape = { ...LONG_DECODE, live, capacity: live };
    expect(kinds(shape, "three_stage").scores).toBe(22 * 32 * live * 4);
    expect(kinds(shape, "three_stage").scores).toBe(mib * MIB);
    expect(kinds(shape, "three_stage_staged").scores).toBe(mib * MIB);
  });

  it("the fused route reads K and V exactly once and has no scores; 32 partitions cost 2 MiB each way", () => {
    const fused = kinds(LONG_DECODE, "fused_split_kv_p32");
    expect(fused).toMatchObject({ K: 512 * MIB, V: 512 * MIB, partials: 2 * 2_105_344 });
    expect(fused.scores).toBeUndefined();
    expect(kinds(LONG_DECODE, "naive")).toMatchObject({ K: 8 * 512 * MIB, V: 8 * 512 * MIB });
  });

  it("what is written in one dispatch is read in the next", () => {
    const fused = trafficFor(LONG_DECODE, "fused_split_kv_p64")!;
    for (const buffer of ["maxima", "sums", "numerators"]) {
      expect(of(fused, "partial", buffer)[1]).toBe(of(fused, "merge", buffer)[0]);
    }
    const staged = trafficFor(LONG_DECODE, "three_stage")!;
    expect(of(staged, "value", "partials")[1]).toBe(of(staged, "reduce", "partials")[0]);
  });

  it("no route moves less than the minimum", () => {
    expect(minimumBytes(LONG_DECODE)).toBe(2 * 512 * MIB + 2 * 32 * 512 * 4 + 32 * 4);
    for (const route of ["three_stage", "three_stage_staged", "fused_split_kv_p32", "fused_split_kv_p256", "naive"]) {
      const { totalBytes, entries } = trafficFor(LONG_DECODE, route)!;
      expect(totalBytes, route).toBeGreaterThan(minimumBytes(LONG_DECODE));
      expect(entries.reduce((sum, { readBytes, writtenBytes }) => sum + readBytes + writtenBytes, 0)).toBe(totalBytes);
    }
  });

  it("does four operations a head, token and dimension", () => {
    expect(flopsOf(LONG_DECODE)).toBe(4 * 32 * 512 * 65_536);
  });
});

describe("prefill", () => {
  // Two blocks of queries: 32 rows see the first 32 keys, 8 more all 40.
  const pairs = (40 * 41) / 2;

  it("8x8 stages each block of keys for each block of queries, and no scores", () => {
    const moved = kinds(PREFILL, "simdgroup_8x8");
    expect(moved).toEqual({
      K: (32 + 40) * 2 * (128 + 64) * 2,
      V: (32 + 40) * 2 * 128 * 2,
      Q: 40 * 2 * (128 + 64) * 2,
      out: 40 * 2 * 128 * 2 + 40 * 2 * 4,
    });
  });

  it("naive reads what each query sees", () => {
    expect(kinds(PREFILL, "naive")).toMatchObject({
      K: pairs * 2 * 192 * 2,
      V: pairs * 2 * 128 * 2,
      scores: 4 * pairs * 2 * 4,
    });
    expect(flopsOf(PREFILL)).toBe(2 * 2 * pairs * (192 + 128));
  });

  it("counts a chunk behind earlier keys, a sequence without queries, and queries that see nothing", () => {
    const ragged: PrefillShape = {
      ...PREFILL,
      cuSeqlensQ: [0, 3, 3, 5],
      cuSeqlensK: [0, 10, 14, 20],
      qOffset: [7, 0, -5],
    };
    // Sequence 0: 8 + 9 + 10 keys; 1: no query; 2: positions -5 and -4 see none.
    expect(flopsOf(ragged)).toBe(2 * 2 * 27 * 320);
    expect(kinds(ragged, "simdgroup_8x8").V).toBe(10 * 2 * 128 * 2);
    expect(minimumBytes(ragged)).toBe((5 * 2 * 320 + 10 * (2 * 256 + 64)) * 2 + 5 * 2 * 4);
  });

  it("queries wider than the registers hold are staged with every block of keys", () => {
    const wide: PrefillShape = { ...PREFILL, nope: 512 };
    expect(kinds(wide, "simdgroup_8x8").Q).toBe((32 * 1 + 8 * 2) * 2 * (512 + 64) * 2);
  });

  it("has no traffic for a route without a kernel", () => {
    expect(trafficFor(PREFILL, "matrix_16x16")).toBeUndefined();
  });
});
