/** Deliberately wrong kernels fail, each on a case that shows its mistake; the sound kernel passes the same cases. */
import fs from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyFault, FAULTS, type Fault } from "../../kernels/faults.ts";
import { type Bench, missesOf, openBench, planOf, type RunHere, runHere, withoutLockstep } from "./harness.ts";

let bench: Bench;
const folders: string[] = [];

beforeAll(async () => {
  bench = await openBench();
});

afterAll(async () => {
  await bench.device.close();
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

function faultNamed(name: string): Fault {
  const fault = FAULTS.find((entry) => entry.name === name);
  if (fault === undefined) throw new Error(`no fault ${name}`);
  return fault;
}

async function run(
  fault: Fault | undefined,
  route: string,
  cases: readonly string[],
  lockstep = false,
): Promise<RunHere> {
  const plan = planOf(cases.map((name) => ({ route, case: name })));
  const done = await runHere(bench, lockstep ? plan : withoutLockstep(plan), {
    patch: (file, text) => (fault?.file === file ? applyFault(fault, text) : text),
  });
  folders.push(done.staging);
  return done;
}

describe("off-by-one at 8,192 tokens", () => {
  it("the sound kernels pass", async () => {
    for (const route of ["fused_split_kv_p32", "three_stage"]) {
      const { outcome } = await run(undefined, route, ["L8192.tail4", "L8192.edges32"]);
      expect(outcome).toBe("passed");
    }
  });

  it("a dropped last token fails", async () => {
    const { outcome, results } = await run(faultNamed("fused_last_token_dropped"), "fused_split_kv_p32", [
      "L8192.tail4",
      "L8192.spread",
    ]);
    expect(outcome).toBe("failed");
    // On random inputs its NMSE is 7e-5, below the 1e-4 that others allow.
    for (const result of results) expect(missesOf(result)).toContain("nmse_case:fail");
    const worst = results[0]!.gates.find((gate) => gate.id === "nmse_head");
    expect(worst?.where).toMatch(/^head (0|8|16|24)$/);
  });

  it("a dropped partition edge fails, in the fused and in the three-stage route", async () => {
    const fused = await run(faultNamed("fused_partition_edge_dropped"), "fused_split_kv_p32", ["L8192.edges32"]);
    expect(missesOf(fused.results[0])).toEqual(expect.arrayContaining(["max_abs:fail", "nmse_row:fail", "lse:fail"]));
    const staged = await run(faultNamed("value_partition_edge_dropped"), "three_stage", ["L8192.edges32"]);
    expect(missesOf(staged.results[0])).toEqual(expect.arrayContaining(["max_abs:fail", "nmse_row:fail"]));
  });
});

/** A case of the standard suite that shows the fault. */
const SHOWN_BY: Readonly<Record<string, string>> = {
  fused_wrong_head_mapping: "L33.spread",
  fused_wrong_scale: "L127.spread",
  fused_missing_rescale: "L1023.spread",
  fused_missing_merge_rescale: "L1023.tail4",
  normalise_without_maximum: "softmax_stress.offset_plus_1e4",
  prefill_diagonal_dropped: "mla.first_last",
  prefill_ragged_bounds_ignored: "mla_prefill_ragged_h3_f32",
  prefill_missing_rescale: "mla_prefill_t77_h4_f32",
  prefill_wrong_row_reduction: "mla.scores_1e4",
  prefill_wrong_rope_row: "mla_prefill_ragged_h3_f32",
};

describe("other mistakes", () => {
  it.each(Object.entries(SHOWN_BY))("%s fails on %s", async (name, shownBy) => {
    const fault = faultNamed(name);
    const { outcome, results } = await run(fault, fault.route, [shownBy]);
    expect(outcome).toBe("failed");
    expect(results.map((result) => result.verdict)).toEqual(["fail"]);
  });
});

describe("a missing barrier", () => {
  it.each([
    ["fused_missing_barrier", "L33.spread"],
    ["prefill_missing_barrier", "mla.first_last"],
  ])("%s fails", async (name, shownBy) => {
    const fault = faultNamed(name);
    const { results } = await run(fault, fault.route, [shownBy], true);
    expect(results[0]?.verdict).toBe("fail");
  });
});

it("every fault has a test here", () => {
  const tested = [
    ...Object.keys(SHOWN_BY),
    "fused_last_token_dropped",
    "fused_partition_edge_dropped",
    "value_partition_edge_dropped",
    "fused_missing_barrier",
    "prefill_missing_barrier",
  ];
  expect(FAULTS.map((fault) => fault.name).sort()).toEqual(tested.sort());
});
