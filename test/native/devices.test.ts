import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listDevices } from "../../native/devices.ts";
import { PREFERRED_CLANG } from "../../native/msl/compilers.mjs";

let cacheDir: string;

beforeAll(() => {
  cacheDir = mkdtempSync(join(tmpdir(), "lockstep-devices-"));
});

afterAll(() => {
  rmSync(cacheDir, { recursive: true, force: true });
});

describe("listDevices", () => {
  it("has the emulated device with the profile of the chip asked for", async () => {
    const emulated = (await listDevices({ chip: "M5 Pro", cacheDir })).find((entry) => entry.kind === "emulated");
    expect(emulated).toMatchObject({
      available: true,
      profile: { id: "emulated:m5-pro", family: { value: "apple10" } },
    });
    expect(emulated?.available && emulated.profile.toolchain.value).toMatch(/clang version \d+/);
  });

  it("says of every device that is not there why, and what helps", async () => {
    const missing = (await listDevices({ cacheDir })).filter((entry) => !entry.available);
    expect(missing.map((entry) => entry.kind)).toEqual(["metal", "nvidia"]);
    for (const entry of missing) {
      expect(entry.available ? "" : entry.reason).not.toBe("");
      expect(entry.available ? "" : entry.mend).not.toBe("");
    }
    const [metal] = missing;
    const reason = metal?.available === false ? metal.reason : "";
    const expected = process.platform === "darwin" ? "not built yet" : "needs macOS on Apple silicon";
    expect(reason).toContain(expected);
  });

  it("without a compiler names the line that installs one", async () => {
    const environment = { PATH: "" };
    const emulated = (await listDevices({ environment, cacheDir })).find((entry) => entry.kind === "emulated");
    expect(emulated).toMatchObject({ available: false, reason: "no clang++ on this machine" });
    expect(emulated?.available === false && emulated.mend).toContain(String(PREFERRED_CLANG));
  });

  it("refuses an unknown chip", async () => {
    await expect(listDevices({ chip: "M77", cacheDir })).rejects.toThrow("There is no chip 'M77'");
  });
});
