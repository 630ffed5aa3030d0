/** Every deliberately wrong kernel gives a wrong result where its source says that it does. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Device } from "../../native/device.ts";
import { testDevice } from "../native/msl/workbench.ts";
import { FAULTS, type Fault } from "./faults.ts";
import {
  type DecodeCase,
  decodeCase,
  decodeReference,
  difference,
  prefillCase,
  prefillReference,
  runDecode,
  runPrefill,
} from "./run.ts";

let device: Device;
beforeAll(async () => {
  device = await testDevice();
});
afterAll(async () => {
  await device.close();
});

/** Large scores that rise with the position, so that order, maximum and last token matter. */
function decode(): DecodeCase {
  const base = decodeCase(16, 2, 512, 300);
  return { ...base, shape: { ...base.shape, scale: 0.5 } };
}

async function worst(fault: Fault | undefined, operator: Fault["operator"], route: string): Promise<number> {
  const options = fault === undefined ? {} : { fault };
  if (operator === "gqa_decode") {
    const test = decode();
    const error = difference(await runDecode(device, route, test, options), decodeReference(test));
    return Math.max(error.out, error.lse);
  }
  const test = prefillCase({ queries: [40, 60], keys: [50, 60] }, 2, [32, 32, 32], "f32");
  const error = difference(await runPrefill(device, route, test, options), prefillReference(test));
  return Math.max(error.out, error.lse);
}

test.each(FAULTS.map((fault) => [fault.name, fault] as const))("%s", async (_, fault) => {
  expect(await worst(undefined, fault.operator, fault.route)).toBeLessThan(1e-5);
  expect(await worst(fault, fault.operator, fault.route)).toBeGreaterThan(1e-3);
});
