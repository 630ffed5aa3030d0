// @ts-check
/**
 * Makes a fresh clone runnable, and a second call cheap: dependencies, compiler, addon, runner, bundles, window. Each step
 * is keyed by the digest of what it depends on. Plain Node with builtins only; everything it says goes to stderr.
 *
 * Exit 2 where something is missing that it cannot or may not install.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { compiler, OUT, say, stop } from "./compiler.mjs";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const SUPPORTED_NODE = "20.19, 22.12 or 24";

process.chdir(ROOT);

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const supported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;
  if (!supported) stop(`Node ${process.versions.node} is not supported: install ${SUPPORTED_NODE} or newer`);
}

/** Files below `folder`, sorted, without build products. @param {string} folder @returns {string[]} */
function filesBelow(folder) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return filesBelow(file);
      return entry.isFile() ? [file] : [];
    });
}

/** @param {readonly string[]} files @param {readonly string[]} facts */
function digest(files, facts = []) {
  const hash = createHash("sha256").update(`${process.platform}-${process.arch}`);
  for (const fact of facts) hash.update(`\0${fact}`);
  for (const file of files) hash.update(`\0${file}\0`).update(fs.readFileSync(file));
  return hash.digest("hex");
}

/** @param {string} stamp @param {string} value @param {readonly string[]} products */
function isCurrent(stamp, value, products) {
  try {
    return fs.readFileSync(stamp, "utf8") === value && products.every((file) => fs.existsSync(file));
  } catch {
    return false;
  }
}

/**
 * Does one step if its stamp is out of date.
 * @param {{ name: string, stamp: string, value: string, products: string[], work: () => Promise<void> | void }} step
 */
async function step({ name, stamp, value, products, work }) {
  if (isCurrent(stamp, value, products)) return;
  const start = Date.now();
  say(`${name} ...`);
  await work();
  fs.mkdirSync(path.dirname(stamp), { recursive: true });
  fs.writeFileSync(stamp, value);
  say(`${name}: ${((Date.now() - start) / 1000).toFixed(1)} s`);
}

function installDependencies() {
  const cli = process.env.npm_execpath;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const result =
    cli && /npm-cli\.c?js$/.test(cli)
      ? spawnSync(process.execPath, [cli, ...args], { stdio: ["ignore", 2, 2] })
      : spawnSync("npm", args, { stdio: ["ignore", 2, 2] });
  if (result.status !== 0) stop("npm ci failed: see the lines above; a registry must be reachable for the first run");
}

/**
 * Holds the set-up lock while `work` runs, so that two commands started at once do not build over each other.
 * A lock whose owner has died is taken over.
 * @param {() => Promise<void>} work
 */
async function withLock(work) {
  const lock = `${OUT}/setup.lock`;
  for (let waited = 0; ; waited += 200) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch {
      const owner = Number(fs.existsSync(lock) ? fs.readFileSync(lock, "utf8") : Number.NaN);
      if (owner && !isAlive(owner)) {
        fs.rmSync(lock, { force: true });
        continue;
      }
      if (waited === 0) say(`waiting for the set-up of process ${owner}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  const release = () => fs.rmSync(lock, { force: true });
  process.on("exit", release);
  await work();
  release();
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

function nativeFiles() {
  return filesBelow("native").filter((file) => /\.(cpp|h|c|mm)$|SOURCES$/.test(file));
}

function bundledFiles() {
  return ["electron", "native", "kernels", "oracle"].flatMap(filesBelow).filter((file) => /\.ts$/.test(file));
}

/** The window and the pure modules that it imports. */
function windowFiles() {
  return [...filesBelow("renderer"), ...bundledFiles().filter((file) => /^(electron|kernels)\//.test(file))];
}

async function main() {
  checkNode();
  fs.mkdirSync(OUT, { recursive: true });
  await withLock(async () => {
    const lock = digest(["package-lock.json"], [process.versions.node.split(".")[0] ?? ""]);
    await step({
      name: "installing dependencies (npm ci)",
      stamp: "node_modules/.lockstep-stamp",
      value: lock,
      products: [],
      work: installDependencies,
    });
    const clang = compiler();
    await step({
      name: `building the native parts with ${clang.version}`,
      stamp: `${OUT}/native.stamp`,
      value: digest([...nativeFiles(), "build/native.mjs"], [lock, clang.clang, clang.version, clang.sdk ?? ""]),
      products: [`${OUT}/lockstep.node`, `${OUT}/lockstep-runner`],
      work: async () => (await import("./native.mjs")).buildNative(clang, OUT),
    });
    await step({
      name: "bundling",
      stamp: `${OUT}/bundle.stamp`,
      value: digest([...bundledFiles(), "build/bundle.mjs"], [lock]),
      products: ["cli.mjs", "host.mjs", "serve.mjs", "main.mjs", "preload.cjs", "accept.mjs", "accept_host.mjs"].map(
        (name) => `${OUT}/${name}`,
      ),
      work: async () => (await import("./bundle.mjs")).bundle(),
    });
    await step({
      name: "building the window",
      stamp: `${OUT}/window.stamp`,
      value: digest([...windowFiles(), "build/window.mjs"], [lock]),
      products: [`${OUT}/renderer/index.html`],
      work: async () => (await import("./window.mjs")).buildWindow(),
    });
  });
}

main().catch((error) => stop(error instanceof Error ? error.message : String(error)));
