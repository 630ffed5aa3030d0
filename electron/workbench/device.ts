/** What the Device page asks: devices, the capability table of one, and the state of the machine right now. */
import type { DeviceProfile } from "../../native/device.ts";
import type { CallInput, CallOutput } from "../contract.ts";
import { featuresOf } from "../device/features.ts";
import { capabilitiesOf } from "../dispatch/capabilities.ts";
import { chooseDevice, chosenProfile } from "../host/choose.ts";
import { deviceWanted, emulatedWanted } from "../host/device_name.ts";
import { devicesOf, type MetalSource, metalOf } from "../host/door_devices.ts";
import { machineState, type SystemReadings } from "../host/machine.ts";

/** Rejects with `UsageError` for a chip that does not exist. */
export async function listedDevices(
  { chip }: CallInput<"devices.list">,
  host: MetalSource,
): Promise<CallOutput<"devices.list">> {
  const wanted = emulatedWanted(null, chip, "Chips are looked at");
  return { devices: await devicesOf(host, wanted.chip) };
}

/**
 * The profile that device and chip name, and why; that of the device at hand where neither is named. Rejects with `UsageError`
 * for names that do not exist and devices that are not there.
 */
export async function namedProfile(
  device: string | null,
  chip: string | null,
  host: MetalSource,
): Promise<{ readonly profile: DeviceProfile; readonly reasons: readonly string[] }> {
  const asked = deviceWanted(device, chip);
  const metal = asked?.kind === "emulated" ? [] : await metalOf(host);
  const choice = chooseDevice(asked, metal);
  return { profile: chosenProfile(choice, metal), reasons: choice.reasons };
}

/** Of the device that a run would take. Rejects as `namedProfile`. */
export async function deviceFeatures(
  { device, chip }: CallInput<"device.features">,
  host: MetalSource,
): Promise<CallOutput<"device.features">> {
  const { profile } = await namedProfile(device, chip, host);
  const capabilities = capabilitiesOf(profile);
  return { device: profile.id, capabilities, features: featuresOf(capabilities, profile) };
}

/** @param readings what a desktop shell knows of its system; absent in the browser */
export function deviceState(readings?: SystemReadings): CallOutput<"device.state"> {
  return { at: new Date().toISOString(), facts: machineState(readings === undefined ? {} : { readings }) };
}
