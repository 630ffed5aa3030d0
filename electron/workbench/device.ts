/** What the Device page asks: the capability table of a chip, and the state of the machine right now. */
import { listDevices } from "../../native/devices.ts";
import { emulatedProfile } from "../../native/emulator/profile.ts";
import type { CallInput, CallOutput } from "../contract.ts";
import { featuresOf } from "../device/features.ts";
import { capabilitiesOf } from "../dispatch/capabilities.ts";
import { chipOf } from "../host/device_name.ts";
import { machineState, type SystemReadings } from "../host/machine.ts";

/**
 * Of the device that a run would take; where none can be opened, of the profile that would be emulated. Rejects with
 * Error naming the chips there are for one that does not exist.
 */
export async function deviceFeatures({ chip }: CallInput<"device.features">): Promise<CallOutput<"device.features">> {
  const wanted = chipOf(null, chip);
  const devices = await listDevices(wanted === undefined ? {} : { chip: wanted });
  const [first] = devices.flatMap((entry) => (entry.available ? [entry.profile] : []));
  const profile = first ?? emulatedProfile(wanted);
  const capabilities = capabilitiesOf(profile);
  return { capabilities, features: featuresOf(capabilities, profile) };
}

/** @param readings what a desktop shell knows of its system; absent in the browser */
export function deviceState(readings?: SystemReadings): CallOutput<"device.state"> {
  return { at: new Date().toISOString(), facts: machineState(readings === undefined ? {} : { readings }) };
}
