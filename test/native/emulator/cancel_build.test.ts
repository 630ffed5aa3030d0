/** Cancelling while kernels are built: the compilers are ended, and nothing half-written stays. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { deviceError } from "../msl/workbench.ts";
import { entriesOf, isAlive, type SlowCompiler, slowCompiler } from "./slow_compiler.ts";

const SOURCE = { path: "one.metal", text: "kernel void one(device int* x) { x[0] = 1; }\n" };
let folder: string;
let slow: SlowCompiler | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lockstep-cancel-"));
});

afterEach(async () => {
  // Whatever still waits ends before its folder goes.
  slow?.go();
  await slow?.device.close();
  rmSync(folder, { recursive: true, force: true });
});

it("the preprocessor is ended, and the next request runs it again", async () => {
  slow = await slowCompiler(folder, "-E");
  const stop = new AbortController();
  const compiling = deviceError(slow.device.compile(SOURCE, {}, stop.signal));
  const pids = await slow.begun(1);
  stop.abort();
  expect((await compiling).code).toBe("cancelled");
  expect([pids.map(isAlive), entriesOf(slow.cacheDir)]).toEqual([[false], { draft: 0 }]);
  slow.go();
  expect((await slow.device.compile(SOURCE)).functions.map(({ name }) => name)).toEqual(["one"]);
});

it("all compilers of a pipeline are ended when the last request leaves, and the next one builds it", async () => {
  slow = await slowCompiler(folder, "-c");
  const { device, cacheDir } = slow;
  const library = await device.compile(SOURCE);
  const stops = [new AbortController(), new AbortController()];
  const building = stops.map(({ signal }) => deviceError(device.pipeline(library, "one", {}, signal)));
  // The prefix and the first part of the runtime: once for both.
  const pids = await slow.begun(2);
  stops[0]?.abort();
  expect((await building[0])?.code).toBe("cancelled");
  expect(pids.map(isAlive)).toEqual([true, true]);
  stops[1]?.abort();
  expect((await building[1])?.code).toBe("cancelled");
  expect([pids.map(isAlive), entriesOf(cacheDir)]).toEqual([[false, false], { draft: 0, library: 1 }]);
  slow.go();
  expect((await device.pipeline(library, "one")).receipt.cached).toBe(false);
  expect(entriesOf(cacheDir)).toEqual({ draft: 0, library: 1, module: 1, prefix: 1, runtime: 1 });
});

it("what another request waits for is built to its end, and once", async () => {
  slow = await slowCompiler(folder, "-c");
  const { device } = slow;
  const library = await device.compile(SOURCE);
  const stop = new AbortController();
  const leaving = deviceError(device.pipeline(library, "one", {}, stop.signal));
  const staying = device.pipeline(library, "one", {}, new AbortController().signal);
  const pids = await slow.begun(2);
  stop.abort();
  expect((await leaving).code).toBe("cancelled");
  expect(pids.map(isAlive)).toEqual([true, true]);
  slow.go();
  expect((await staying).function.name).toBe("one");
  // Nothing was compiled twice: the same pipeline starts no compiler.
  const count = (await slow.begun(2)).length;
  await device.pipeline(library, "one");
  expect((await slow.begun(2)).length).toBe(count);
});

it("a request that was cancelled before starts no compiler", async () => {
  slow = await slowCompiler(folder, "-c");
  const library = await slow.device.compile(SOURCE);
  const building = slow.device.pipeline(library, "one", {}, AbortSignal.abort());
  expect((await deviceError(building)).code).toBe("cancelled");
  expect(await slow.begun(0)).toEqual([]);
});
