/** Receipts and timings from bundles that the real host wrote on the real emulated device. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { follow, type OpenedWindow, openWindow, request } from "./fixture.ts";

const CASE = "gqa_decode/h32kv4d512/L33/spread/f32";
let opened: OpenedWindow;
const ids: string[] = [];

beforeAll(async () => {
  opened = openWindow();
  for (const chip of [null, null, "M1"]) {
    const { id } = await opened.window.call("runs.start", request({ chip }));
    await follow(opened.window, id);
    ids.push(id);
  }
}, 60_000);

afterAll(() => opened.close());

describe("captures.inspect", () => {
  it("gives the receipts of a result, and the model of its device's family", async () => {
    const answer = await opened.window.call("captures.inspect", { id: ids[0]!, case: CASE, route: "naive" });
    const names = answer.receipts.map(({ receipt }) => receipt.function);
    expect(new Set(names)).toEqual(new Set(["gqa_naive"]));
    expect(answer.receipts[0]!.receipt).toMatchObject({ flavour: "fast", simdWidth: { value: 32 } });
    expect(answer).toMatchObject({ occupancy: { family: "apple9" }, noModel: null });
    const other = await opened.window.call("captures.inspect", { id: ids[2]!, case: CASE, route: "naive" });
    expect(other.occupancy?.id).toBe("apple7-steps/1");
  });

  it("refuses a result that the run does not have", async () => {
    const asked = opened.window.call("captures.inspect", { id: ids[0]!, case: CASE, route: "three_stage" });
    await expect(asked).rejects.toThrow("has no result of three_stage");
  });
});

describe("captures.timings", () => {
  it("gives the times of every run of the device, oldest first, and of no other device", async () => {
    const { device, execution, samples, runs, left } = await opened.window.call("captures.timings", {
      id: ids[1]!,
      case: CASE,
    });
    expect({ device, execution, runs, left }).toEqual({
      device: "emulated:m3-max",
      execution: "emulated",
      runs: 2,
      left: 0,
    });
    expect(samples.map(({ run }) => run)).toEqual([ids[0], ids[1]]);
    for (const sample of samples) {
      expect(sample).toMatchObject({ route: "naive", passed: true, dispatches: [{ label: "attention" }] });
      expect(sample.dispatches[0]!.ns).toBeGreaterThan(0);
    }
    const other = await opened.window.call("captures.timings", { id: ids[2]!, case: CASE });
    expect(other.samples.map(({ run }) => run)).toEqual([ids[2]]);
  });

  it("has no samples of a case that nobody ran, and fails for a run that is not there", async () => {
    const none = await opened.window.call("captures.timings", { id: ids[0]!, case: "gqa_decode/none" });
    expect(none.samples).toEqual([]);
    await expect(opened.window.call("captures.timings", { id: "not-there.lockstep", case: CASE })).rejects.toThrow(
      "no kept run",
    );
  });
});
