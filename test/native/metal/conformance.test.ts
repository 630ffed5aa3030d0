/** The conformance suite on the Metal device over the stand-in: native/metal is executed, kernels run in the emulator. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { runConformance } from "../../../native/conformance/conformance.ts";
import { openDevice } from "../../../native/open.ts";
import { openStandIn, STAND_IN_NAME, STAND_IN_TIMEOUT_MS, type StandIn } from "./stand_in/open.ts";

let standIn: StandIn;

beforeAll(async () => {
  standIn = await openStandIn();
}, STAND_IN_TIMEOUT_MS);

/** What the suite cannot try on Metal, and nothing else. */
const NOT_RUN = ["pipeline.flavours", "pipeline.check_flavour", "control.endless", "control.fault"];

test.each([
  ["macOS 26, counters at stage boundaries", { os: "26.1.0" }, NOT_RUN],
  [
    "macOS 13, no counters",
    { os: "13.5.0", stage_boundary: 0, counter_sets: "nil" },
    [...NOT_RUN, "pipeline.required_threads", "control.log"],
  ],
])("%s", async (_name, scenario, notRun) => {
  standIn.set(scenario);
  const device = await openDevice(
    { kind: "metal" },
    {
      addon: standIn.addon,
      runnerPath: "",
      cacheDir: fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-test-")),
      logging: true,
    },
  );
  expect(device.profile).toMatchObject({ execution: "metal", name: { value: STAND_IN_NAME } });
  const results = await runConformance(device, undefined, { logging: true });
  expect(results.filter((one) => one.outcome === "failed")).toEqual([]);
  expect(
    results
      .filter((one) => one.outcome === "not_run")
      .map((one) => one.id)
      .sort(),
  ).toEqual([...notRun].sort());
  expect(standIn.violations()).toEqual([]);
  expect(standIn.objects().withoutPool).toBe(0);
});
