/** The one door to a device: what is wanted as a plain value in, a `Device` out. Only the host has an addon. */
import type { Addon } from "./addon.ts";
import type { Device } from "./device.ts";
import { openEmulatedDevice } from "./emulator/open.ts";
import { openMetalDevice } from "./metal/open.ts";

/**
 * The device that is asked for.
 * - `chip`: a chip of the chip table or a family; the emulated device's default if absent
 * - `index`: position in the list of Metal devices, as in `metal:0`; the system's default device if absent
 */
export type DeviceWanted =
  | { readonly kind: "emulated"; readonly chip?: string }
  | { readonly kind: "metal"; readonly index?: number };

export interface DeviceParts {
  readonly addon: Addon;
  /** The runner executable of the emulated device (`out/lockstep-runner`). */
  readonly runnerPath: string;
  /** Where compiled kernels are kept. Default: `cacheFolder(environment)`. */
  readonly cacheDir?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Metal: take what kernels log (macOS 15). Default false: a process that captures must not, and kernels that log nothing
   * need it not. The emulated device always takes it.
   */
  readonly logging?: boolean;
}

/** Opens a device. Rejects with `DeviceError` `unavailable`, the reason and the mend where it is not there. */
export async function openDevice(wanted: DeviceWanted, parts: DeviceParts): Promise<Device> {
  if (wanted.kind === "metal") return await openMetalDevice(wanted.index, parts);
  return await openEmulatedDevice({ ...parts, ...(wanted.chip === undefined ? {} : { chip: wanted.chip }) });
}
