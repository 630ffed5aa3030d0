/** The checker's word in a run: silent on the sound kernels, a failed gate on a race, pinned where lanes exchange data. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseStrictJson } from "../../../electron/evidence/json.ts";
import { routeCheckSchema } from "../../../electron/runs/route_check.ts";
import { type Bench, missesOf, openBench, planOf, type RunHere, runHere } from "./harness.ts";

let bench: Bench;
const folders: string[] = [];

beforeAll(async () => {
  bench = await openBench();
});

afterAll(async () => {
  await bench.device.close();
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

async function run(patch?: (file: string, text: string) => string): Promise<RunHere> {
  const plan = planOf([{ route: "fused_split_kv_p32", case: "L33.spread" }]);
  const done = await runHere(bench, plan, patch === undefined ? {} : { patch });
  folders.push(done.staging);
  return done;
}

function checkOf(done: RunHere) {
  const file = done.results[0]?.check;
  if (file === undefined) throw new Error("the result names no reports");
  return routeCheckSchema.parse(parseStrictJson(fs.readFileSync(path.join(done.staging, file), "utf8"), file));
}

/** Replaces what stands once in a file. */
function replaced(text: string, find: string, by: string): string {
  if (text.split(find).length !== 2) throw new Error(`"${find}" does not stand once`);
  return text.replace(find, by);
}

describe("a route on the emulated device", () => {
  it("passes the gate, with traffic that is exact: K and V are read once", async () => {
    const done = await run();
    expect(missesOf(done.results[0])).toEqual([]);
    expect(done.results[0]?.flavour).toBe("fast");
    const check = checkOf(done);
    expect(check.result.reports.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(check.result.traffic.exact).toBe(true);
    const partial = check.result.traffic.dispatches[0]!;
    const read = (name: string): number | undefined =>
      partial.buffers.find((buffer) => buffer.name === name)?.read.requested;
    // The small case has 299 tokens of 4 KV heads of 512 floats.
    expect([read("k"), read("v")]).toEqual([299 * 4 * 512 * 4, 299 * 4 * 512 * 4]);
  });

  it("fails the gate where a barrier is missing, with both lines in the reports", async () => {
    const done = await run((file, text) =>
      file.endsWith("fused_split_kv.metal")
        ? replaced(
            text,
            "    threadgroup_barrier(mem_flags::mem_threadgroup);\n\n    // Four scores",
            "    // Four scores",
          )
        : text,
    );
    expect(missesOf(done.results[0])).toContain("checker:fail");
    const races = checkOf(done).result.reports.filter(({ kind }) => kind === "race");
    expect(races.length).toBeGreaterThan(0);
    expect(races[0]?.second?.location?.path).toContain("fused_split_kv.metal");
  });

  it("is pinned to lockstep where lanes exchange data without a barrier, and says so", async () => {
    // The lane's weight goes through threadgroup memory of the tile and back, with nothing between.
    const done = await run((file, text) =>
      file.endsWith("fused_split_kv.metal")
        ? replaced(
            text,
            "    sum = sum * rescale + sum_of(weight);\n",
            "    sum = sum * rescale + sum_of(weight);\n" +
              "    threadgroup float* exchange = (threadgroup float*)(tile + 2 * TILE * ROW_QUADS) - 1024 + simdgroup * 32;\n" +
              "    threadgroup_barrier(mem_flags::mem_threadgroup);\n" +
              "    exchange[lane] = float(lane);\n" +
              "    if (exchange[lane ^ 1] != float(lane ^ 1)) sum = 0.0f;\n" +
              "    threadgroup_barrier(mem_flags::mem_threadgroup);\n",
          )
        : text,
    );
    const check = checkOf(done);
    expect(check.pinned).toBe(true);
    expect(check.flavour).toBe("check+lockstep");
    expect(done.results[0]?.flavour).toBe("lockstep");
  });
});
