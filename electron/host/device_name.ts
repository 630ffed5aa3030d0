/** Names of devices on the command line: `emulated`, `emulated:apple9`, `metal`, `metal:1`, `nvidia`. */
import { chipTable, shortName } from "../../native/chips.ts";
import { EMULATED_FAMILIES } from "../../native/device.ts";
import { emulatedProfile } from "../../native/emulator/profile.ts";
import type { DeviceWanted } from "../../native/open.ts";
import { UsageError, unknownName } from "../runs/usage.ts";

/** For `emulatedWanted`. */
export const CHECKS = "The checker looks at every access, which it can";

const KINDS = ["emulated", "metal", "nvidia"];

/**
 * What `--device` and `--chip` name; null where neither is given and the choice is left to the machine. A chip alone is one
 * to emulate. Throws `UsageError` for unknown names and for two that contradict each other. Whether a Metal device is there
 * is found out when it is opened.
 */
export function deviceWanted(device: string | null, chip: string | null): DeviceWanted | null {
  if (device === null && chip === null) return null;
  const [kind = "emulated", named, ...rest] = (device ?? "emulated").split(":");
  if (rest.length > 0 || !KINDS.includes(kind))
    throw unknownName("device", device ?? "", [...KINDS, "metal:0", "emulated:apple9"]);
  if (kind === "nvidia") {
    throw new UsageError('The device "nvidia" is not there: `lockstep devices` says why. Use --device emulated.');
  }
  if (kind === "metal") {
    if (chip !== null) {
      throw new UsageError(
        `--chip names "${chip}", a chip to emulate, and --device names a GPU of this machine: give one of them.`,
      );
    }
    if (named === undefined) return { kind: "metal" };
    if (!/^(0|[1-9]\d{0,2})$/.test(named)) {
      throw new UsageError(`The device "${device}" is no name: a Metal device is metal, or metal:0 and so on.`);
    }
    return { kind: "metal", index: Number(named) };
  }
  if (named !== undefined && chip !== null && named !== chip) {
    throw new UsageError(`--device names "${named}" and --chip names "${chip}": give one of them.`);
  }
  const wanted = chip ?? named;
  return wanted === undefined ? { kind: "emulated" } : { kind: "emulated", chip: knownChip(wanted) };
}

/**
 * The same for what only the emulated device can do, which `what` names at the start of a sentence. Throws `UsageError` where
 * another device is named.
 */
export function emulatedWanted(
  device: string | null,
  chip: string | null,
  what: string,
): Extract<DeviceWanted, { kind: "emulated" }> {
  const wanted = deviceWanted(device, chip) ?? { kind: "emulated" };
  if (wanted.kind === "emulated") return wanted;
  throw new UsageError(`${what} on the emulated device alone: leave out --device ${device}, or name emulated.`);
}

/** The words that name a device: `metal:1`, `emulated:M3 Max`. */
export function wantedName(wanted: DeviceWanted): string {
  const detail = wanted.kind === "metal" ? wanted.index : wanted.chip;
  return detail === undefined ? wanted.kind : `${wanted.kind}:${detail}`;
}

function knownChip(name: string): string {
  try {
    emulatedProfile(name);
    return name;
  } catch {
    throw unknownName("chip", name, [...EMULATED_FAMILIES, ...chipTable().chips.map((entry) => shortName(entry))]);
  }
}
