/** What a check may need of a device, and how the profile decides it. What is missing is said, never passed over. */
import type { DeviceProfile } from "../device.ts";

/** What decides: the profile, and how the device was opened. */
export interface NeedContext {
  readonly profile: DeviceProfile;
  /** It was opened to take what kernels log (`DeviceParts.logging`); an emulated device always is. */
  readonly logging: boolean;
  /** This process may capture (`MTL_CAPTURE_ENABLED=1`). */
  readonly mayCapture: boolean;
}

interface Need {
  readonly id: string;
  /** Why the device does not have it; undefined if it does. */
  readonly missing: (context: NeedContext) => string | undefined;
}

/** Apple family of a profile as a number: 7 for `apple7`. */
function familyNumber(profile: DeviceProfile): number {
  return Number(profile.family.value.slice("apple".length));
}

function family(least: number, what: string): Need["missing"] {
  return ({ profile }) =>
    familyNumber(profile) >= least
      ? undefined
      : `${what} need Apple${least}; the device reports Apple${familyNumber(profile)} (${profile.family.source})`;
}

function emulatedOnly(why: string): Need["missing"] {
  return ({ profile }) => (profile.execution === "emulated" ? undefined : why);
}

/** What the system of a Metal device must be; an emulated device does as if it were the newest. */
function system(least: number, what: string): Need["missing"] {
  return ({ profile }) => {
    if (profile.execution === "emulated") return undefined;
    // `macOS 15.2` or `15.2`
    const major = Number(/(\d+)(?:\.\d+)*/.exec(profile.os.value)?.[1] ?? 0);
    return major >= least
      ? undefined
      : `${what} needs macOS ${least}; this is ${profile.os.value} (${profile.os.source})`;
  };
}

const NEEDS = [
  { id: "simd_permute", missing: family(6, "simd_shuffle_xor and simd_broadcast") },
  { id: "simd_reduce", missing: family(7, "simd_sum and simd_max") },
  { id: "simdgroup_matrix", missing: family(7, "8x8 simdgroup matrices") },
  {
    id: "kill",
    missing: emulatedOnly(
      "Metal cannot stop a dispatch that runs: the system ends an endless kernel after seconds and may reset the GPU for every other program",
    ),
  },
  { id: "fault", missing: emulatedOnly("what a GPU does with a wild address is not defined: it may go unnoticed") },
  { id: "flavours", missing: emulatedOnly("flavours are ways of emulation; this device has `fast` alone") },
  {
    id: "one_flavour",
    missing: ({ profile }: NeedContext): string | undefined =>
      profile.execution === "emulated"
        ? "an emulated device has every flavour: pipeline.flavours tries them"
        : undefined,
  },
  { id: "required_threads", missing: system(26, "requiredThreadsPerThreadgroup") },
  {
    id: "pointee_bytes",
    missing: ({ profile }: NeedContext): string | undefined =>
      profile.execution === "emulated" ? "the emulated device does not tell how large a pointee is" : undefined,
  },
  {
    id: "shader_log",
    missing: (context: NeedContext): string | undefined => {
      if (context.profile.execution !== "emulated" && !context.logging) {
        return "the device was not opened to take what kernels log";
      }
      if (context.profile.virtualGpu?.value === true) return "a virtual GPU has no log of kernels";
      return system(15, "os_log of kernels")(context);
    },
  },
  {
    id: "capture",
    missing: ({ profile, mayCapture }: NeedContext): string | undefined => {
      if (profile.execution !== "metal") return `captures are Metal's; execution is ${profile.execution}`;
      return mayCapture ? "this process may capture (MTL_CAPTURE_ENABLED=1), so that nothing is refused" : undefined;
    },
  },
] as const satisfies readonly Need[];

export type NeedId = (typeof NEEDS)[number]["id"];

/** Why a check that needs `ids` cannot be tried on a device; undefined if it can. */
export function missingNeeds(ids: readonly NeedId[], context: NeedContext): string | undefined {
  const reasons = NEEDS.filter((need) => ids.includes(need.id)).flatMap((need) => need.missing(context) ?? []);
  return reasons.length === 0 ? undefined : reasons.join("; ");
}
