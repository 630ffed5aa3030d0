import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { loadAddon } from "../../native/addon.ts";
import { DeviceError } from "../../native/device.ts";
import { openDevice, profileOf } from "../../native/open.ts";

const ROOT = resolve(import.meta.dirname, "..", "..");
const addon = loadAddon(join(ROOT, "out", "lockstep.node"));
const withoutMetal = { addon: { ...addon, metal: null }, runnerPath: "/nowhere/runner" };

async function refusal(action: Promise<unknown>): Promise<DeviceError> {
  const error = await action.catch((reason: unknown) => reason);
  if (error instanceof DeviceError) return error;
  throw new Error(`not refused: ${String(error)}`);
}

describe("profileOf", () => {
  it("has the profile of what would be emulated", async () => {
    expect(await profileOf({ kind: "emulated", chip: "M5" }, withoutMetal)).toMatchObject({ id: "emulated:m5" });
    expect(await profileOf({ kind: "emulated" }, withoutMetal)).toMatchObject({ execution: "emulated" });
  });

  it("refuses an unknown chip, and Metal without Metal", async () => {
    expect(await refusal(profileOf({ kind: "emulated", chip: "M77" }, withoutMetal))).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("There is no chip 'M77'"),
    });
    expect(await refusal(profileOf({ kind: "metal" }, withoutMetal))).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("Mend: run Lockstep on a Mac"),
    });
  });
});

describe("openDevice", () => {
  it("takes the parts of each kind", async () => {
    expect((await refusal(openDevice({ kind: "emulated" }, withoutMetal))).message).toContain("/nowhere/runner");
    expect(await refusal(openDevice({ kind: "metal", index: 0 }, withoutMetal))).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("built without Metal"),
    });
  });
});
