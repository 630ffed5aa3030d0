import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { loadAddon } from "../../native/addon.ts";
import { DeviceError } from "../../native/device.ts";
import { openDevice } from "../../native/open.ts";

const ROOT = resolve(import.meta.dirname, "..", "..");
const addon = loadAddon(join(ROOT, "out", "lockstep.node"));
const withoutMetal = { addon: { ...addon, metal: null }, runnerPath: "/nowhere/runner" };

async function refusal(action: Promise<unknown>): Promise<DeviceError> {
  const error = await action.catch((reason: unknown) => reason);
  if (error instanceof DeviceError) return error;
  throw new Error(`not refused: ${String(error)}`);
}

describe("openDevice", () => {
  it("takes the parts of each kind", async () => {
    expect((await refusal(openDevice({ kind: "emulated" }, withoutMetal))).message).toContain("/nowhere/runner");
    expect(await refusal(openDevice({ kind: "metal", index: 0 }, withoutMetal))).toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/built without Metal.*Mend: run Lockstep on a Mac/),
    });
  });
});
