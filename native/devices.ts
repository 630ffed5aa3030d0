/** The devices of this machine: those that can be opened, and for each other one why it is not there. */
import type { DeviceEntry } from "./device.ts";
import { emulatorToolchain } from "./emulator/open.ts";
import { emulatedProfile } from "./emulator/profile.ts";

export interface ListDevicesOptions {
  /** Chip of the emulated device. */
  readonly chip?: string;
  readonly cacheDir?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Every kind of device, in the order in which a run prefers them. */
export async function listDevices(options: ListDevicesOptions = {}): Promise<readonly DeviceEntry[]> {
  return [metalEntry(), await emulatedEntry(options), nvidiaEntry()];
}

function metalEntry(): DeviceEntry {
  if (process.platform === "darwin") {
    const mend = "use the emulated device meanwhile";
    return { kind: "metal", available: false, reason: "the Metal device is not built yet", mend };
  }
  return {
    kind: "metal",
    available: false,
    reason: `this is ${platformName()} ${architectureName()}; Metal needs macOS on Apple silicon`,
    mend: "run Lockstep on a Mac with an M-series chip, or use the emulated device",
  };
}

async function emulatedEntry(options: ListDevicesOptions): Promise<DeviceEntry> {
  const result = await emulatorToolchain(options.environment, options.cacheDir);
  if (!result.found) return { kind: "emulated", available: false, reason: result.reason, mend: result.mend };
  return { kind: "emulated", available: true, profile: emulatedProfile(options.chip, result.found.version) };
}

function nvidiaEntry(): DeviceEntry {
  const mend = "use the emulated device meanwhile";
  return { kind: "nvidia", available: false, reason: "the NVIDIA device is not built yet", mend };
}

function platformName(): string {
  const names: Readonly<Record<string, string>> = { linux: "Linux", win32: "Windows", freebsd: "FreeBSD" };
  return names[process.platform] ?? process.platform;
}

function architectureName(): string {
  return process.arch === "x64" ? "x86-64" : process.arch;
}
