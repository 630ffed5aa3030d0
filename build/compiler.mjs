// @ts-check
/**
 * The compiler of the native parts, found once, and the system packages that the set-up may install. On Linux it is the one
 * that also compiles kernels for the emulated device. On macOS it is Apple's, with its SDK: LLVM is for kernels alone there.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import {
  candidates,
  findLinker,
  installLine,
  LLVM_FOR_MAC,
  locate,
  majorVersion,
  PREFERRED_CLANG,
  xcrun,
} from "../native/msl/compilers.mjs";

export const OUT = "out";

/** @param {string} message */
export function say(message) {
  process.stderr.write(`[setup] ${message}\n`);
}

/** @param {string} message @returns {never} */
export function stop(message) {
  say(message);
  process.exit(2);
}

/**
 * `clang` and `lld` are paths (`lld` is empty on macOS, where clang links by itself), `version` is the first line of
 * `clang++ --version`, `sdk` the folder of the SDK for macOS.
 * @typedef {{ clang: string, lld: string, major: number, version: string, sdk?: string }} Compiler
 * @typedef {import("../native/msl/compilers.mjs").Environment} Environment
 */

/** Path of a program in PATH. @param {string} name @returns {string | undefined} */
export function locateProgram(name) {
  return locate(name, process.env);
}

/**
 * First line of `clang++ --version` and the major version; undefined if it is no clang that is new enough.
 * @param {string} clang
 */
function versionOf(clang) {
  const run = spawnSync(clang, ["--version"], { encoding: "utf8" });
  const version = run.stdout?.split("\n")[0]?.trim() ?? "";
  const { major } = majorVersion(version);
  return run.status !== 0 || major === undefined ? undefined : { version, major };
}

/**
 * The clang and the linker of Linux. @param {Environment} [environment] @returns {Compiler | undefined}
 */
export function findLlvm(environment = process.env) {
  for (const clang of candidates(environment, "linux")) {
    const known = versionOf(clang);
    if (known === undefined) continue;
    const lld = findLinker(fs.realpathSync(clang), known.major, environment);
    if (lld !== undefined) return { clang, lld, ...known };
  }
  return undefined;
}

/**
 * The clang of Xcode or of the Command Line Tools, and the SDK: started by its path it does not find that by itself.
 * @param {Environment} [environment] @returns {Compiler | undefined}
 */
export function findApple(environment = process.env) {
  const clang = xcrun(environment, "--find", "clang++");
  const sdk = xcrun(environment, "--show-sdk-path");
  if (clang === undefined || sdk === undefined || locate(clang, environment) === undefined) return undefined;
  const known = versionOf(clang);
  return known === undefined ? undefined : { clang, lld: "", ...known, sdk };
}

/**
 * On macOS: the line to say where kernels of the emulated device have no LLVM; undefined if there is one. Apple's clang is
 * tried for them last, and refused unless it passes the device's self-test.
 * @param {Environment} [environment] @returns {string | undefined}
 */
export function kernelNotice(environment = process.env) {
  const llvm = (/** @type {string} */ clang) => {
    const known = versionOf(clang);
    return known !== undefined && !known.version.startsWith("Apple");
  };
  if (candidates(environment, "darwin").some(llvm)) return undefined;
  return (
    `no LLVM clang was found: unless Apple's passes the self-test, the emulated device will not be available. ` +
    `Install it with: ${LLVM_FOR_MAC}`
  );
}

/**
 * Makes sure that system packages are there: as root on Debian or Ubuntu they are installed, aloud, unless
 * `LOCKSTEP_NO_INSTALL=1`. What is still missing, and the line that installs it; undefined if nothing is.
 * @param {string} need what they are for @param {string[]} packages Debian names
 * @param {() => boolean} there @param {string} line the line that installs them elsewhere
 * @returns {string | undefined}
 */
export function missingPackages(need, packages, there, line = `sudo apt-get install -y ${packages.join(" ")}`) {
  if (there()) return undefined;
  const mend = `Install it with: ${line}`;
  const root = process.platform === "linux" && process.getuid?.() === 0;
  if (!root || locate("apt-get", process.env) === undefined) return `${need}\n${mend}`;
  if (process.env.LOCKSTEP_NO_INSTALL === "1") {
    return `${need}\nLOCKSTEP_NO_INSTALL=1 forbids installing it here. ${mend}`;
  }
  say(`installing ${packages.join(" ")} with apt-get (LOCKSTEP_NO_INSTALL=1 forbids this)`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = { stdio: /** @type {["ignore", number, number]} */ (["ignore", 2, 2]), env };
  spawnSync("apt-get", ["update", "-qq"], options);
  spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], options);
  return there() ? undefined : `apt-get could not install ${packages.join(" ")}.\n${need}\n${mend}`;
}

/**
 * As `missingPackages`, but the process says what to install and exits 2.
 * @param {string} need @param {string[]} packages @param {() => boolean} there @param {string} [line]
 */
export function requirePackages(need, packages, there, line) {
  const missing = missingPackages(need, packages, there, line);
  if (missing !== undefined) stop(missing);
}

/** @returns {Compiler} */
function requireLlvm() {
  const forced = process.env.LOCKSTEP_CLANG;
  if (forced && findLlvm() === undefined) {
    stop(`LOCKSTEP_CLANG is ${forced}, which is no clang++ with ld.lld beside it: unset it or name another`);
  }
  requirePackages(
    `clang ${PREFERRED_CLANG} and lld are needed to compile kernels for the emulated device, and none was found.`,
    [`clang-${PREFERRED_CLANG}`, `lld-${PREFERRED_CLANG}`],
    () => findLlvm() !== undefined,
    installLine(),
  );
  return /** @type {Compiler} */ (findLlvm());
}

/** @returns {Compiler} */
function requireApple() {
  const found = findApple();
  if (found === undefined) {
    stop(
      "Apple's clang and the SDK for macOS are needed to build the native parts, and xcrun found none.\n" +
        "Install the Command Line Tools with: xcode-select --install",
    );
  }
  const notice = kernelNotice();
  if (notice !== undefined) say(notice);
  return found;
}

/**
 * The compiler, without starting it again while its file is the same.
 * @returns {Compiler}
 */
export function compiler() {
  const file = `${OUT}/compiler.json`;
  const forced = process.env.LOCKSTEP_CLANG ?? "";
  try {
    const known = JSON.parse(fs.readFileSync(file, "utf8"));
    const same = known.forced === forced && fs.statSync(known.clang).mtimeMs === known.mtimeMs;
    // What an older set-up has written names no SDK.
    const mac = process.platform !== "darwin" || (known.sdk !== undefined && fs.existsSync(known.sdk));
    if (same && mac && (known.lld === "" || fs.existsSync(known.lld))) return known;
  } catch {
    // first run, or the compiler has gone
  }
  const found = process.platform === "darwin" ? requireApple() : requireLlvm();
  fs.mkdirSync(OUT, { recursive: true });
  fs.writeFileSync(file, JSON.stringify({ ...found, forced, mtimeMs: fs.statSync(found.clang).mtimeMs }));
  return found;
}
