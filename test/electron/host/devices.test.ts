/** Which device is taken, and what a door learns of Metal from its host. */
import fs from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chooseDevice, chosenProfile } from "../../../electron/host/choose.ts";
import { HostClient } from "../../../electron/host/client.ts";
import { CHECKS, deviceWanted, emulatedWanted, wantedName } from "../../../electron/host/device_name.ts";
import { devicesOf, metalOf } from "../../../electron/host/door_devices.ts";
import type { DeviceEntry } from "../../../native/device.ts";
import { metalProfile } from "../evidence/fixture.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";
import { runRequest } from "./request.ts";
import { heard, toldHost } from "./told_host.ts";

let folder: string;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const there = (virtual = false): DeviceEntry => ({ kind: "metal", available: true, profile: metalProfile(virtual) });
const NONE: DeviceEntry = { kind: "metal", available: false, reason: "this is no Mac", mend: "take one" };

describe("a name", () => {
  it("is read, and nothing is nothing", () => {
    expect(deviceWanted(null, null)).toBeNull();
    expect(deviceWanted("metal", null)).toEqual({ kind: "metal" });
    expect(deviceWanted("metal:1", null)).toEqual({ kind: "metal", index: 1 });
    expect(deviceWanted("emulated", null)).toEqual({ kind: "emulated" });
    expect(deviceWanted("emulated:apple9", null)).toEqual({ kind: "emulated", chip: "apple9" });
    expect(deviceWanted(null, "M4 Max")).toEqual({ kind: "emulated", chip: "M4 Max" });
    for (const name of ["metal", "metal:1", "emulated", "emulated:apple9"]) {
      expect(wantedName(deviceWanted(name, null)!)).toBe(name);
    }
  });

  it("that is none, or two that differ, are refused with both sides", () => {
    expect(() => deviceWanted("cuda", null)).toThrow('No device is called "cuda"');
    expect(() => deviceWanted("nvidia", null)).toThrow("not there");
    for (const name of ["metal:x", "metal:", "metal:-1", "metal:00", "metal:0x1", "metal:1000", "metal: 1"]) {
      expect(() => deviceWanted(name, null)).toThrow("metal:0 and so on");
    }
    expect(() => deviceWanted("metal", "M3 Max")).toThrow(/"M3 Max", a chip to emulate, and --device names a GPU/);
    expect(() => deviceWanted("emulated:M1", "M3")).toThrow('names "M1" and --chip names "M3"');
    expect(() => deviceWanted(null, "M99")).toThrow("M99");
    expect(() => emulatedWanted("metal", null, CHECKS)).toThrow(
      "on the emulated device alone: leave out --device metal",
    );
  });
});

describe("the choice", () => {
  it("is what was asked for, else Metal, else the emulated device, and says why", () => {
    expect(chooseDevice({ kind: "emulated" }, [there()])).toEqual({
      wanted: { kind: "emulated" },
      reasons: ["emulated was asked for"],
    });
    expect(chooseDevice(null, [there()])).toMatchObject({
      wanted: { kind: "metal" },
      reasons: [expect.stringContaining("metal:0 is there")],
    });
    expect(chooseDevice(null, [there(true)]).reasons.join(" ")).toContain("support no chip");
    expect(chooseDevice(null, [NONE])).toEqual({
      wanted: { kind: "emulated" },
      reasons: ["no Metal device: this is no Mac"],
    });
  });

  it("has the profile of the system's default device, of the named one, or the reason why not", () => {
    const second = { ...metalProfile(), id: "metal:1", facts: [fact("yes")] };
    const entries: readonly DeviceEntry[] = [
      { kind: "metal", available: true, profile: { ...metalProfile(), facts: [fact("no")] } },
      { kind: "metal", available: true, profile: second },
    ];
    expect(chosenProfile({ wanted: { kind: "metal" }, reasons: [] }, entries).id).toBe("metal:1");
    expect(chosenProfile({ wanted: { kind: "metal", index: 0 }, reasons: [] }, entries).id).toBe("metal:0");
    expect(() => chosenProfile({ wanted: { kind: "metal", index: 7 }, reasons: [] }, entries)).toThrow(
      "Metal lists metal:0, metal:1",
    );
    expect(() => chosenProfile({ wanted: { kind: "metal" }, reasons: [] }, [NONE])).toThrow(
      "this is no Mac. Mend: take one",
    );
  });
});

function fact(value: string) {
  return { id: "is_default", label: "default", value, by: "api", source: "test", reason: null } as const;
}

describe("a door", () => {
  it("asks its host once, also while a run is going on, and the next host again", async () => {
    const file = toldHost(folder, { steps: [], metal: [there()] });
    const client = new HostClient({ path: file });
    expect(await client.metal()).toMatchObject([{ profile: { id: "metal:0", virtualGpu: { value: false } } }]);
    // This run never ends by itself.
    const run = client.run(runRequest(folder), () => undefined);
    expect(await client.metal()).toHaveLength(1);
    expect(heard(file).filter(({ type }) => type === "devices")).toHaveLength(1);
    client.kill();
    await run;
    expect(await client.metal()).toHaveLength(1);
    expect(heard(file).filter(({ type }) => type === "devices")).toHaveLength(2);
    await client.close();
  });

  it("hears why there is none where the host dies, and asks again later", async () => {
    const file = toldHost(folder, { steps: [], metal: [] });
    const client = new HostClient({ path: file });
    // An empty list may not be sent: the host is stopped for it.
    expect(await client.metal()).toMatchObject([
      { available: false, reason: expect.stringContaining("The host stopped") },
    ]);
    await client.metal();
    expect(heard(file)).toHaveLength(2);
    await client.close();
  });

  it("starts no host where Metal cannot be, and lists every kind in order", async () => {
    const nobody = { metal: () => Promise.reject(new Error("nobody is asked")) };
    expect(await metalOf(nobody, "linux")).toMatchObject([{ kind: "metal", available: false }]);
    const listed = await devicesOf({ metal: async () => [there()] }, "M1", "darwin");
    expect(listed.map(({ kind }) => kind)).toEqual(["metal", "emulated", "nvidia"]);
    expect(listed[0]).toMatchObject({ available: true, profile: { id: "metal:0" } });
  });

  it("gets an answer from the real host, which has no Metal here", async () => {
    const client = new HostClient({ path: WHERE.host });
    const entries = await client.metal();
    expect(entries.length).toBeGreaterThan(0);
    expect(entries).toMatchObject([{ available: false, kind: "metal" }]);
    await client.close();
  });
});
