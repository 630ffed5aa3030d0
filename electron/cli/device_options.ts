/** `--device` and `--chip` of the commands that look at devices without running anything: Metal is what the host answers. */
import type { DeviceProfile } from "../../native/device.ts";
import { chooseDevice, chosenProfile } from "../host/choose.ts";
import { HostClient } from "../host/client.ts";
import { deviceWanted } from "../host/device_name.ts";
import { type MetalSource, metalOf } from "../host/door_devices.ts";
import type { Places } from "../host/root.ts";

export interface DeviceOptions {
  readonly device?: string;
  readonly chip?: string;
}

/** The profile that the options name and why; that of the device at hand where they name none. Throws `UsageError`. */
export async function chosenDevice(
  options: DeviceOptions,
  where: Places,
): Promise<{ readonly profile: DeviceProfile; readonly reasons: readonly string[] }> {
  const asked = deviceWanted(options.device ?? null, options.chip ?? null);
  const metal = asked?.kind === "emulated" ? [] : await withHost(where, metalOf);
  const choice = chooseDevice(asked, metal);
  return { profile: chosenProfile(choice, metal), reasons: choice.reasons };
}

/** A host for one question, started when it is asked. */
export async function withHost<T>(where: Places, ask: (host: MetalSource) => Promise<T>): Promise<T> {
  const host = new HostClient({ path: where.host });
  try {
    return await ask(host);
  } finally {
    await host.close();
  }
}
