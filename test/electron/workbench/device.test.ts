/** The calls of the Device page, through the contract. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deviceState } from "../../../electron/workbench/device.ts";
import { type OpenedWindow, openWindow } from "./fixture.ts";

let opened: OpenedWindow;

beforeAll(() => {
  opened = openWindow();
});

afterAll(() => opened.close());

describe("the Device page's calls", () => {
  it("answer the capability table for a chip, and refuse a chip that does not exist", async () => {
    const { features, capabilities } = await opened.window.call("device.features", { device: null, chip: "M5" });
    expect(capabilities.appleFamily).toBe(10);
    expect(features.find(({ id }) => id === "matrix_16x16")?.state).toBe("held");
    const { features: ofM1 } = await opened.window.call("device.features", { device: null, chip: "M1" });
    expect(ofM1.map(({ id }) => id)).toEqual(features.map(({ id }) => id));
    await expect(opened.window.call("device.features", { device: null, chip: "M99" })).rejects.toMatchObject({
      name: "UsageError",
    });
  });

  it("answer the state of the machine, the same rows each time", async () => {
    const first = await opened.window.call("device.state", {});
    const second = await opened.window.call("device.state", {});
    expect(second.facts.map(({ id }) => id)).toEqual(first.facts.map(({ id }) => id));
    expect(Date.parse(second.at)).toBeGreaterThanOrEqual(Date.parse(first.at));
    for (const { value, reason } of first.facts) expect((value === null) !== (reason === null)).toBe(true);
  });

  it("pass on what a desktop shell knows of its system", () => {
    const { facts } = deviceState({ thermalState: "serious", lowPowerMode: false, onBattery: true });
    expect(facts.find(({ id }) => id === "thermal_state")?.value).toBe("serious");
    expect(facts.find(({ id }) => id === "low_power")?.value).toBe("off");
  });
});
