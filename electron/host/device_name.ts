/** Names of devices on the command line: `emulated`, `emulated:apple9`, `metal`, `nvidia`. */
import { chipTable, shortName } from "../../native/chips.ts";
import { EMULATED_FAMILIES } from "../../native/device.ts";
import { emulatedProfile } from "../../native/emulator/profile.ts";
import { UsageError, unknownName } from "../runs/usage.ts";

const KINDS = ["emulated", "metal", "nvidia"];

/**
 * The chip or family to emulate; undefined for the default. Throws `UsageError` for unknown names and for devices that
 * are not there.
 */
export function chipOf(device: string | null, chip: string | null): string | undefined {
  const [kind = "emulated", named, ...rest] = (device ?? "emulated").split(":");
  if (rest.length > 0 || !KINDS.includes(kind))
    throw unknownName("device", device ?? "", [...KINDS, "emulated:apple9"]);
  if (kind !== "emulated") {
    throw new UsageError(`The device "${kind}" is not there: \`lockstep devices\` says why. Use --device emulated.`);
  }
  if (named !== undefined && chip !== null && named !== chip) {
    throw new UsageError(`--device names "${named}" and --chip names "${chip}": give one of them.`);
  }
  const wanted = chip ?? named;
  if (wanted === undefined) return undefined;
  try {
    emulatedProfile(wanted);
    return wanted;
  } catch {
    const names = [...EMULATED_FAMILIES, ...chipTable().chips.map((entry) => shortName(entry))];
    throw unknownName("chip", wanted, names);
  }
}
