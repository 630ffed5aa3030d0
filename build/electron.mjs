// @ts-check
/**
 * Where Electron's binary is, or why the window cannot open in it: no display, none to be had. The package brings no binary; it
 * is downloaded once. A download that failed is remembered, so that the next start does not wait for it again.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { OUT, say } from "./compiler.mjs";

/** Path of the program in a distribution of Electron. */
const PROGRAMS = /** @type {Readonly<Record<string, string>>} */ ({
  darwin: "Electron.app/Contents/MacOS/Electron",
  linux: "electron",
  win32: "electron.exe",
});

/** A failed download is tried again after this time. */
const AGAIN_MS = 24 * 60 * 60 * 1000;

/** Some 110 MB over a slow line; a line that is dead fails by itself long before. */
const DOWNLOAD_MS = 10 * 60 * 1000;

/**
 * What the answer depends on. `folder` is that of the package `electron`, `memory` the file that a failure is kept in.
 * @typedef {object} Situation
 * @property {string} platform as `process.platform`
 * @property {number | undefined} uid
 * @property {Readonly<Record<string, string | undefined>>} env
 * @property {string} folder
 * @property {string} memory
 * @property {number} now milliseconds
 */

/** @typedef {{ readonly program: string } | { readonly reason: string }} Found */

/** @returns {Situation} */
export function situation() {
  return {
    platform: process.platform,
    uid: process.getuid?.(),
    env: process.env,
    folder: packageFolder(),
    memory: path.join(OUT, "electron.json"),
    now: Date.now(),
  };
}

function packageFolder() {
  try {
    return path.dirname(createRequire(import.meta.url).resolve("electron/package.json"));
  } catch {
    return "";
  }
}

/** Why no window of Electron can open here, whether its binary is there or not. @param {Situation} here */
export function whyNoWindow({ platform, env, uid }) {
  if (!(platform in PROGRAMS)) return `there is no Electron for ${platform}`;
  if (platform !== "linux") return undefined;
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)";
  // Chromium refuses to run as root with its sandbox, and without it is no way to run.
  return uid === 0 ? "Electron's sandbox does not run as root" : undefined;
}

/** The program, where it is on this machine already. @param {Situation} here @returns {Found | undefined} */
export function installedElectron({ platform, env, folder }) {
  const name = PROGRAMS[platform] ?? "electron";
  const given = env.ELECTRON_OVERRIDE_DIST_PATH;
  if (given) {
    const program = path.join(given, name);
    return fs.existsSync(program)
      ? { program }
      : { reason: `ELECTRON_OVERRIDE_DIST_PATH is ${given}, where there is no ${name}` };
  }
  const program = path.join(folder, "dist", name);
  return folder !== "" && fs.existsSync(program) ? { program } : undefined;
}

/** @param {Situation} here */
function versionOf({ folder }) {
  return /** @type {{ version: string }} */ (JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8")))
    .version;
}

/** @param {number} milliseconds */
function ago(milliseconds) {
  const minutes = Math.max(1, Math.round(milliseconds / 60_000));
  return minutes < 90 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}

/** Why the last download failed, if that was not long ago. @param {Situation} here @returns {string | undefined} */
export function rememberedFailure(here) {
  try {
    const known = JSON.parse(fs.readFileSync(here.memory, "utf8"));
    const age = here.now - Number(known.at);
    if (known.version !== versionOf(here) || !(age >= 0 && age < AGAIN_MS)) return undefined;
    return `its download failed ${ago(age)} (${known.reason}); npm start -- --fetch tries again`;
  } catch {
    return undefined;
  }
}

/**
 * Downloads the binary with the package's own installer. @param {Situation} here @param {string} installer
 * @returns {Promise<string | undefined>} why it failed
 */
function download(here, installer) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [installer], {
      stdio: ["ignore", "ignore", "pipe"],
      env: /** @type {NodeJS.ProcessEnv} */ (here.env),
      timeout: DOWNLOAD_MS,
    });
    let words = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      words += text;
    });
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => {
      if (code === 0) resolve(undefined);
      else if (signal !== null) resolve(`no end after ${DOWNLOAD_MS / 60_000} min`);
      else resolve(lastError(words) ?? `exit code ${code}`);
    });
  });
}

/** The first line that names an error, without its class. @param {string} words */
function lastError(words) {
  return words.split("\n").flatMap((line) => /^\s*\w*Error: (.+)$/.exec(line)?.[1] ?? [])[0];
}

/**
 * The program to start, or why there is none; downloads it where that may help. `again` tries a download that failed lately.
 * @param {Situation} here @param {boolean} again @param {string} [installer]
 * @returns {Promise<Found>}
 */
export async function findElectron(here, again, installer = path.join(here.folder, "install.js")) {
  const hindrance = whyNoWindow(here);
  if (hindrance !== undefined) return { reason: hindrance };
  const there = installedElectron(here);
  if (there !== undefined) return there;
  if (!fs.existsSync(installer)) return { reason: "the package electron is not installed: npm ci installs it" };
  const failed = again ? undefined : rememberedFailure(here);
  if (failed !== undefined) return { reason: failed };
  say(`fetching Electron ${versionOf(here)}, once ...`);
  const reason = await download(here, installer);
  if (reason === undefined) {
    fs.rmSync(here.memory, { force: true });
    return installedElectron(here) ?? { reason: "its download ended without a program" };
  }
  fs.mkdirSync(path.dirname(here.memory), { recursive: true });
  fs.writeFileSync(here.memory, JSON.stringify({ version: versionOf(here), at: here.now, reason }));
  return { reason: `its download failed (${reason})` };
}

/** An app that ends sooner than this, and not well, never opened its window. */
const OPENED_MS = 10_000;

/**
 * Starts the app in `root` and resolves when it ends: with its exit code, or with why its window never opened.
 * @param {string} program @param {string} root @param {readonly string[]} words
 * @returns {Promise<{ readonly code: number } | { readonly reason: string }>}
 */
export function runDesktop(program, root, words) {
  return new Promise((resolve) => {
    const began = performance.now();
    const env = { ...process.env };
    // Set in the terminals of some editors; it would make a plain Node of Electron.
    delete env.ELECTRON_RUN_AS_NODE;
    // A process group of its own: Ctrl-C reaches the app through this process alone, once, and it ends in order.
    const child = spawn(program, [root, ...words], { stdio: ["ignore", "inherit", "inherit"], detached: true, env });
    let told = false;
    const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
    const pass = (/** @type {NodeJS.Signals} */ signal) => {
      told = true;
      child.kill(signal);
    };
    for (const signal of signals) process.on(signal, pass);
    const finish = (/** @type {{ readonly code: number } | { readonly reason: string }} */ end) => {
      for (const signal of signals) process.off(signal, pass);
      resolve(end);
    };
    child.once("error", (error) => finish({ reason: `it could not be started (${error.message})` }));
    child.once("exit", (code, signal) => {
      const seconds = (performance.now() - began) / 1000;
      if (code === 0 || told || seconds * 1000 > OPENED_MS) finish({ code: code ?? 1 });
      else
        finish({
          reason: `it ended ${signal ? `by ${signal}` : `with exit code ${code}`} after ${seconds.toFixed(1)} s`,
        });
    });
  });
}
