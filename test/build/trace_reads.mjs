// @ts-check
/**
 * Preloaded into Node: notes every path below TRACE_ROOT that the process, its threads and what it starts ask for, one a line,
 * in TRACE_FILE. Modules that Node itself loads are not noted: they are in the archive.
 */
import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = `${process.env.TRACE_ROOT ?? ""}${path.sep}`;
const { appendFileSync } = fs;
/** @type {Set<string>} */
const seen = new Set();

/** @param {unknown} value */
function note(value) {
  const named = value instanceof URL ? fileURLToPath(value) : Buffer.isBuffer(value) ? value.toString() : value;
  if (typeof named !== "string") return;
  // Options such as -I/a/folder name a path as well.
  const file = path.isAbsolute(named) ? named : /^-[A-Za-z]+(\/.*)$/.exec(named)?.[1];
  if (file === undefined || !file.startsWith(root) || seen.has(file)) return;
  seen.add(file);
  appendFileSync(process.env.TRACE_FILE ?? "", `${file}\n`);
}

/**
 * @param {Record<string, any>} where @param {readonly string[]} names
 * @param {(given: readonly unknown[]) => readonly unknown[]} paths
 */
function watch(where, names, paths) {
  for (const name of names) {
    const own = where[name];
    if (typeof own !== "function") throw new Error(`${name} is not there to be watched`);
    where[name] = Object.assign(
      /** @this {unknown} @param {unknown[]} given */ function (...given) {
        for (const one of paths(given)) note(one);
        return Reflect.apply(own, this, given);
      },
      own,
    );
  }
}

const FIRST = /** @param {readonly unknown[]} given */ (given) => given.slice(0, 1);
const NAMES = ["readFile", "open", "readdir", "stat", "lstat", "access", "realpath", "copyFile", "opendir"];
watch(fs, [...NAMES, ...NAMES.map((name) => `${name}Sync`), "existsSync", "createReadStream"], FIRST);
watch(fs.promises, NAMES, FIRST);
watch(process, ["dlopen"], (given) => given.slice(1, 2));
watch(childProcess, ["spawn", "spawnSync", "execFile", "execFileSync", "fork"], (given) => [
  given[0],
  ...(Array.isArray(given[1]) ? given[1] : []),
]);
syncBuiltinESMExports();
