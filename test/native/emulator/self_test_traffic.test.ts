import { afterAll, beforeAll, expect, it } from "vitest";
import type { CheckResult } from "../../../native/check.ts";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { resultProblem, trafficProblem } from "../../../native/emulator/self_test_traffic.ts";
import { testDevice } from "../msl/workbench.ts";

let device: EmulatedDevice;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

it.each(["check", "check+lockstep"] as const)("the compiler's counts are right in %s", async (flavour) => {
  let seen: CheckResult | undefined;
  const submit = async (...given: Parameters<EmulatedDevice["submit"]>) => {
    const result = await device.submit(...given);
    seen = result.check;
    return result;
  };
  expect(await trafficProblem(device, flavour, submit)).toBeUndefined();
  expect(seen?.traffic).toMatchObject({
    exact: true,
    exactReason: "a kernel of known traffic was counted right with this compiler",
  });
});

it("counts that are off by one access are told, with both sides", async () => {
  let seen: CheckResult | undefined;
  await trafficProblem(device, "check", async (dispatches) => {
    const result = await device.submit(dispatches);
    seen = result.check;
    return result;
  });
  const off = structuredClone(seen!) as CheckResult;
  const line = off.traffic.dispatches[0]!.lines.find((one) => one.location?.line === 17)!;
  Object.assign(line.bytes, { requested: line.bytes.requested - 4 });
  expect(resultProblem(off)).toBe("line 17 of the self-test kernel has requested 1532 on stage; it must be 1536");
  expect(resultProblem({ ...seen!, traffic: { ...seen!.traffic, dispatches: [] } })).toContain(
    "line 12 of the self-test",
  );
});
