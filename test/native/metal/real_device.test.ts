/**
 * The conformance suite on Metal itself, the system's default device: what `npm run mac:accept` does as one of its steps, as a
 * test. It runs on a Mac alone. It has not been run yet.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Addon, loadAddon } from "../../../native/addon.ts";
import { runConformance } from "../../../native/conformance/conformance.ts";
import { conformanceSummary } from "../../../native/conformance/summary.ts";
import { metalEntries } from "../../../native/devices.ts";
import { openDevice } from "../../../native/open.ts";
import { ADDON_PATH } from "../msl/workbench.ts";

let addon: Addon;
let cacheDir: string;

beforeAll(() => {
  // The other tests leave Metal out.
  delete process.env.LOCKSTEP_METAL;
  addon = loadAddon(ADDON_PATH);
  cacheDir = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-test-"));
});

afterAll(() => fs.rmSync(cacheDir, { recursive: true, force: true }));

test("the addon that is built on a Mac offers Metal", () => {
  expect(addon.metal).not.toBeNull();
});

test("the default device fails no check of the conformance suite, or Metal says why there is none", async () => {
  const entries = await metalEntries(addon.metal);
  const [reason] = entries.flatMap((entry) => (entry.available ? [] : [`${entry.reason}: ${entry.mend}`]));
  if (!entries.some(({ available }) => available)) {
    // A session over SSH has none.
    process.stdout.write(`not run: the conformance suite on Metal: ${reason}\n`);
    expect(reason).not.toBe("");
    return;
  }
  const device = await openDevice({ kind: "metal" }, { addon, runnerPath: "", cacheDir, logging: true });
  const results = await runConformance(device, undefined, { logging: true });
  process.stdout.write(`${device.profile.name.value}: ${conformanceSummary(results)}\n`);
  expect(results.filter(({ outcome }) => outcome === "failed")).toEqual([]);
  expect(results.some(({ outcome }) => outcome === "passed")).toBe(true);
}, 600_000);
