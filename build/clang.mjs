// @ts-check
/**
 * Finds the C++ compiler that builds the addon, the kernel runner and every emulated kernel. Plain JavaScript with
 * builtins only: it also runs on a fresh clone, before any dependency is installed.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

/** The version that is known to work throughout; others are used only if the emulator's self-test passes with them. */
export const PREFERRED_CLANG = 19;

/** Where a clang++ may be, best first. Names without a slash are looked up in PATH. */
export const CLANG_CANDIDATES = [
  "clang++-19",
  "/opt/homebrew/opt/llvm@19/bin/clang++",
  "/usr/local/opt/llvm@19/bin/clang++",
  "/usr/lib/llvm-19/bin/clang++",
  "clang++-20",
  "clang++-21",
  "clang++-22",
  "clang++-18",
  "clang++-17",
  "/opt/homebrew/opt/llvm/bin/clang++",
  "/usr/local/opt/llvm/bin/clang++",
  "clang++",
];

/** @param {string} name @returns {string | undefined} */
export function which(name) {
  if (name.includes("/")) return fs.existsSync(name) ? name : undefined;
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    const file = path.join(folder, name);
    try {
      fs.accessSync(file, fs.constants.X_OK);
      return file;
    } catch {
      // not in this folder
    }
  }
  return undefined;
}

/**
 * @typedef {{ clang: string, lld: string, major: number, version: string }} Compiler
 * `clang` and `lld` are paths, `version` is the first line of `clang++ --version`.
 */

/**
 * @param {string} clang path of a clang++
 * @returns {Compiler | undefined} undefined if it is no clang or has no linker beside it
 */
export function describe(clang) {
  const run = spawnSync(clang, ["--version"], { encoding: "utf8" });
  const version = run.stdout?.split("\n")[0]?.trim() ?? "";
  const major = Number(/clang version (\d+)\./.exec(version)?.[1] ?? Number.NaN);
  if (run.status !== 0 || !Number.isFinite(major)) return undefined;
  const folder = path.dirname(fs.realpathSync(clang));
  const names =
    process.platform === "darwin"
      ? [path.join(folder, "ld64.lld"), "ld64.lld", "/usr/bin/ld"]
      : [path.join(folder, "ld.lld"), `ld.lld-${major}`, "ld.lld"];
  const lld = names.map(which).find((file) => file !== undefined);
  return lld === undefined ? undefined : { clang, lld, major, version };
}

/**
 * The compiler to use: `LOCKSTEP_CLANG` if set, else the first usable candidate.
 * @returns {Compiler | undefined}
 */
export function findClang() {
  const forced = process.env.LOCKSTEP_CLANG;
  for (const candidate of forced ? [forced] : CLANG_CANDIDATES) {
    const file = which(candidate);
    const compiler = file === undefined ? undefined : describe(file);
    if (compiler !== undefined) return compiler;
  }
  return undefined;
}

/** The line that installs the compiler, for the machine at hand. */
export function installLine() {
  if (process.platform === "darwin")
    return "brew install llvm@19 lld@19   (or Xcode 16.3 or newer: xcode-select --install)";
  if (which("apt-get")) return "sudo apt-get install -y clang-19 lld-19   (older releases: https://apt.llvm.org)";
  if (which("dnf")) return "sudo dnf install -y clang lld";
  if (which("pacman")) return "sudo pacman -S clang lld";
  return "install clang 19 and lld 19 with your package manager";
}
