/**
 * The devices of this machine: those that can be opened, and for each other one why it is not there.
 *
 * Metal devices are known to the host alone, for doors load no addon. The host answers with `metalEntries(addon.metal)`,
 * plain values that a door passes to `listDevices` as `metal`.
 */
import { type Addon, isMetalOff } from "./addon.ts";
import type { DeviceEntry } from "./device.ts";
import { emulatorToolchain } from "./emulator/open.ts";
import { emulatedProfile } from "./emulator/profile.ts";
import { listMetal } from "./metal/open.ts";

export interface ListDevicesOptions {
  /** Chip of the emulated device. */
  readonly chip?: string;
  readonly cacheDir?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The host's addon. Null or absent in a door. */
  readonly addon?: Pick<Addon, "metal"> | null;
  /** In a door: what the host answered with `metalEntries`. */
  readonly metal?: readonly DeviceEntry[];
}

/** Every kind of device, in the order in which a run prefers them. */
export async function listDevices(options: ListDevicesOptions = {}): Promise<readonly DeviceEntry[]> {
  const { addon, metal } = options;
  const [metals, emulated] = await Promise.all([
    metal ?? (addon ? metalEntries(addon.metal) : [unasked()]),
    emulatedEntry(options),
  ]);
  return [...metals, emulated, nvidiaEntry()];
}

/** What the host answers of Metal: an entry for each device, or one that says why there is none. Never empty. */
export async function metalEntries(metal: Addon["metal"]): Promise<readonly DeviceEntry[]> {
  if (metal === null) return [noMetal()];
  try {
    const entries = await listMetal(metal);
    if (entries.length > 0) return entries;
    return [
      unavailable("Metal lists no device in this session", "log in at the Mac's screen, or use the emulated device"),
    ];
  } catch (error) {
    const reason = `Metal did not answer: ${error instanceof Error ? error.message : String(error)}`;
    return [unavailable(reason, "use the emulated device meanwhile")];
  }
}

/** Where there is no addon to ask. */
function unasked(): DeviceEntry {
  if (process.platform !== "darwin") return noMetal();
  return unavailable("the host, which knows Metal, has not been asked", "start the host, or use the emulated device");
}

/** Where the addon has no Metal: it was built for another system, or Metal was left out. */
function noMetal(): DeviceEntry {
  if (process.platform === "darwin") {
    if (isMetalOff()) return unavailable("LOCKSTEP_METAL=off leaves Metal out", "unset it, or use the emulated device");
    return unavailable("the addon was built without Metal", "run `node build/bootstrap.mjs` on this Mac");
  }
  return unavailable(
    `this is ${platformName()} ${architectureName()}; Metal needs macOS on Apple silicon`,
    "run Lockstep on a Mac with an M-series chip, or use the emulated device",
  );
}

function unavailable(reason: string, mend: string): DeviceEntry {
  return { kind: "metal", available: false, reason, mend };
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
