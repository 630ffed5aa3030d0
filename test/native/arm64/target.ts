/** arm64 Linux as another machine to build for: `npm run test:arm64` runs what is built under qemu-user. */
import { type CrossTarget, crossToolchain, findToolchain, type Toolchain } from "../../../native/msl/toolchain.ts";

/** Each level that `cpuFeatures` chooses between on an arm64 Linux machine. */
export const ARM64_LEVELS = {
  "half in hardware": ["-march=armv8.2-a+fp16"],
  "half by conversion": ["-march=armv8-a"],
} as const satisfies Readonly<Record<string, CrossTarget["features"]>>;

export type Arm64Level = keyof typeof ARM64_LEVELS;

/** The host's compiler for arm64 Linux. Throws where there is no compiler or no C library for arm64. */
export async function arm64Toolchain(level: Arm64Level = "half in hardware"): Promise<Toolchain> {
  const host = await findToolchain();
  if (host.found === undefined) throw new Error(`${host.reason}: ${host.mend}`);
  const cross: CrossTarget = {
    target: "aarch64-linux-gnu",
    architecture: "aarch64",
    features: ARM64_LEVELS[level],
  };
  const toolchain = await crossToolchain(host.found, cross);
  if (typeof toolchain === "string") throw new Error(`${host.found.clang}: ${toolchain}`);
  return toolchain;
}
