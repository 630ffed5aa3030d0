// @ts-check
/**
 * Where a clang++ and its linker may be, and how to install them. Plain JavaScript with builtins only, because the
 * set-up of a fresh clone reads it before there is anything to compile TypeScript with.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** The version that everything is proven with; another one is used only if the emulator's self-test passes with it. */
export const PREFERRED_CLANG = 19;

/** Older ones cannot do arithmetic on bfloat. */
export const OLDEST_CLANG = 17;

/** Names and paths to try, best first; names without a slash are looked up in PATH. */
const CANDIDATES = [
  `clang++-${PREFERRED_CLANG}`,
  `/opt/homebrew/opt/llvm@${PREFERRED_CLANG}/bin/clang++`,
  `/usr/local/opt/llvm@${PREFERRED_CLANG}/bin/clang++`,
  "clang++",
  "clang++-20",
  "clang++-21",
  "clang++-22",
  "clang++-18",
  "/opt/homebrew/opt/llvm/bin/clang++",
  "/usr/local/opt/llvm/bin/clang++",
];

/** On macOS clang links by itself. */
export const LLVM_FOR_MAC = `brew install llvm@${PREFERRED_CLANG}`;

/** How clang is installed, by what is found on the machine. */
const INSTALL = [
  {
    when: () => process.platform === "darwin",
    line: LLVM_FOR_MAC,
  },
  {
    when: () => existsSync("/usr/bin/apt-get"),
    line: `sudo apt-get install -y clang-${PREFERRED_CLANG} lld-${PREFERRED_CLANG}`,
  },
  { when: () => existsSync("/usr/bin/dnf"), line: "sudo dnf install -y clang lld" },
  {
    when: () => true,
    line: `install clang ${PREFERRED_CLANG} and lld ${PREFERRED_CLANG}, or set LOCKSTEP_CLANG to a clang++`,
  },
];

/** @typedef {Readonly<Record<string, string | undefined>>} Environment */

/** The one line that installs what is missing on this machine. */
export function installLine() {
  return INSTALL.find((entry) => entry.when())?.line ?? "";
}

/**
 * The path of a program: `name` itself if it has a slash, else the first of that name in PATH.
 * @param {string} name @param {Environment} environment @returns {string | undefined}
 */
export function locate(name, environment) {
  if (name.includes("/")) return isProgram(name) ? name : undefined;
  for (const folder of (environment.PATH ?? "").split(delimiter)) {
    if (folder !== "" && isProgram(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Programs that may be a clang++, as paths, best first, each once: `LOCKSTEP_CLANG` alone if it is set.
 * @param {Environment} environment @param {NodeJS.Platform} [platform] @returns {readonly string[]}
 */
export function candidates(environment, platform = process.platform) {
  const forced = environment.LOCKSTEP_CLANG;
  if (forced !== undefined && forced !== "") {
    const path = locate(forced, environment);
    return path === undefined ? [] : [path];
  }
  const paths = CANDIDATES.flatMap((name) => locate(name, environment) ?? []);
  if (platform === "darwin") {
    const apple = locate(xcrun(environment, "--find", "clang++") ?? "", environment);
    if (apple !== undefined) paths.push(apple);
  }
  const seen = new Set();
  return paths.filter((path) => {
    const real = realpathSync(path);
    if (seen.has(real)) return false;
    seen.add(real);
    return true;
  });
}

/**
 * What macOS's `xcrun` answers about the tools and the SDK for macOS; undefined where it knows nothing.
 * @param {Environment} environment @param {string[]} question @returns {string | undefined}
 */
export function xcrun(environment, ...question) {
  const program = locate("xcrun", environment);
  if (program === undefined) return undefined;
  const run = spawnSync(program, ["--sdk", "macosx", ...question], { encoding: "utf8", env: environment });
  const answer = run.status === 0 ? run.stdout.trim() : "";
  return answer === "" ? undefined : answer;
}

/**
 * Major version of a clang from the first line of `clang++ --version`; undefined if it is no clang that is new enough,
 * with the reason.
 * @param {string} version
 * @returns {{ major: number } | { major?: undefined, reason: string }}
 */
export function majorVersion(version) {
  const major = Number(/clang version (\d+)/.exec(version)?.[1] ?? Number.NaN);
  if (!Number.isInteger(major)) return { reason: "it is not clang" };
  if (major < OLDEST_CLANG && !version.startsWith("Apple")) {
    return { reason: `it is clang ${major}; the oldest that works is ${OLDEST_CLANG}` };
  }
  return { major };
}

/**
 * The ld.lld that goes with a clang; undefined where there is none.
 * @param {string} realPath of the clang @param {number} major @param {Environment} environment
 * @returns {string | undefined}
 */
export function findLinker(realPath, major, environment) {
  const beside = dirname(realPath);
  for (const name of [join(beside, "ld.lld"), join(beside, `ld.lld-${major}`), `ld.lld-${major}`, "ld.lld"]) {
    const found = locate(name, environment);
    if (found !== undefined) return found;
  }
  return undefined;
}
