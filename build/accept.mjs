// @ts-check
/**
 * `npm run mac:accept`: builds, then hands over to `out/accept.mjs`, which does everything else. A build that fails is said as
 * the step that it is, and the rest is `not run`.
 */
import { spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/**
 * Runs a program of the project to its end, on this one's streams. Signals go on to it: it ends in order, and this process waits.
 * @param {string} file @param {readonly string[]} args
 * @returns {Promise<{ code: number | null, signal: string | null }>}
 */
function run(file, args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [path.join(ROOT, file), ...args], { stdio: "inherit" });
    const pass = (/** @type {NodeJS.Signals} */ signal) => void child.kill(signal);
    const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
    for (const signal of signals) process.on(signal, pass);
    child.once("exit", (code, signal) => {
      for (const one of signals) process.off(one, pass);
      resolve({ code, signal });
    });
  });
}

const built = await run("build/bootstrap.mjs", []);
if (built.code !== 0) {
  const how = built.code === null ? `it was ended by ${built.signal}` : `exit code ${built.code}`;
  process.stdout.write(`failed   build: the native parts are built and load: the lines above say why (${how})\n`);
  process.stdout.write("0 passed, 1 failed, 9 not run: a step failed\n");
  process.exit(1);
}
process.exit((await run("out/accept.mjs", process.argv.slice(2))).code ?? 130);
