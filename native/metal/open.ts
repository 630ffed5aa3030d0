/** The front door of the Metal device: lists what the addon has, and opens one of them. */
import type { Addon } from "../addon.ts";
import { type Device, type DeviceEntry, DeviceError, type DeviceProfile } from "../device.ts";
import type { Metal, MetalDeviceFacts } from "./binding.ts";
import { type ProfileResult, readProfile } from "./profile.ts";
import { type OfflineCompiler, probeOfflineCompiler } from "./toolchain.ts";

export interface MetalDeviceOptions {
  readonly addon: Pick<Addon, "metal">;
  readonly cacheDir?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Take what kernels log (macOS 15). A process that captures must not. */
  readonly logging?: boolean;
}

interface Found {
  readonly facts: MetalDeviceFacts;
  readonly result: ProfileResult;
}

/** An entry for each Metal device, with its profile or with why it cannot be used. Rejects where Metal does not answer. */
export async function listMetal(metal: Metal): Promise<readonly DeviceEntry[]> {
  return (await readAll(metal)).map(({ result }) =>
    result.ok
      ? { kind: "metal", available: true, profile: result.profile }
      : { kind: "metal", available: false, reason: result.reason, mend: result.mend },
  );
}

/**
 * Opens the device at `index`; the system's default device without one. Rejects with `unavailable` and the mend where it is
 * not there.
 */
export async function openMetalDevice(index: number | undefined, options: MetalDeviceOptions): Promise<Device> {
  const { metal } = options.addon;
  const { facts, profile } = await find(metal, index);
  throw new DeviceError("unavailable", `${profile.name.value} (${facts.registryId}) cannot be opened yet.`);
}

/** The profile of that device, without opening it. Rejects as `openMetalDevice` does. */
export async function metalProfile(
  index: number | undefined,
  options: Pick<MetalDeviceOptions, "addon">,
): Promise<DeviceProfile> {
  return (await find(options.addon.metal, index)).profile;
}

let offline: Promise<OfflineCompiler> | undefined;

async function readAll(metal: Metal): Promise<readonly Found[]> {
  offline ??= probeOfflineCompiler();
  const [devices, offlineCompiler] = await Promise.all([metal.devices(), offline]);
  const system = metal.system();
  return devices.map((device, index) => ({
    facts: device,
    result: readProfile({ device, system, offlineCompiler }, index),
  }));
}

async function find(
  metal: Metal | null,
  index: number | undefined,
): Promise<{ readonly facts: MetalDeviceFacts; readonly profile: DeviceProfile }> {
  if (metal === null) {
    const message = "There is no Metal device: this addon was built without Metal, which needs macOS on Apple silicon.";
    throw new DeviceError("unavailable", `${message} Mend: run Lockstep on a Mac, or use the emulated device.`);
  }
  const all = await readAll(metal);
  const position =
    index ??
    Math.max(
      0,
      all.findIndex(({ facts }) => facts.isDefault),
    );
  const found = all[position];
  if (found === undefined) {
    const there = all.map((_one, at) => `metal:${at}`).join(", ") || "none";
    throw new DeviceError("unavailable", `There is no Metal device metal:${position}; this system has ${there}.`);
  }
  const { facts, result } = found;
  if (!result.ok) {
    throw new DeviceError("unavailable", `metal:${position} cannot be used: ${result.reason}. Mend: ${result.mend}.`);
  }
  return { facts, profile: result.profile };
}
