/** The kernels of the self-test are Metal: the project's own compiler takes them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { LIVE_FLOATS, selfTestKernel, selfTestSource } from "../../../electron/offline/self_test.ts";
import { type Bench, openBench } from "../runs/harness.ts";

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
});

afterAll(() => bench.device.close());

it("compiles on the emulated device, with the names that the scripts ask for", async () => {
  const { device } = bench;
  const library = await device.compile({ path: "self_test.metal", text: selfTestSource() });
  expect(library.functions.map(({ name }) => name).sort()).toEqual([...LIVE_FLOATS].map(selfTestKernel).sort());
  expect(library.warnings).toEqual([]);
  for (const live of LIVE_FLOATS) await device.pipeline(library, selfTestKernel(live));
});
