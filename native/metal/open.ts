/** The front door of the Metal device: lists what the addon has, and opens one of them. */
import type { Addon } from "../addon.ts";
import { type Device, type DeviceEntry, DeviceError, type DeviceProfile } from "../device.ts";
import { cacheFolder, ModuleCache } from "../emulator/cache.ts";
import type { Metal, MetalConnection, MetalDeviceFacts } from "./binding.ts";
import { MetalDevice } from "./device.ts";
import { loggingProblem } from "./language.ts";
import { type ProfileResult, readProfile } from "./profile.ts";
import { type OfflineCompiler, probeOfflineCompiler } from "./toolchain.ts";

export interface MetalDeviceOptions {
  readonly addon: Pick<Addon, "metal">;
  readonly cacheDir?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Take what kernels log, where that is possible (the fact `kernel_logging` says so). A process that captures must not. */
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
  const metal = present(options.addon.metal);
  const { facts, profile } = await find(metal, index);
  const system = metal.system();
  const isVirtual = profile.virtualGpu?.value ?? false;
  const logging = (options.logging ?? false) && loggingProblem(system, isVirtual) === undefined;
  const environment = options.environment ?? process.env;
  const cache = keepsArchives(environment, isVirtual)
    ? new ModuleCache(options.cacheDir ?? cacheFolder(environment))
    : null;
  let connection: MetalConnection;
  try {
    connection = await metal.open(facts.registryId, { logging });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new DeviceError("unavailable", `${profile.name.value} (${profile.id}) cannot be opened: ${words}`);
  }
  return new MetalDevice({ profile, facts, system, connection, logging, cache });
}

/**
 * False under shader validation, which Apple calls incompatible with binary archives: it instruments pipelines as they are
 * made. A captured document must not need a file of this machine either. Metal ends the process that opens an archive on
 * some virtual GPUs.
 */
function keepsArchives(environment: Readonly<Record<string, string | undefined>>, isVirtual: boolean): boolean {
  if (isVirtual) return false;
  const isOn = (name: string): boolean => !["", "0"].includes(environment[name] ?? "");
  return !isOn("MTL_SHADER_VALIDATION") && !isOn("MTL_CAPTURE_ENABLED");
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

function present(metal: Addon["metal"]): Metal {
  if (metal !== null) return metal;
  const message = "There is no Metal device: this addon was built without Metal, which needs macOS on Apple silicon.";
  throw new DeviceError("unavailable", `${message} Mend: run Lockstep on a Mac, or use the emulated device.`);
}

async function find(
  metal: Metal,
  index: number | undefined,
): Promise<{ readonly facts: MetalDeviceFacts; readonly profile: DeviceProfile }> {
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
