/**
 * The project's own kernels on the Metal device over the stand-in, through the runs of the workbench: native/metal compiles,
 * binds, dispatches and is judged by the oracle. Nothing here is evidence about a GPU; bundles stay in a temporary folder.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { catalogueFor } from "../../../electron/runs/catalogue.ts";
import { planRun, type RunPlan } from "../../../electron/runs/plan.ts";
import { openDevice } from "../../../native/open.ts";
import { type Bench, missesOf, runHere, STANDARD, withoutLockstep } from "../../electron/runs/harness.ts";
import { openStandIn, STAND_IN_NAME, STAND_IN_TIMEOUT_MS, type StandIn } from "./stand_in/open.ts";

let standIn: StandIn;
let bench: Bench;
const folders: string[] = [];

function folder(): string {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-test-"));
  folders.push(made);
  return made;
}

beforeAll(async () => {
  standIn = await openStandIn();
  standIn.set({});
  const { addon } = standIn;
  bench = { addon, device: await openDevice({ kind: "metal" }, { addon, runnerPath: "", cacheDir: folder() }) };
}, STAND_IN_TIMEOUT_MS);

afterAll(async () => {
  await bench.device.close();
  for (const made of folders) fs.rmSync(made, { recursive: true, force: true });
});

function planOf(name: string): RunPlan {
  return withoutLockstep(planRun("standard", STANDARD, { case: name }, catalogueFor(bench.device.profile)));
}

test.each([
  ["gqa_decode/h32kv4d512/L33/spread/f32", 7],
  ["mla_prefill/h4n128r64v128/T13of77/mla_prefill_t77_h4_x16.chunk13/f16", 2],
])("every route passes parity on %s", async (name, count) => {
  const plan = planOf(name);
  const routes = plan.cases.flatMap((one) => one.routes.map((route) => route.route));
  expect(routes).toHaveLength(count);
  const done = await runHere(bench, plan);
  folders.push(done.staging);
  expect(done.results.map(({ route, state, error }) => ({ route, state, error }))).toEqual(
    routes.map((route) => ({ route, state: "completed", error: null })),
  );
  expect(done.results.flatMap(missesOf)).toEqual([]);
  expect(done.outcome).toBe("passed");
  const planned = done.events.find((event) => event.type === "planned");
  expect(planned).toMatchObject({ execution: "metal", device: { name: { value: STAND_IN_NAME } } });
  expect(standIn.violations()).toEqual([]);
});

test("a kernel that computes something else fails parity, as anywhere", async () => {
  const wrong = (file: string, text: string): string =>
    file === "gqa_decode/naive.metal" ? text.replace("* params.scale", "* 1.01f * params.scale") : text;
  const plan = planOf("gqa_decode/h32kv4d512/L33/spread/f32");
  const naive = {
    ...plan,
    cases: plan.cases.map((one) => ({ ...one, routes: one.routes.filter((route) => route.route === "naive") })),
  };
  const done = await runHere(bench, naive, { patch: wrong });
  folders.push(done.staging);
  expect(done.outcome).toBe("failed");
});
