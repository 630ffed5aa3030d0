/** Linking for macOS with LLVM's linker, against library stubs in the layout of an SDK. */
import { runProcess } from "../../../native/msl/process.ts";
import { TARGET } from "./apple_target.ts";

/** The linker for macOS that comes with `clang`. Throws where it is missing. */
export async function appleLinker(clang: string): Promise<string> {
  const major = /version (\d+)/.exec((await runProcess(clang, ["--version"])).stdout)?.[1] ?? "";
  for (const name of [`ld64.lld-${major}`, "ld64.lld"]) {
    const { stdout } = await runProcess("sh", ["-c", `command -v ${name}`]);
    if (stdout.trim() !== "") return stdout.trim();
  }
  throw new Error(`ld64.lld-${major} is missing: it comes with lld-${major}`);
}

/**
 * Flags that have clang link for macOS here. The version of the linker decides how clang tells it the platform.
 * @param stubs folder in the layout of an SDK
 */
export async function linkFlags(clang: string, stubs: string): Promise<readonly string[]> {
  return [TARGET, "-mlinker-version=1000", `--ld-path=${await appleLinker(clang)}`, "-isysroot", stubs];
}
