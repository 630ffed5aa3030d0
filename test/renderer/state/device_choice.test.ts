/** Which device a run takes: what the URL says, what is offered, why; and that window and claims agree on what supports a chip. */
import { describe, expect, it } from "vitest";
import { chipSupport } from "../../../electron/evidence/level.ts";
import type { DeviceProfile, KnownBy } from "../../../native/device.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";
import { standingOf } from "../../../renderer/parts/standing.tsx";
import {
  choiceOf,
  choiceWords,
  chosenProfile,
  type DeviceEntry,
  defaultProfile,
  deviceOptions,
  metalOnly,
  optionChoice,
  optionValue,
  whyDevice,
} from "../../../renderer/state/device_choice.ts";

function metal(id: string, change: Partial<DeviceProfile> = {}): DeviceProfile {
  const by = <T>(value: T) => ({ value, by: "api" as const, source: "a test" });
  return {
    ...emulatedProfile("M3 Max"),
    id,
    execution: "metal",
    name: by(`Apple GPU ${id}`),
    chip: by("M3 Max"),
    virtualGpu: by(false),
    ...change,
  };
}

function isDefault(value: "yes" | "no"): Pick<DeviceProfile, "facts"> {
  return { facts: [{ id: "is_default", label: "", value, by: "api", source: "", reason: null }] };
}

const entry = (profile: DeviceProfile): DeviceEntry =>
  ({ kind: profile.execution, available: true, profile }) as unknown as DeviceEntry;
const EMULATED = entry(emulatedProfile());
const NO_METAL: DeviceEntry = { kind: "metal", available: false, reason: "this is Linux x86-64", mend: "take a Mac" };
const LINUX = [NO_METAL, EMULATED];
const MAC = [entry(metal("metal:0", isDefault("no"))), entry(metal("metal:1", isDefault("yes"))), EMULATED];
const CHIPS = [
  { shortName: "M1", family: "apple7" },
  { shortName: "M5", family: "apple10" },
] as unknown as Parameters<typeof deviceOptions>[1];

describe("a choice of a device", () => {
  it("is read from the URL; a chip names what to emulate, whatever device stands beside it", () => {
    expect(choiceOf({})).toEqual({ device: null, chip: null });
    expect(choiceOf({ device: "metal:1" })).toEqual({ device: "metal:1", chip: null });
    expect(choiceOf({ device: "metal:1", chip: "M5" })).toEqual({ device: null, chip: "M5" });
    expect(choiceWords({ device: "metal:1", chip: null })).toEqual(["--device", "metal:1"]);
    expect(choiceWords({ device: null, chip: "M5" })).toEqual(["--chip", "M5"]);
    for (const choice of [
      { device: null, chip: null },
      { device: "metal:1", chip: null },
      { device: null, chip: "M3 Max" },
    ]) {
      expect(optionChoice(optionValue(choice))).toEqual(choice);
    }
  });

  it("left open is the system's default Metal device, then the first there is", () => {
    expect(defaultProfile(MAC)?.id).toBe("metal:1");
    expect(defaultProfile([entry(metal("metal:0")), EMULATED])?.id).toBe("metal:0");
    expect(defaultProfile(LINUX)?.execution).toBe("emulated");
    expect(defaultProfile([NO_METAL])).toBeUndefined();
  });

  it("names one device, a kind, or a chip to emulate", () => {
    expect(chosenProfile(MAC, { device: "metal:0", chip: null })?.id).toBe("metal:0");
    expect(chosenProfile(MAC, { device: "metal", chip: null })?.id).toBe("metal:1");
    expect(chosenProfile(MAC, { device: "emulated", chip: null })?.execution).toBe("emulated");
    expect(chosenProfile(MAC, { device: null, chip: "M5" })?.execution).toBe("emulated");
    expect(chosenProfile(LINUX, { device: "metal:0", chip: null })).toBeUndefined();
  });

  it("says why: asked for, first in line, or that there is no Metal device and why", () => {
    expect(whyDevice(MAC, { device: null, chip: "M5" })).toBe("chosen by you");
    expect(whyDevice(MAC, { device: null, chip: null })).toBe("the system's own device comes first");
    expect(whyDevice(LINUX, { device: null, chip: null })).toContain("no Metal device: this is Linux x86-64");
    expect(whyDevice(LINUX, { device: "metal:0", chip: null })).toBe("metal:0 is not there");
    expect(whyDevice([NO_METAL], { device: null, chip: null })).toBe("no device is there");
  });

  it("offers what is there, and lists what is not with its reason, not to be chosen", () => {
    const [hand, metals, emulated] = deviceOptions(MAC, CHIPS);
    expect(hand!.options).toEqual([{ value: "", label: "default: Apple GPU metal:1", disabled: false }]);
    expect(metals!.options.map(({ value }) => value)).toEqual(["metal:0", "metal:1"]);
    expect(emulated!.options.map(({ label }) => label)).toEqual([
      "default chip, emulated",
      "M5, Apple10, emulated",
      "M1, Apple7, emulated",
    ]);
    const [, none] = deviceOptions(LINUX, CHIPS);
    expect(none!.options).toEqual([{ value: "metal", label: "none: this is Linux x86-64", disabled: true }]);
    const virtual = metal("metal:0", { virtualGpu: { value: true, by: "api", source: "" } });
    expect(deviceOptions([entry(virtual), EMULATED], [])[1]!.options[0]!.label).toContain("virtual GPU");
  });

  it("allows validation and captures on a Metal device alone", () => {
    expect(metalOnly(MAC, { device: null, chip: null })).toEqual({ possible: true, reason: "" });
    expect(metalOnly(MAC, { device: null, chip: "M5" }).reason).toContain("only on a Metal device: choose");
    expect(metalOnly(LINUX, { device: null, chip: null })).toEqual({
      possible: false,
      reason: "no Metal device: this is Linux x86-64",
    });
  });
});

describe("what results of a device are worth", () => {
  it("is the same in the window as in the claims, however each fact is known", () => {
    const ways: readonly KnownBy[] = ["api", "probe", "table", "inferred", "assumed"];
    const seen = new Set<string>();
    for (const chipBy of ways) {
      for (const virtualBy of [...ways, null]) {
        for (const value of [true, false]) {
          const device = metal("metal:0", {
            chip: { value: "M3 Max", by: chipBy, source: "" },
            virtualGpu: virtualBy === null ? undefined : { value, by: virtualBy, source: "" },
          } as Partial<DeviceProfile>);
          const standing = standingOf("metal", device);
          const { chip } = chipSupport({ execution: "metal", device } as unknown as Parameters<typeof chipSupport>[0]);
          seen.add(standing);
          expect(standing === "chip", `${chipBy} ${virtualBy} ${value}`).toBe(chip !== null);
        }
      }
    }
    expect([...seen].sort()).toEqual(["chip", "unsure", "virtual"]);
    expect(standingOf("emulated", metal("metal:0"))).toBe("emulated");
    expect(standingOf("imported", null)).toBe("imported");
  });
});
