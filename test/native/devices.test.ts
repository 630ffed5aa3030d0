import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listDevices, metalEntries } from "../../native/devices.ts";
import { emulatedProfile } from "../../native/emulator/profile.ts";
import { candidates, PREFERRED_CLANG } from "../../native/msl/compilers.mjs";

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
    const expected = process.platform === "darwin" ? "has not been asked" : "needs macOS on Apple silicon";
    expect(reason).toContain(expected);
  });

  it("takes what the host answered of Metal, in front of the others", async () => {
    const profile = { ...emulatedProfile("M1"), id: "metal:0", execution: "metal" as const };
    const metal = [
      { kind: "metal" as const, available: true as const, profile },
      { kind: "metal" as const, available: false as const, reason: "no Apple family", mend: "another Mac" },
    ];
    const listed = await listDevices({ metal, cacheDir });
    expect(listed.slice(0, 2)).toEqual(metal);
    expect(listed.map((entry) => entry.kind)).toEqual(["metal", "metal", "emulated", "nvidia"]);
  });

  it("has one answer where the addon has no Metal, and for a door without an addon", async () => {
    const [entry, ...more] = await metalEntries(null);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ kind: "metal", available: false });
    expect((await listDevices({ addon: { metal: null }, cacheDir }))[0]).toEqual(entry);
    expect((await listDevices({ addon: null, cacheDir }))[0]?.available).toBe(false);
  });

  // On a Mac LLVM lies outside of PATH.
  it.runIf(candidates({ PATH: "" }).length === 0)("without a compiler names the line that installs one", async () => {
    const environment = { PATH: "" };
    const emulated = (await listDevices({ environment, cacheDir })).find((entry) => entry.kind === "emulated");
    expect(emulated).toMatchObject({ available: false, reason: "no clang++ on this machine" });
    expect(emulated?.available === false && emulated.mend).toContain(String(PREFERRED_CLANG));
  });

  it("refuses an unknown chip", async () => {
    await expect(listDevices({ chip: "M77", cacheDir })).rejects.toThrow("There is no chip 'M77'");
  });
});
