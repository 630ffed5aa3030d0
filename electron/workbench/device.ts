/** What the Device page asks: the capability table of a chip, and the state of the machine right now. */
import { emulatedProfile } from "../../native/emulator/profile.ts";
import type { CallInput, CallOutput } from "../contract.ts";
import { featuresOf } from "../device/features.ts";
import { capabilitiesOf } from "../dispatch/capabilities.ts";
import { chipOf } from "../host/device_name.ts";
import { machineState, type SystemReadings } from "../host/machine.ts";

/** Throws Error with the names there are for a chip that does not exist. */
export function deviceFeatures({ chip }: CallInput<"device.features">): CallOutput<"device.features"> {
  const capabilities = capabilitiesOf(emulatedProfile(chipOf(null, chip)));
  return { capabilities, features: featuresOf(capabilities) };
}

/** @param readings what a desktop shell knows of its system; absent in the browser */
export function deviceState(readings?: SystemReadings): CallOutput<"device.state"> {
  return { at: new Date().toISOString(), facts: machineState(readings === undefined ? {} : { readings }) };
}
