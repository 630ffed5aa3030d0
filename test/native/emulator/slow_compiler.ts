/**
 * A compiler that tests hold: a script around the real one, which writes its process number and then waits until it may go on.
 * Preprocessing is let through, or held alone.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { loadAddon } from "../../../native/addon.ts";
import { ModuleCache } from "../../../native/emulator/cache.ts";
import { EmulatedDevice } from "../../../native/emulator/device.ts";
import { ModuleBuilder } from "../../../native/emulator/module.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";
import { ADDON_PATH, RUNNER_PATH, testToolchain } from "../msl/workbench.ts";

export interface SlowCompiler {
  readonly device: EmulatedDevice;
  readonly cacheDir: string;
  /** Lets every compiler run, from now on. */
  go(): void;
  /** Resolves with the process numbers when so many compilers have begun. */
  begun(count: number): Promise<readonly number[]>;
}

/** @param held `-E` holds the preprocessor, `-c` the compilers of modules and the runtime, and that of the prefix */
export async function slowCompiler(folder: string, held: "-E" | "-c"): Promise<SlowCompiler> {
  const real = await testToolchain();
  const started = join(folder, "started");
  const gate = join(folder, "go");
  mkdirSync(started, { recursive: true });
  const clang = join(folder, "clang++");
  const passes = held === "-E" ? '[ "$1" != "-E" ]' : '[ "$1" = "-E" ]';
  writeFileSync(
    clang,
    `#!/bin/sh
if ${passes}; then exec "${real.clang}" "$@"; fi
: > "${started}/$$"
while [ ! -e "${gate}" ]; do sleep 0.02; done
exec "${real.clang}" "$@"
`,
  );
  chmodSync(clang, 0o755);
  const cacheDir = join(folder, "cache");
  const cache = new ModuleCache(cacheDir);
  const device = new EmulatedDevice({
    profile: emulatedProfile("apple9", real.version),
    addon: loadAddon(ADDON_PATH),
    runnerPath: RUNNER_PATH,
    cache,
    builder: new ModuleBuilder({ ...real, clang }, cache),
  });
  return {
    device,
    cacheDir,
    go: () => writeFileSync(gate, ""),
    begun: async (count) => {
      while (readdirSync(started).length < count) await pause(5);
      return readdirSync(started).map(Number);
    },
  };
}

/** True while a process is there; one that has ended and was waited for is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync(`/proc/${pid}/stat`) || readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2] !== "Z";
  } catch {
    return false;
  }
}

/** Entries of the cache by kind, those that are being made under `draft`. */
export function entriesOf(cacheDir: string): Readonly<Record<string, number>> {
  const root = join(cacheDir, "v1");
  return Object.fromEntries(readdirSync(root).map((kind) => [kind, readdirSync(join(root, kind)).length]));
}
