/** Cancel and skip while the kernels of a run, or that of a manifest, are compiled: neither waits for the compilers. */
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { KernelRun } from "../../../electron/manifest/run.ts";
import { loadManifest } from "../../../electron/manifest/sources.ts";
import { RunControl } from "../../../electron/runs/control.ts";
import { loadAddon } from "../../../native/addon.ts";
import { isAlive, type SlowCompiler, slowCompiler } from "../../native/emulator/slow_compiler.ts";
import { deviceError } from "../../native/msl/workbench.ts";
import { planOf, runHere, scratchFolder, WHERE, withoutLockstep } from "./harness.ts";

let folder: string;
let slow: SlowCompiler;

beforeEach(async () => {
  folder = scratchFolder();
  slow = await slowCompiler(folder, "-c");
});

afterEach(async () => {
  slow.go();
  await slow.device.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

function plan(cases: readonly string[]) {
  return withoutLockstep(planOf(cases.map((name) => ({ operator: "gqa_decode", case: name, route: "naive" }))));
}

function bench() {
  return { device: slow.device, addon: loadAddon(WHERE.addon) };
}

it("a run that is cancelled ends with its compilers", async () => {
  const stop = new AbortController();
  const running = runHere(bench(), plan(["L1.spread"]), { signal: stop.signal });
  const pids = await slow.begun(2);
  stop.abort();
  const { outcome, results } = await running;
  expect([outcome, results, pids.map(isAlive)]).toEqual(["cancelled", [], [false, false]]);
});

it("a case that is skipped ends with its compilers, and the next one has them again", async () => {
  let control: RunControl | undefined;
  const running = runHere(bench(), plan(["L1.spread", "L33.spread"]), {
    control: (emit) => {
      control = new RunControl(emit);
      return control;
    },
  });
  const pids = await slow.begun(2);
  control?.skip(plan(["L1.spread"]).cases[0]?.case.key ?? "");
  await slow.begun(4);
  slow.go();
  const { results } = await running;
  expect([pids.map(isAlive), results.map(({ state }) => state)]).toEqual([
    [false, false],
    ["skipped", "completed"],
  ]);
});

it("the kernel of a manifest that is cancelled ends with its compilers, and runs later", async () => {
  const loaded = loadManifest(path.join(WHERE.root, "test", "electron", "manifest", "golden", "attention.kernel.json"));
  const run = new KernelRun(loaded, slow.device, loadAddon(WHERE.addon));
  const stop = new AbortController();
  const running = deviceError(run.run("fast", { signal: stop.signal }));
  const pids = await slow.begun(2);
  stop.abort();
  expect([(await running).code, pids.map(isAlive)]).toEqual(["cancelled", [false, false]]);
  slow.go();
  expect((await run.run("fast")).verdict).toBe("pass");
});
