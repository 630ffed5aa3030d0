/** What dispatch may look at on the device side. Never its name. */
import type { RouteCapabilities } from "../../kernels/route.ts";
import type { DeviceProfile } from "../../native/device.ts";

/** The first version number in a text: "26.2" of "macOS 26.2 (assumed)". */
function versionIn(text: string): string | undefined {
  return /\d+(?:\.\d+)*/.exec(text)?.[0];
}

/** Capabilities of a device. An OS that is not macOS has no macOS version, so what needs one does not hold. */
export function capabilitiesOf(profile: DeviceProfile): RouteCapabilities {
  const { family, metalVersion, os, limits } = profile;
  const isMacos = /^\s*(macos|\d)/i.test(os.value);
  return {
    appleFamily: Number.parseInt(family.value.replace("apple", ""), 10),
    metalVersion: versionIn(metalVersion.value) ?? "unknown",
    macos: (isMacos ? versionIn(os.value) : undefined) ?? "unknown",
    maxThreadsPerThreadgroup: limits.value.maxThreadsPerThreadgroup,
    maxThreadgroupMemoryBytes: limits.value.maxThreadgroupMemoryBytes,
  };
}
