/** A run ends in order whatever a kernel does: time-out, crash, refusal and cancel are results, and the next route works. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunPlan } from "../../../electron/runs/plan.ts";
import {
  type Bench,
  missesOf,
  openBench,
  planOf,
  type RunHere,
  type RunHereOptions,
  runHere,
  withoutLockstep,
} from "./harness.ts";

let bench: Bench;
const folders: string[] = [];

beforeAll(async () => {
  bench = await openBench();
});

afterAll(async () => {
  await bench.device.close();
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

async function run(plan: RunPlan, options: RunHereOptions = {}): Promise<RunHere> {
  const done = await runHere(bench, plan, options);
  folders.push(done.staging);
  return done;
}

/** Puts a statement before the first one of the naive decode kernel. */
function inNaive(statement: string): (file: string, text: string) => string {
  const first = "  const uint kv_head = head / HEADS_PER_KV;";
  return (file, text) => (file === "gqa_decode/naive.metal" ? text.replace(first, `${statement}\n${first}`) : text);
}

const NAIVE_AND_FUSED = [
  { route: "naive", case: "L33.spread" },
  { route: "fused_split_kv_p32", case: "L33.spread" },
];

describe("a run", () => {
  it("records inputs, oracle, outputs, receipts and kernels", async () => {
    const done = await run(planOf([{ route: "naive", case: "L33.spread" }]));
    expect(done.outcome).toBe("passed");
    const [result] = done.results;
    expect(result?.gates.map((gate) => gate.id)).toContain("lockstep");
    expect(missesOf(result)).toEqual([]);
    const record = done.events.find((event) => event.type === "case");
    // The digests are those of test/golden/gqa_decode_d512_long_f64.digests.json.
    const digests = JSON.parse(
      fs.readFileSync(path.resolve(import.meta.dirname, "../../golden/gqa_decode_d512_long_f64.digests.json"), "utf8"),
    ) as { sha256_float32_le: Record<string, string> };
    const inputs = new Map(record?.case.inputs.map((input) => [input.name, input.sha256]));
    expect(inputs.get("k")).toBe(digests.sha256_float32_le["u24.k.L33"]);
    expect(inputs.get("v")).toBe(digests.sha256_float32_le["u24.v.L33"]);
    expect(record?.case.oracle).toMatchObject({ storedReference: true });
    const written = fs.readdirSync(done.staging, { recursive: true, encoding: "utf8" });
    for (const file of [
      "data/kernels/gqa_decode/naive.metal",
      "data/kernels/gqa_decode/decode.h",
      "data/dispatch/gqa_decode.h32kv4d512.l33.spread.f32.json",
      "data/parity/gqa_decode.h32kv4d512.l33.spread.f32/naive/out.f32",
      "data/parity/gqa_decode.h32kv4d512.l33.spread.f32/naive/metrics.json",
    ]) {
      expect(written).toContain(file);
    }
    expect(result?.receipts).toHaveLength(2);
  });

  it("passes an empty cache and a fully masked row, exactly", async () => {
    const done = await run(
      withoutLockstep(planOf([{ case: "ragged_live.row0" }, { case: "softmax_stress.rows_fully_masked" }])),
    );
    expect(done.results.map((result) => [result.route, result.verdict])).toEqual([
      ["three_stage", "pass"],
      ["three_stage_staged", "pass"],
      ["naive", "pass"],
      ["three_stage", "pass"],
      ["three_stage_staged", "pass"],
      ["naive", "pass"],
    ]);
    for (const result of done.results) expect(result.gates.map((gate) => gate.id)).toContain("exact_zero");
  });
});

describe("a route that does not complete", () => {
  it("times out, and the next one works", async () => {
    const done = await run(withoutLockstep(planOf(NAIVE_AND_FUSED)), {
      patch: inNaive("  for (uint i = 0; params.live != 0xffffffffu; ++i) { scores[0] = float(i); }"),
      timeoutMs: 1500,
    });
    expect(done.outcome).toBe("timed_out");
    expect(done.results.map((result) => [result.state, result.verdict])).toEqual([
      ["timed_out", "not_run"],
      ["completed", "pass"],
    ]);
    expect(missesOf(done.results[0])).toEqual(expect.arrayContaining(["launched:not_run", "nmse_case:not_run"]));
  });

  it("crashes, and the next one works", async () => {
    const done = await run(withoutLockstep(planOf(NAIVE_AND_FUSED)), {
      patch: inNaive("  out[(ulong)params.live << 40] = 1.0f;"),
    });
    expect(done.outcome).toBe("crashed");
    expect(done.results.map((result) => result.state)).toEqual(["crashed", "completed"]);
    expect(done.results[0]?.error).not.toBe("");
  });

  it("needs more memory than there is: said before any is taken", async () => {
    const done = await run(withoutLockstep(planOf(NAIVE_AND_FUSED)), { availableBytes: 100_000 });
    expect(done.outcome).toBe("failed");
    expect(done.results).toHaveLength(2);
    for (const result of done.results) {
      expect(result.verdict).toBe("not_run");
      expect(result.error).toMatch(/needs [\d,]+ bytes of memory; 100,000 are available/);
    }
  });

  it("does not compile: the diagnostic has the line of the source", async () => {
    const done = await run(withoutLockstep(planOf(NAIVE_AND_FUSED)), { patch: inNaive("  flaot x;") });
    expect(done.outcome).toBe("failed");
    expect(done.results.map((result) => [result.state, result.verdict])).toEqual([
      ["compile_failed", "fail"],
      ["completed", "pass"],
    ]);
    expect(done.results[0]?.error?.match(/gqa_decode\/naive\.metal:26:3/g)).toHaveLength(1);
  });

  it("asks for more threads than the device has: refused with both numbers", async () => {
    const plan = withoutLockstep(planOf(NAIVE_AND_FUSED));
    const [first, ...rest] = plan.cases;
    const [item] = first!.routes;
    const dispatches = item!.plan.dispatches.map((dispatch) => ({
      ...dispatch,
      threadsPerThreadgroup: [2048, 1, 1] as const,
    }));
    const changed = { ...item!, plan: { ...item!.plan, dispatches } };
    const done = await run({ ...plan, cases: [{ ...first!, routes: [changed] }, ...rest] });
    expect(done.results.map((result) => [result.state, result.verdict])).toEqual([
      ["refused", "fail"],
      ["completed", "pass"],
    ]);
    expect(done.results[0]?.error).toMatch(/2,?048/);
  });

  it("misses its resource contract", async () => {
    const plan = withoutLockstep(planOf([NAIVE_AND_FUSED[1]!]));
    const cases = plan.cases.map((entry) => ({
      ...entry,
      routes: entry.routes.map((item) => ({
        ...item,
        plan: { ...item.plan, contracts: item.plan.contracts.map((contract) => ({ ...contract, threads: 4096 })) },
      })),
    }));
    const done = await run({ ...plan, cases });
    expect(missesOf(done.results[0])).toEqual(["resources:fail"]);
    const gate = done.results[0]?.gates.find((entry) => entry.id === "resources");
    expect(gate?.note).toContain("1024 threads at most, required 4096");
  });

  it("writes past the end of a buffer", async () => {
    const done = await run(withoutLockstep(planOf([{ route: "naive", case: "ragged_live.row3" }])), {
      patch: inNaive("  lse[1] = 1.0f;"),
    });
    expect(missesOf(done.results[0])).toEqual(["sentinels:fail"]);
    expect(done.results[0]?.gates.find((gate) => gate.id === "sentinels")?.where).toBe("lse");
  });

  it("leaves a part unwritten", async () => {
    const partly = await run(withoutLockstep(planOf([NAIVE_AND_FUSED[0]!])), {
      patch: (file, text) =>
        file === "gqa_decode/naive.metal"
          ? text.replace("if (thread_index == 0) {", "if (thread_index == 0 && head != 3) {")
          : text,
    });
    expect(missesOf(partly.results[0])).toEqual(["coverage:fail", "finite:fail", "lse:fail"]);
  });
});

describe("cancel", () => {
  it("keeps what was finished and ends as cancelled", async () => {
    const controller = new AbortController();
    const done = await run(withoutLockstep(planOf([...NAIVE_AND_FUSED, { case: "L127.spread" }])), {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === "result") controller.abort();
      },
    });
    expect(done.outcome).toBe("cancelled");
    expect(done.results).toHaveLength(1);
    expect(done.events.at(-1)).toMatchObject({
      type: "finished",
      reason: expect.stringMatching(/^Cancelled by you at \d+ %/),
    });
  });

  it("stops a kernel that is running", async () => {
    const controller = new AbortController();
    const start = performance.now();
    const done = await run(withoutLockstep(planOf([NAIVE_AND_FUSED[0]!])), {
      patch: inNaive("  for (uint i = 0; params.live != 0xffffffffu; ++i) { scores[0] = float(i); }"),
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === "progress" && event.phase === "run") setTimeout(() => controller.abort(), 300);
      },
    });
    expect(done.outcome).toBe("cancelled");
    expect(performance.now() - start).toBeLessThan(60_000);
  });
});
