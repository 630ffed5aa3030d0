/** The front door of the emulated device: finds a compiler that passes the self-test, once, and opens a device on it. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { cpus } from "node:os";
import * as z from "zod";
import type { Addon } from "../addon.ts";
import { DeviceError } from "../device.ts";
import { candidates } from "../msl/compilers.mjs";
import { findToolchain, type Toolchain, type ToolchainResult } from "../msl/toolchain.ts";
import { cacheFolder, ModuleCache, sha256 } from "./cache.ts";
import { EmulatedDevice } from "./device.ts";
import { headersDigest, ModuleBuilder } from "./module.ts";
import { emulatedProfile } from "./profile.ts";
import { selfTestProblem } from "./self_test.ts";

export interface EmulatedDeviceOptions {
  /** A chip of the chip table or a family: `M3 Max`, `apple9`. Default: `DEFAULT_CHIP`. */
  readonly chip?: string;
  readonly addon: Addon;
  /** The runner executable (`out/lockstep-runner`). */
  readonly runnerPath: string;
  readonly cacheDir?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** What is kept of a search: the toolchain that passed. */
const recordSchema = z.strictObject({
  clang: z.string(),
  realPath: z.string(),
  linker: z.optional(z.string()),
  version: z.string(),
  major: z.int(),
  platform: z.string(),
  architecture: z.enum(["x86_64", "aarch64"]),
  features: z.array(z.string()).readonly(),
  libraries: z.array(z.string()).readonly(),
  sdk: z.optional(z.string()),
  id: z.string(),
});

/**
 * Opens the emulated device. The first call with a compiler builds and runs the self-test (about two seconds); later
 * ones start no program. Rejects with `unavailable` and the mend if there is no compiler that passes it, no runner or
 * an unknown chip.
 */
export async function openEmulatedDevice(options: EmulatedDeviceOptions): Promise<EmulatedDevice> {
  const { addon, runnerPath } = options;
  const environment = options.environment ?? process.env;
  const cache = new ModuleCache(options.cacheDir ?? cacheFolder(environment));
  const profile = profileOf(options.chip, undefined);
  if (!existsSync(runnerPath)) {
    throw new DeviceError(
      "unavailable",
      `There is no kernel runner at ${runnerPath}: run \`node build/bootstrap.mjs\`.`,
    );
  }
  const open = (toolchain: Toolchain): EmulatedDevice =>
    new EmulatedDevice({
      profile: profileOf(options.chip, toolchain),
      addon,
      runnerPath,
      cache,
      builder: new ModuleBuilder(toolchain, cache),
    });
  const known = await recordedToolchain(cache, environment);
  if (known) return open(known);
  const result = await findToolchain({
    environment,
    refuse: async (toolchain) => {
      const device = open(toolchain);
      try {
        return await selfTestProblem(device);
      } finally {
        await device.close();
      }
    },
  });
  if (!result.found) {
    const message = `The emulated device (${profile.name.value}) is not available: ${result.reason}. Mend: ${result.mend}`;
    throw new DeviceError("unavailable", message);
  }
  const { platform, linker, ...facts } = result.found;
  const record = { ...facts, platform: platform as string, ...(linker === undefined ? {} : { linker }) };
  await cache.store("toolchain", await recordKey(environment), recordSchema, async () => record);
  return open(result.found);
}

/** The compiler that emulated kernels would be built with, as recorded or as found; it may still fail its self-test. */
export async function emulatorToolchain(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  cacheDir?: string,
): Promise<ToolchainResult> {
  const cache = new ModuleCache(cacheDir ?? cacheFolder(environment));
  const known = await recordedToolchain(cache, environment);
  return known ? { found: known } : await findToolchain({ environment });
}

function profileOf(chip: string | undefined, toolchain: Toolchain | undefined): ReturnType<typeof emulatedProfile> {
  try {
    return emulatedProfile(chip, toolchain?.version);
  } catch (error) {
    throw new DeviceError("unavailable", error instanceof Error ? error.message : String(error));
  }
}

async function recordedToolchain(
  cache: ModuleCache,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Toolchain | undefined> {
  const entry = await cache.lookup("toolchain", await recordKey(environment), recordSchema);
  if (!entry) return undefined;
  const { sdk, ...facts } = entry.facts;
  const needed = [
    facts.clang,
    ...(facts.linker === undefined ? [] : [facts.linker]),
    ...(sdk === undefined ? [] : [sdk]),
  ];
  if (!needed.every((file) => existsSync(file)) || facts.platform !== process.platform) return undefined;
  return { ...facts, platform: process.platform, linker: facts.linker, ...(sdk === undefined ? {} : { sdk }) };
}

/** What decides which compiler is found and whether it passes: the programs there are, the CPU, the emulator's sources. */
async function recordKey(environment: Readonly<Record<string, string | undefined>>): Promise<string> {
  const programs = candidates(environment).map((path) => {
    const { mtimeMs, size } = statSync(path);
    return [path, realpathSync(path), mtimeMs, size];
  });
  return sha256(JSON.stringify([programs, process.arch, cpus()[0]?.model, headersDigest()]));
}
