// @ts-check
/**
 * `npm run test:arm64`: the native code built for arm64 Linux and run under qemu-user: the oracle, the runner, the
 * language and the kernels, the latter beside the same kernels on this machine. Nothing here is timed: qemu is slow.
 *
 * Exit 2 where packages are missing that it cannot or may not install; what was not run is printed with the reason.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { compiler, locateProgram, missingPackages, requirePackages } from "./compiler.mjs";
import { buildNative } from "./native.mjs";

const OUT = "out/arm64";
const TARGET = "--target=aarch64-linux-gnu";
/** Tests that need no more than kernels, a compiler and a runner. */
const TESTS = [
  "emulator/execution",
  "emulator/matrix",
  "emulator/memory",
  "emulator/runner",
  "msl/language",
  "msl/math",
];

/** @param {string} text */
function print(text) {
  process.stdout.write(`${text}\n`);
}

/** @param {string} title @param {string} command @param {string[]} args @param {NodeJS.ProcessEnv} env */
function check(title, command, args, env = process.env) {
  print(title);
  const result = spawnSync(command, args, { stdio: ["ignore", 1, 2], env });
  if (result.status === 0) return;
  process.stderr.write(`failed: ${command} ${args.join(" ")}\n`);
  process.exit(1);
}

/** A program of one line of shell. @param {string} file @param {string} line */
function script(file, line) {
  fs.writeFileSync(file, `#!/bin/sh\nexec ${line}\n`, { mode: 0o755 });
  return path.resolve(file);
}

/** What clang answers for arm64. @param {string[]} question */
function answer(...question) {
  const { stdout, stderr } = spawnSync(clang.clang, question, { encoding: "utf8" });
  return `${stdout}${stderr}`.trim();
}

/** @returns {string | undefined} */
function qemu() {
  return ["qemu-aarch64-static", "qemu-aarch64"]
    .map((name) => locateProgram(name))
    .find((found) => found !== undefined);
}

if (process.platform !== "linux" || process.arch !== "x64") {
  print(`not run: this is ${process.platform} on ${process.arch}; arm64 Linux is emulated on x86-64 Linux only`);
  print("an arm64 machine runs the same tests by itself: npm test");
  process.exit(2);
}

const clang = compiler();
const library = () => answer(TARGET, "-print-file-name=libstdc++.so");
const cLibrary = () => answer(TARGET, "-print-file-name=libc.so.6");
// The cross packages carry the version of the system's own GCC.
const gcc = /Selected GCC installation: .*\/(\d+)/.exec(answer("-v"))?.[1] ?? "12";
requirePackages(
  "The C and C++ libraries for arm64 Linux are needed to build for it.",
  [`libstdc++-${gcc}-dev-arm64-cross`],
  () => library().startsWith("/") && cLibrary().startsWith("/"),
);

fs.mkdirSync(OUT, { recursive: true });
const program = `${OUT}/oracle`;
const oracle = fs
  .readdirSync("native/oracle")
  .filter((file) => file.endsWith(".cpp"))
  .map((file) => `native/oracle/${file}`);
check(`building the oracle with ${clang.version}`, clang.clang, [
  TARGET,
  `--ld-path=${clang.lld}`,
  ...["-std=c++20", "-O2", "-g1", "-Wall", "-Wextra"],
  ...["test/native/oracle/sanitize.cpp", ...oracle, "native/addon/host_memory.cpp", "native/addon/shared_memory.cpp"],
  ...["-pthread", "-o", program],
]);
print("building the addon and the runner");
await buildNative(clang, OUT, [TARGET]);

const missing = missingPackages(
  "qemu-user is needed to run programs for arm64 Linux.",
  ["qemu-user-static"],
  () => qemu() !== undefined,
);
if (missing !== undefined) {
  const why = missing.replaceAll("\n", " ");
  for (const what of ["oracle, generator, shared memory", ...TESTS, "kernels", "addon"])
    print(`not run: ${what}: ${why}`);
  process.exit(2);
}

// Programs for arm64 find their loader and libraries below this folder.
const system = path.dirname(path.dirname(fs.realpathSync(cLibrary())));
// qemu keeps a record of every page of the wide guards around buffers: in a small address space the runner takes narrower ones.
const emulator = `${qemu()} -R 64G -L ${system}`;
print(`running with ${emulator}`);
const launcher = script(`${OUT}/launch`, `${emulator} "$@"`);
const runner = script(`${OUT}/run-runner`, `${emulator} "${path.resolve(`${OUT}/lockstep-runner`)}"`);

check("oracle, generator, shared memory", launcher, [path.resolve(program)]);
const environment = {
  ...process.env,
  LOCKSTEP_TEST_TARGET: "arm64",
  LOCKSTEP_TEST_LAUNCHER: launcher,
  LOCKSTEP_RUNNER: runner,
};
const tests = TESTS.map((test) => `test/native/${test}`);
check("execution, runner, language", "npx", ["vitest", "run", ...tests], environment);

await build({
  entryPoints: ["test/native/arm64/kernels.ts"],
  outfile: `${OUT}/kernels.mjs`,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  logLevel: "warning",
});
check("kernels", process.execPath, [`${OUT}/kernels.mjs`, runner]);
print("not run: addon: it needs Node for arm64");
