// @ts-check
/** The compiler that the set-up uses, found once, and the system packages that it may install. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import {
  candidates,
  findLinker,
  installLine,
  locate,
  majorVersion,
  PREFERRED_CLANG,
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
 * `clang++ --version`.
 * @typedef {{ clang: string, lld: string, major: number, version: string }} Compiler
 */

/** Path of a program in PATH. @param {string} name @returns {string | undefined} */
export function locateProgram(name) {
  return locate(name, process.env);
}

/** @returns {Compiler | undefined} */
function findClang() {
  for (const clang of candidates(process.env)) {
    const run = spawnSync(clang, ["--version"], { encoding: "utf8" });
    const version = run.stdout?.split("\n")[0]?.trim() ?? "";
    const { major } = majorVersion(version);
    if (run.status !== 0 || major === undefined) continue;
    const lld = process.platform === "darwin" ? "" : findLinker(fs.realpathSync(clang), major, process.env);
    if (lld !== undefined) return { clang, lld, major, version };
  }
  return undefined;
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
function requireClang() {
  const forced = process.env.LOCKSTEP_CLANG;
  if (forced && findClang() === undefined) {
    stop(`LOCKSTEP_CLANG is ${forced}, which is no clang++ with ld.lld beside it: unset it or name another`);
  }
  requirePackages(
    `clang ${PREFERRED_CLANG} and lld are needed to compile kernels for the emulated device, and none was found.`,
    [`clang-${PREFERRED_CLANG}`, `lld-${PREFERRED_CLANG}`],
    () => findClang() !== undefined,
    installLine(),
  );
  return /** @type {Compiler} */ (findClang());
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
    if (same && (known.lld === "" || fs.existsSync(known.lld))) return known;
  } catch {
    // first run, or the compiler has gone
  }
  const found = requireClang();
  fs.mkdirSync(OUT, { recursive: true });
  fs.writeFileSync(file, JSON.stringify({ ...found, forced, mtimeMs: fs.statSync(found.clang).mtimeMs }));
  return found;
}
