/** What a door knows of devices: it loads no addon, so that Metal is what the host answers. */
import type { DeviceEntry } from "../../native/device.ts";
import { listDevices, metalEntries } from "../../native/devices.ts";
import type { HostClient } from "./client.ts";

/** What a door asks the host for. */
export type MetalSource = Pick<HostClient, "metal">;

/**
 * Metal's devices, or why there are none; never empty. Metal is a part of macOS: elsewhere no host is started to hear that
 * there is none.
 */
export async function metalOf(
  host: MetalSource,
  platform: NodeJS.Platform = process.platform,
): Promise<readonly DeviceEntry[]> {
  return platform === "darwin" ? await host.metal() : await metalEntries(null);
}

/**
 * Every device, in the order in which a run prefers them. `chip` is the one to emulate. Rejects with Error for a chip that
 * does not exist.
 */
export async function devicesOf(
  host: MetalSource,
  chip: string | undefined,
  platform: NodeJS.Platform = process.platform,
): Promise<readonly DeviceEntry[]> {
  return listDevices({ metal: await metalOf(host, platform), ...(chip === undefined ? {} : { chip }) });
}
