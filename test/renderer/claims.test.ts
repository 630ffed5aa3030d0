/** The table of claims: the highest level of each cell, and no column of a chip without evidence about it. */
import { describe, expect, it } from "vitest";
import { claimTable, NO_CHIP } from "../../renderer/pages/evidence/claims.ts";
import type { RunEntryView } from "../../renderer/state/session.ts";

type Kept = Extract<RunEntryView, { state: "kept" }>;
type Claim = Kept["claims"][number];

const ROUTES = [
  { operator: "gqa_decode", name: "three_stage", summary: "", status: "built" },
  { operator: "mla_prefill", name: "matrix_16x16", summary: "", status: "planned" },
] as const;

function claim(change: Partial<Claim>): Claim {
  return {
    operator: "gqa_decode",
    route: "three_stage",
    dtype: "f32",
    execution: "emulated",
    device: "emulated:m3-max",
    level: "parity",
    supportsChip: null,
    cases: 1,
    provides: "",
    doesNotProvide: "",
    ...change,
  };
}

/** `c` ran on a virtual GPU, `v` under validation. */
function bundle(id: string, ...claims: readonly Claim[]): RunEntryView {
  const command = ["lockstep", "parity", ...(id === "v" ? ["--validation"] : [])];
  const device = { deviceName: `device of ${id}`, virtualGpu: id === "c" };
  return { state: "kept", id, command, ...device, claims } as unknown as RunEntryView;
}

describe("the table of claims", () => {
  it("keeps the highest level and says how many bundles there are", () => {
    const table = claimTable(
      [
        bundle("a", claim({})),
        bundle("b", claim({ level: "boundary" })),
        bundle("c", claim({ level: "smoke" })),
        { state: "bad", id: "d", reason: "", mend: "" },
      ],
      ROUTES,
    );
    expect(table.columns.map((column) => [column.title, column.standing])).toEqual([
      [NO_CHIP.title, "chip"],
      ["emulated:m3-max", "emulated"],
    ]);
    const [row] = table.rows;
    expect(row!.cells.get("emulated emulated:m3-max")).toMatchObject({ level: "boundary", bundle: "b", bundles: 3 });
    expect(row!.cells.get(NO_CHIP.id)).toBeUndefined();
  });

  it("has a row for outputs of another engine, after the routes, and no dtype of theirs for the routes", () => {
    const foreign = claim({ route: "sdpa_math", dtype: "bf16", execution: "imported", device: "H200" });
    const table = claimTable([bundle("a", foreign)], ROUTES);
    expect(table.rows.map((row) => [row.route, row.dtype, row.cells.get("imported H200")?.level])).toEqual([
      ["three_stage", "f32", undefined],
      ["matrix_16x16", "", undefined],
      ["sdpa_math", "bf16", "parity"],
    ]);
  });

  it("says of a claim that it comes from a run under validation, and takes a plain one of the same level first", () => {
    const real = claim({ execution: "metal", device: "metal:0", supportsChip: "M4" });
    const cell = (...ids: readonly string[]) =>
      claimTable(
        ids.map((id) => bundle(id, real)),
        ROUTES,
      ).rows[0]!.cells.get("metal M4");
    expect(cell("v")).toMatchObject({ validation: true, bundle: "v" });
    expect(cell("a", "v")).toMatchObject({ validation: false, bundle: "a", bundles: 2 });
    expect(cell("v", "a")).toMatchObject({ validation: false, bundle: "a", bundles: 2 });
  });

  it("keeps chips apart although each is metal:0, and gives a virtual GPU a column that supports none", () => {
    const on = (supportsChip: string | null): Claim => claim({ execution: "metal", device: "metal:0", supportsChip });
    const table = claimTable([bundle("a", on("Apple M4")), bundle("b", on("Apple M1")), bundle("c", on(null))], ROUTES);
    expect(table.columns).toEqual([
      { id: "metal Apple M4", title: "Apple M4", standing: "chip" },
      { id: "metal Apple M1", title: "Apple M1", standing: "chip" },
      { id: "metal device of c, no chip", title: "device of c", standing: "virtual" },
    ]);
    const alone = claimTable([bundle("c", on(null))], ROUTES);
    expect(alone.columns[0]).toBe(NO_CHIP);
  });

  it("has a column for a chip once there is evidence about it, and a row for what is not built", () => {
    const real = claim({ execution: "metal", device: "metal:0", supportsChip: "Apple M4 Max" });
    const table = claimTable([bundle("a", real)], ROUTES);
    expect(table.columns).toEqual([{ id: "metal Apple M4 Max", title: "Apple M4 Max", standing: "chip" }]);
    expect(table.rows.map((row) => [row.route, row.dtype, row.planned])).toEqual([
      ["three_stage", "f32", false],
      ["matrix_16x16", "", true],
    ]);
  });
});
