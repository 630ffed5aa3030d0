import { describe, expect, it } from "vitest";
import { caseBeside, type Planned, selectIn } from "../../../../renderer/pages/captures/selection.ts";
import type { CaseRecord } from "../../../../renderer/state/run_model.ts";

function record(key: string): CaseRecord {
  return {
    key,
    shape: {
      operator: "gqa_decode",
      heads: 32,
      kvHeads: 4,
      dim: 512,
      live: 33,
      capacity: 33,
      scale: 1,
      dtype: "f32",
    },
    source: { kind: "generator", generator: "lockstep.fmix32/1", seed: 1, variant: "spread" },
    boundary: false,
    inputs: [],
    oracle: null,
  };
}

function run(planned: readonly (readonly [string, string])[]): Planned {
  const keys = [...new Set(planned.map(([key]) => key))];
  return {
    planned: planned.map(([key, route]) => ({ case: key, route })),
    cases: new Map(keys.map((key) => [key, record(key)])),
    results: new Map(),
  };
}

const RUN = run([
  ["one", "three_stage"],
  ["one", "three_stage_staged"],
  ["one", "fused_split_kv_p32"],
  ["two", "naive"],
]);

describe("the selection", () => {
  it("is the first case and route, beside the strong baseline", () => {
    expect(selectIn(RUN, {})).toMatchObject({
      record: { key: "one" },
      route: "three_stage",
      other: "three_stage_staged",
      routes: ["three_stage", "three_stage_staged", "fused_split_kv_p32"],
    });
  });

  it("is what the URL names, also in the words of Parity", () => {
    expect(selectIn(RUN, { case: "one", route: "fused_split_kv_p32", other: "three_stage" })).toMatchObject({
      route: "fused_split_kv_p32",
      other: "three_stage",
    });
    expect(selectIn(RUN, { sel: "one|fused_split_kv_p32" })).toMatchObject({ route: "fused_split_kv_p32" });
    // What is named outright counts more.
    expect(selectIn(RUN, { sel: "one|fused_split_kv_p32", case: "two" })).toMatchObject({ record: { key: "two" } });
  });

  it("falls back where the URL names what is not there, and never compares a route with itself", () => {
    expect(selectIn(RUN, { case: "three", route: "nothing" })).toMatchObject({ record: { key: "one" } });
    expect(selectIn(RUN, { route: "three_stage", other: "three_stage" })?.other).toBe("three_stage_staged");
    expect(selectIn(RUN, { case: "two" })).toMatchObject({ route: "naive", other: null });
    expect(selectIn(run([]), {})).toBeNull();
  });

  it("has neighbours, and none beyond the ends", () => {
    expect(caseBeside(RUN, "one", 1)).toBe("two");
    expect(caseBeside(RUN, "one", -1)).toBeUndefined();
    expect(caseBeside(RUN, "two", 1)).toBeUndefined();
  });
});
