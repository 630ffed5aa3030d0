import { describe, expect, it } from "vitest";
import { keyEdges, keySchedule, outputEdges, planOf } from "../../../electron/analysis/geometry.ts";
import { elementOwner, outputFragment } from "../../../electron/analysis/lanes.ts";
import { decodeShape } from "../../../electron/cases/case.ts";
import {
  FUSED_PARTITIONS,
  FUSED_TILE,
  VALUE_PARTITIONS,
  VALUE_TILE_DIM,
} from "../../../kernels/gqa_decode/geometry.ts";
import { KV_ROWS } from "../../../kernels/mla_prefill/tiles.ts";
import { routesFor } from "../../../kernels/routes.ts";
import { ceilBounds } from "../../../oracle/online.ts";
import { PREFILL } from "./planted.ts";

const GEMMA = decodeShape({ heads: 32, kvHeads: 4, dim: 512, live: 8193, scale: 1 });

function plan(route: string) {
  const found = planOf(GEMMA, route);
  if (found === undefined) throw new Error(`no plan of ${route}`);
  return found;
}

describe("plans", () => {
  it("are those of the routes; routes of elsewhere and planned ones have none", () => {
    expect(plan("naive").route).toBe("naive");
    expect(planOf(GEMMA, "f32_sdpa_math")).toBeUndefined();
    expect(planOf(PREFILL, "matrix_16x16")).toBeUndefined();
    expect(planOf({ ...GEMMA, dim: 64 }, "fused_split_kv_p32")).toBeUndefined();
  });
});

describe("edges of the keys", () => {
  it("of a fused route are its partitions and tiles", () => {
    for (const partitions of FUSED_PARTITIONS) {
      const edges = keyEdges(plan(`fused_split_kv_p${partitions}`), GEMMA.live);
      const [tile, split] = edges;
      const bounds = ceilBounds(GEMMA.live, partitions);
      const inside = [...new Set(bounds)].filter((bound) => bound > 0 && bound < GEMMA.live);
      expect(split).toMatchObject({ kind: "partition", title: `${partitions} partitions` });
      expect([...split!.edges]).toEqual(inside);
      expect(split!.labels[4]).toBe("partition 5");
      expect(tile).toMatchObject({ kind: "tile", title: `KV tile of ${FUSED_TILE} tokens`, labels: [] });
      expect(tile!.edges[0]).toBe(FUSED_TILE);
    }
  });

  it("of three stages are score tiles, score blocks and value partitions", () => {
    const edges = keyEdges(plan("three_stage"), GEMMA.live);
    expect(edges.map((set) => [set.kind, set.edges[0]])).toEqual([
      ["tile", 4],
      ["block", 64],
      ["partition", Math.ceil(8193 / VALUE_PARTITIONS)],
    ]);
    expect(edges[1]!.edges.at(-1)).toBe(8192);
    expect(edges[1]!.labels.at(-1)).toBe("score block 128");
  });

  it("of a prefill are blocks and sub-tiles; a naive route cuts nothing", () => {
    const edges = keyEdges(planOf(PREFILL, "simdgroup_8x8"), 40);
    expect(edges.map((set) => [set.kind, [...set.edges]])).toEqual([
      ["tile", [8, 16, 24, 32]],
      ["block", [KV_ROWS]],
    ]);
    expect(keyEdges(planOf(PREFILL, "naive"), 40)).toEqual([]);
    expect(keyEdges(undefined, 40)).toEqual([]);
  });

  it("are none for a row of one key, and leave out empty partitions", () => {
    expect(keyEdges(plan("fused_split_kv_p32"), 1)).toEqual([]);
    expect([...keyEdges(plan("fused_split_kv_p32"), 3)[0]!.edges]).toEqual([1, 2]);
  });
});

describe("schedules", () => {
  it("every built route has one that covers all keys", () => {
    for (const [shape, keys] of [
      [GEMMA, 8193],
      [PREFILL, 40],
    ] as const) {
      for (const route of routesFor(shape.operator).filter((entry) => entry.status === "built")) {
        const schedule = keySchedule(planOf(shape, route.name), keys);
        expect(schedule.bounds[0]).toBe(0);
        expect(schedule.bounds.at(-1)).toBe(keys);
        expect(schedule.words).not.toContain("not known");
        expect(schedule.online).toBe(/fused|8x8/.test(route.name));
      }
    }
    expect(keySchedule(undefined, 5)).toMatchObject({ online: false, bounds: [0, 5], tile: null });
  });
});

describe("edges of the output", () => {
  it("of a decode are KV heads and dimension tiles", () => {
    const heads = outputEdges(GEMMA, plan("three_stage"), "head");
    expect(heads).toMatchObject([{ kind: "group", title: "8 query heads on a KV head" }]);
    expect([...heads[0]!.edges]).toEqual([8, 16, 24]);
    expect(heads[0]!.labels).toEqual(["KV head 1", "KV head 2", "KV head 3"]);
    const [tile] = outputEdges(GEMMA, plan("three_stage"), "dim");
    expect(tile!.edges).toHaveLength(512 / VALUE_TILE_DIM - 1);
    expect(tile!.edges[0]).toBe(VALUE_TILE_DIM);
    expect(outputEdges(GEMMA, plan("fused_split_kv_p32"), "dim")).toEqual([]);
    expect(outputEdges(GEMMA, plan("naive"), "token")).toEqual([]);
  });

  it("of a prefill are fragments, staged chunks and sequences", () => {
    const made = planOf(PREFILL, "simdgroup_8x8");
    expect(outputEdges(PREFILL, made, "dim").map((set) => [set.kind, [...set.edges]])).toEqual([["tile", [8, 16, 24]]]);
    expect(outputEdges(PREFILL, made, "head")).toEqual([]);
    expect(outputEdges(PREFILL, undefined, "token").map((set) => set.kind)).toEqual(["sequence"]);
  });
});

describe("owners", () => {
  it("follow the fragment map and restart at every sequence", () => {
    const made = planOf(PREFILL, "simdgroup_8x8");
    expect(outputFragment(made)?.name).toBe("8x8");
    // Token 40 is row 0 of the second sequence; lane 9 holds columns 6 and 7 of row 0.
    expect(elementOwner(PREFILL, made, { token: 40, head: 0, dim: 7 })).toEqual({
      map: "8x8",
      simdgroup: 0,
      lane: 9,
      element: 1,
    });
    expect(elementOwner(PREFILL, made, { token: 39, head: 0, dim: 0 })?.simdgroup).toBe(0);
    expect(elementOwner(PREFILL, made, { token: 31, head: 0, dim: 0 })?.simdgroup).toBe(3);
    expect(elementOwner(PREFILL, planOf(PREFILL, "naive"), { token: 0, head: 0, dim: 0 })).toBeNull();
    expect(elementOwner(GEMMA, plan("naive"), { token: 0, head: 0, dim: 0 })).toBeNull();
  });
});
