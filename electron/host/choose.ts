/**
 * Which device a request takes: the one that it names, else Metal where there is one, else the emulated device. The choice
 * says why, and both go into the output and the record. Pure: what Metal devices there are comes in.
 */
import type { DeviceEntry, DeviceProfile } from "../../native/device.ts";
import { emulatedProfile } from "../../native/emulator/profile.ts";
import type { DeviceWanted } from "../../native/open.ts";
import { UsageError } from "../runs/usage.ts";
import { wantedName } from "./device_name.ts";

export interface DeviceChoice {
  readonly wanted: DeviceWanted;
  /** Sentences without a full stop, the decisive one first. */
  readonly reasons: readonly string[];
}

/** @param metal what the host knows of Metal, as `metalEntries` gives it: never empty */
export function chooseDevice(asked: DeviceWanted | null, metal: readonly DeviceEntry[]): DeviceChoice {
  if (asked !== null) return { wanted: asked, reasons: [`${wantedName(asked)} was asked for`] };
  const profile = defaultOf(profilesOf(metal));
  if (profile === undefined) {
    return { wanted: { kind: "emulated" }, reasons: [`no Metal device: ${whyNot(metal).reason}`] };
  }
  return {
    wanted: { kind: "metal" },
    reasons: [
      `${profile.id} is there, and a device comes before an emulated one`,
      ...(profile.virtualGpu?.value === true
        ? ["it is a virtual GPU, which a hypervisor lends: its results support no chip"]
        : []),
    ],
  };
}

/**
 * The profile of a choice, without opening anything. That of an emulated device names no toolchain. Throws `UsageError` with
 * the reason where the Metal device is not there.
 */
export function chosenProfile({ wanted }: DeviceChoice, metal: readonly DeviceEntry[]): DeviceProfile {
  if (wanted.kind === "emulated") return emulatedProfile(wanted.chip);
  const profiles = profilesOf(metal);
  const found = wanted.index === undefined ? defaultOf(profiles) : profiles.find(({ id }) => id === wantedName(wanted));
  if (found !== undefined) return found;
  if (profiles.length > 0) {
    const names = profiles.map(({ id }) => id).join(", ");
    throw new UsageError(`The device "${wantedName(wanted)}" is not there: Metal lists ${names}.`);
  }
  const { reason, mend } = whyNot(metal);
  throw new UsageError(`The device "${wantedName(wanted)}" is not there: ${reason}. Mend: ${mend}.`);
}

function profilesOf(metal: readonly DeviceEntry[]): readonly DeviceProfile[] {
  return metal.flatMap((entry) => (entry.available ? [entry.profile] : []));
}

/** The system's default device, as it is opened where no index is named. */
function defaultOf(profiles: readonly DeviceProfile[]): DeviceProfile | undefined {
  const isDefault = ({ facts }: DeviceProfile): boolean =>
    facts?.some(({ id, value }) => id === "is_default" && value === "yes") ?? false;
  return profiles.find(isDefault) ?? profiles[0];
}

function whyNot(metal: readonly DeviceEntry[]): { readonly reason: string; readonly mend: string } {
  for (const entry of metal) if (!entry.available) return entry;
  return { reason: "nobody was asked", mend: "ask the host" };
}
