/** What the tests of the front end and of the emulated device share: a compiler, a cache and a device. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadAddon } from "../../../native/addon.ts";
import { type CompileOptions, DeviceError, type Diagnostic, type MetalSource } from "../../../native/device.ts";
import { ModuleCache } from "../../../native/emulator/cache.ts";
import { EmulatedDevice } from "../../../native/emulator/device.ts";
import { ModuleBuilder } from "../../../native/emulator/module.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";
import { type Program, readProgram } from "../../../native/msl/front_end.ts";
import { preprocess } from "../../../native/msl/preprocess.ts";
import { flatten } from "../../../native/msl/source.ts";
import { findToolchain, type Toolchain } from "../../../native/msl/toolchain.ts";
import { arm64Toolchain } from "../arm64/target.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");

/** Kept between test files: entries are found by digest, so a stale one is never used. */
export const TEST_CACHE = join(ROOT, "out", "test-cache");
export const ADDON_PATH = join(ROOT, "out", "lockstep.node");
/** `LOCKSTEP_RUNNER` names another one, for example built with sanitizers. */
export const RUNNER_PATH = process.env.LOCKSTEP_RUNNER ?? join(ROOT, "out", "lockstep-runner");

let known: Promise<Toolchain> | undefined;

/** The compiler for this machine; `LOCKSTEP_TEST_TARGET=arm64` has it build for arm64 Linux (`npm run test:arm64`). */
export function testToolchain(): Promise<Toolchain> {
  known ??= process.env.LOCKSTEP_TEST_TARGET === "arm64" ? arm64Toolchain() : hostToolchain();
  return known;
}

async function hostToolchain(): Promise<Toolchain> {
  const result = await findToolchain();
  if (result.found) return result.found;
  throw new Error(`${result.reason}: ${result.mend}`);
}

/** A device on this machine's compiler, without the self-test of `openEmulatedDevice`. */
export async function testDevice(cacheDir: string = TEST_CACHE): Promise<EmulatedDevice> {
  if (!existsSync(ADDON_PATH)) throw new Error(`${ADDON_PATH} is missing: run \`node build/bootstrap.mjs\``);
  const toolchain = await testToolchain();
  const cache = new ModuleCache(cacheDir);
  return new EmulatedDevice({
    profile: emulatedProfile("apple9", toolchain.version),
    addon: loadAddon(ADDON_PATH),
    runnerPath: RUNNER_PATH,
    cache,
    builder: new ModuleBuilder(toolchain, cache),
  });
}

/** The program of a source that must read without an error. */
export async function readSource(
  text: string,
  options: CompileOptions = {},
  includes: readonly MetalSource[] = [],
): Promise<Program> {
  const read = await tryRead(text, options, includes);
  if ("program" in read) return read.program;
  throw new Error(`the source does not read: ${read.diagnostics.map(shown).join("\n")}`);
}

/** What the front end says about a source, before any compiler sees it. */
export async function tryRead(
  text: string,
  options: CompileOptions = {},
  includes: readonly MetalSource[] = [],
): Promise<{ readonly program: Program } | { readonly diagnostics: readonly Diagnostic[] }> {
  const flattened = flatten({ path: "kernel.metal", text }, includes);
  if (!flattened.ok) return { diagnostics: flattened.diagnostics };
  const result = await preprocess((await testToolchain()).clang, flattened.flat, options);
  if (!result.ok) return { diagnostics: result.diagnostics };
  const read = readProgram(result.text, flattened.flat);
  return read.ok ? { program: read.program } : { diagnostics: read.diagnostics };
}

/** The error that a promise rejects with; fails if it does not reject with a `DeviceError`. */
export async function deviceError(promise: Promise<unknown>): Promise<DeviceError> {
  const error: unknown = await promise.then(
    () => new Error("it did not reject"),
    (reason: unknown) => reason,
  );
  if (error instanceof DeviceError) return error;
  throw error;
}

export function shown(diagnostic: Diagnostic): string {
  const { path, line, column, severity, message } = diagnostic;
  return `${path}:${line}:${column}: ${severity}: ${message}`;
}
