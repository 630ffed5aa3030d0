/**
 * Where the C++ headers and sources of `native/` lie: beside this file in a checkout, beside `out/` when bundled, in the
 * folder `lockstep` beside the archive of a packaged app.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const MARK = join("msl", "include");

/** The `native` folder. Throws if it was not shipped. */
export function nativeFolder(): string {
  const given = process.env.LOCKSTEP_NATIVE;
  if (given !== undefined && given !== "") return given;
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    for (const native of [join(folder, "native"), join(folder, "lockstep", "native")]) {
      if (existsSync(join(native, MARK))) return native;
    }
    if (dirname(folder) === folder) break;
  }
  throw new Error(
    "The folder native/msl/include is missing: reinstall Lockstep, or set LOCKSTEP_NATIVE to its `native` folder.",
  );
}

/** Folder of the empty headers (`metal_stdlib`, `simd/simd.h`, ...) that `#include <...>` finds. */
export function stubsFolder(): string {
  return join(nativeFolder(), "msl", "include", "stubs");
}

/** Include path of a kernel module. */
export function includeFolders(): readonly string[] {
  const root = nativeFolder();
  return [join(root, "msl", "include"), join(root, "emulator", "include"), join(root, "emulator", "runtime")];
}
