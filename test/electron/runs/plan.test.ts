import path from "node:path";
import { describe, expect, it } from "vitest";
import { decodeShape } from "../../../electron/cases/case.ts";
import { casesFromFile, generated } from "../../../electron/cases/file.ts";
import { catalogueFor } from "../../../electron/runs/catalogue.ts";
import { planRun, type RunPlan, type Selection, smallCase } from "../../../electron/runs/plan.ts";
import { editDistance, nearest, UsageError, unknownName } from "../../../electron/runs/usage.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";
import { STANDARD, WHERE } from "./harness.ts";

const catalogue = catalogueFor(emulatedProfile("apple9"));

function plan(selection: Selection): RunPlan {
  return planRun("standard", STANDARD, selection, catalogue);
}

it("refuses sizes beyond a buffer's limit, with both sides", () => {
  const shape = decodeShape({ heads: 8, kvHeads: 8, dim: 512, live: 400_000_000, scale: 1 });
  const huge = () => planRun(null, [generated(shape, "spread", 1)], { route: "naive" }, catalogue);
  expect(huge).toThrow(UsageError);
  expect(huge).toThrow(/naive: buffer k is [\d,]+ bytes; the limit is/);
});

describe("selection", () => {
  it("takes a key, a name or a part of keys", () => {
    const keys = (text: string) => plan({ case: text }).cases.map((entry) => entry.case.key);
    expect(keys("gqa_decode/h32kv4d512/L8192/tail4/f32")).toEqual(["gqa_decode/h32kv4d512/L8192/tail4/f32"]);
    expect(keys("L8192.tail4")).toEqual(["gqa_decode/h32kv4d512/L8192/tail4/f32"]);
    expect(keys("/tail4/").length).toBe(4);
  });

  it("takes a route or a family of routes", () => {
    const routes = (route: string) => plan({ route, case: "L33.spread" }).cases[0]!.routes.map((item) => item.route);
    expect(routes("three_stage")).toEqual(["three_stage"]);
    expect(routes("fused_split_kv")).toHaveLength(4);
    expect(new Set(plan({ route: "naive" }).cases.map((entry) => entry.case.shape.operator)).size).toBe(2);
  });

  it("names what there is and what is nearest for an unknown case or route", () => {
    expect(() => plan({ case: "L8192.tial4" })).toThrow(/No case is called "L8192.tial4"\. Nearest: L8192\.tail4\./);
    expect(() => plan({ route: "fusedd" })).toThrow(/Names: three_stage, three_stage_staged, fused_split_kv_p32/);
    expect(() => plan({ route: "naiv" })).toThrow("Nearest: naive");
  });

  it("cites the refusal where no route applies", () => {
    expect(() => plan({ route: "fused_split_kv", case: "softmax_stress.all_zero" })).toThrow(
      "requires a head width of exactly 512, actual 32",
    );
    expect(() => plan({ route: "matrix_16x16" })).toThrow("its kernel is not built yet");
    const merge = casesFromFile(path.join(WHERE.golden, "gqa_merge_L13_d17.safetensors"));
    expect(() => planRun(null, merge, {}, catalogue)).toThrow("requires a multiple of 32, 32 to 512, actual 17");
  });
});

describe("lockstep", () => {
  it("compares every set of pipelines once, on a small case of its geometry", () => {
    const items = plan({}).cases.flatMap((entry) => entry.routes.map((item) => ({ entry, item })));
    const compared = items.filter(({ item }) => item.lockstep !== null);
    const names = compared.map(
      ({ entry, item }) => `${item.route} ${entry.case.shape.operator} ${entry.case.shape.dtype}`,
    );
    expect(names).toContain("fused_split_kv_p256 gqa_decode f32");
    expect(names).toContain("simdgroup_8x8 mla_prefill bf16");
    // Two geometries of decode: 512 wide with groups of 8, and 32 wide with groups of 1.
    expect(names.filter((name) => name.startsWith("three_stage gqa_decode"))).toHaveLength(2);
    for (const { entry, item } of compared) {
      const { heads, operator, dtype } = entry.case.shape;
      expect(item.lockstep?.case.shape).toMatchObject({ heads, operator, dtype });
    }
  });

  it("takes enough tokens for several tiles and partitions, and more than one block of query rows", () => {
    const [item] = plan({ case: "L8192.tail4", route: "naive" }).cases[0]!.routes;
    expect(item?.lockstep?.case.shape).toMatchObject({ live: 299, heads: 32, kvHeads: 4, dim: 512 });
    // Two blocks of 128 staged tokens in each of 16 partitions.
    const [staged] = plan({ case: "L8192.tail4", route: "three_stage_staged" }).cases[0]!.routes;
    expect(staged?.lockstep?.case.shape).toMatchObject({ live: 2099, dim: 512 });
    const ragged = STANDARD.find(
      (entry) => entry.alias === "mla_prefill_ragged_h2_x16" && entry.shape.dtype === "bf16",
    )!;
    expect(smallCase(ragged.shape, {}).shape).toMatchObject({ heads: 2, dtype: "bf16", cuSeqlensQ: [0, 17, 58] });
  });
});

describe("names", () => {
  it("measure edit distance", () => {
    expect([editDistance("", "abc"), editDistance("kitten", "sitting"), editDistance("same", "same")]).toEqual([
      3, 3, 0,
    ]);
    expect(nearest("M3 Mx", ["M1", "M3 Max", "M3 Pro"])).toBe("M3 Max");
    expect(nearest("x", [])).toBeUndefined();
    expect(nearest("fussed", ["naive", "fused_split_kv_p32"])).toBe("fused_split_kv_p32");
    const many = Array.from({ length: 100 }, (_, index) => `gqa_decode/h32kv4d512/L${index}/spread/f32`);
    const { message } = unknownName("case", "L9.sprad", many, ["L9.spread"]);
    expect(message).toMatch(/^No case is called "L9\.sprad"\. Nearest: L9\.spread\. Names: .*, and 9\d more$/);
    expect(message.length).toBeLessThan(500);
    expect(unknownName("chip", "M9", ["M1"]).message).toBe('No chip is called "M9". Nearest: M1. Names: M1');
  });
});
