/**
 * Builds the stand-in for Metal and, against it, the addon with native/metal compiled in, for Linux and for tests alone:
 * out/stand_in/stand_in.node (runtime, Foundation, Metal and what tests call) and out/stand_in/lockstep.node. Objects are
 * kept; nothing is done where nothing changed. With STAND_IN_SANITIZE `memory` or `threads` both are built for
 * AddressSanitizer and UndefinedBehaviorSanitizer, or for ThreadSanitizer, in a folder of their own.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { build as bundle } from "esbuild";
import { compiler } from "../../../../build/compiler.mjs";
import { sources, targets } from "../../../../build/native.mjs";

const ROOT = path.resolve(import.meta.dirname, "../../../..");
const HERE = path.relative(ROOT, import.meta.dirname);
const HEADERS = path.join(path.dirname(HERE), "headers");
/** Flags of `STAND_IN_SANITIZE`; Node is not built so, hence the runtime that can be preloaded into it. */
const SANITIZERS: Readonly<Record<string, readonly string[]>> = {
  memory: ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-shared-libsan"],
  threads: ["-fsanitize=thread", "-shared-libsan"],
};
const SANITIZE = process.env.STAND_IN_SANITIZE ?? "";
const SANITIZED = SANITIZERS[SANITIZE] ?? [];

const COMMON = ["-std=c++20", "-O1", "-g1", "-fPIC", "-fexceptions", "-Wall", "-Wextra", ...SANITIZED];
/** As the addon is built on Linux. */
const NODE = targets("linux").find(({ output }) => output === "lockstep.node")?.compile ?? [];
/** Objective-C++ as native/metal is written, for the runtime of this folder; `@available` asks the scenario. */
const OBJECTIVE_C = [
  "-fobjc-runtime=objfw",
  "-fobjc-arc",
  "-fblocks",
  "-include",
  `${HERE}/metal/available.h`,
  "-I",
  HEADERS,
];

/** The only file of native/metal that is replaced: the runtime here has no Objective-C exceptions. */
const REPLACED: Readonly<Record<string, string>> = { "native/metal/exception.mm": `${HERE}/metal/exception.mm` };

export interface StandInFiles {
  readonly addon: string;
  readonly control: string;
  readonly compiler: string;
}

interface Product {
  readonly file: string;
  readonly sources: readonly string[];
  readonly flags: readonly string[];
  readonly link: readonly string[];
}

function filesOf(folder: string): string[] {
  return fs
    .readdirSync(path.join(ROOT, HERE, folder))
    .filter((name) => /\.(cpp|mm)$/.test(name))
    .map((name) => `${HERE}/${folder}/${name}`);
}

function standIn(out: string): Product {
  const own = [...filesOf("objc"), ...filesOf("foundation"), ...filesOf("metal"), `${HERE}/control.cpp`];
  const emulator = sources(path.join(ROOT, "native/emulator/runner/SOURCES")).filter((file) =>
    file.includes("/runtime/"),
  );
  return {
    file: path.join(out, "stand_in.node"),
    sources: [
      ...own.filter((file) => !Object.values(REPLACED).includes(file)),
      ...emulator,
      "native/addon/host_memory.cpp",
      "native/addon/shared_memory.cpp",
    ],
    flags: [...NODE, "-I", HERE, "-I", "native/emulator/runtime", "-I", "native/addon", "-Wno-unused-parameter"],
    link: ["-shared", "-Wl,-Bsymbolic", "-Wl,-soname,stand_in.node"],
  };
}

function addon(out: string): Product {
  const all = [
    ...sources(path.join(ROOT, "native/addon/SOURCES")),
    ...sources(path.join(ROOT, "native/metal/SOURCES")),
  ];
  return {
    file: path.join(out, "lockstep.node"),
    sources: all.map((file) => REPLACED[file] ?? file),
    flags: [...NODE, "-DLOCKSTEP_METAL"],
    link: ["-shared", "-Wl,-Bsymbolic", "-Wl,-rpath,$ORIGIN", path.join(out, "stand_in.node")],
  };
}

/** A program that uses Metal wrongly. Node's functions, which the stand-in is open for, are never called by it. */
function misuse(out: string): Product {
  return {
    file: path.join(out, "misuse"),
    sources: [`${HERE}/misuse.mm`],
    flags: ["-I", HERE],
    link: ["-Wl,--allow-shlib-undefined", "-Wl,-rpath,$ORIGIN", path.join(out, "stand_in.node")],
  };
}

/** Builds what is out of date. One process at a time; the others wait. Throws with clang's words. */
export function buildStandIn(): Promise<StandInFiles> {
  return locked(async (out, clang, lld) => {
    for (const product of [standIn(out), addon(out)]) await make(product, out, clang, lld);
    const script = path.join(out, "compiler.mjs");
    await bundle({
      entryPoints: [path.join(ROOT, HERE, "compiler.ts")],
      outfile: script,
      bundle: true,
      platform: "node",
      target: "node20",
      format: "esm",
      logLevel: "warning",
    });
    return { addon: path.join(out, "lockstep.node"), control: path.join(out, "stand_in.node"), compiler: script };
  });
}

/** Builds the program of the misuse and what it needs; its path. */
export function buildMisuse(): Promise<string> {
  return locked(async (out, clang, lld) => {
    for (const product of [standIn(out), misuse(out)]) await make(product, out, clang, lld);
    return misuse(out).file;
  });
}

async function locked<T>(work: (out: string, clang: string, lld: string) => Promise<T>): Promise<T> {
  if (process.platform !== "linux") {
    throw new Error(
      "The stand-in for Metal is for Linux: on a Mac `npm run mac:accept` tests the device on Metal itself.",
    );
  }
  const out = path.join(ROOT, "out", SANITIZED.length === 0 ? "stand_in" : `stand_in_${SANITIZE}`);
  fs.mkdirSync(out, { recursive: true });
  const release = await lock(path.join(out, "lock"));
  try {
    const { clang, lld } = compiler();
    return await work(out, clang, lld);
  } finally {
    release();
  }
}

async function make(product: Product, out: string, clang: string, lld: string): Promise<void> {
  const jobs = product.sources.map((source) => {
    const object = path.join(out, "objects", path.basename(product.file), `${source.replaceAll("/", "__")}.o`);
    const language = source.endsWith(".mm") ? OBJECTIVE_C : [];
    const args = [...COMMON, ...language, ...product.flags, "-MMD", "-MF", `${object}.d`, "-c", source, "-o", object];
    return { object, args };
  });
  fs.mkdirSync(path.dirname(jobs[0]?.object ?? out), { recursive: true });
  const stale = jobs.filter((job) => !upToDate(job.object, job.args));
  const queue = [...stale];
  const worker = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const begun = Date.now() / 1000;
      await run(clang, job.args);
      fs.writeFileSync(`${job.object}.args`, job.args.join("\n"));
      // As old as what was read: a source that is edited meanwhile is newer.
      fs.utimesSync(job.object, begun, begun);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  const link = ["-pthread", "-ldl", `--ld-path=${lld}`, ...SANITIZED, ...product.link];
  const args = [...jobs.map((job) => job.object), ...link];
  const isNewer = (object: string): boolean =>
    fs.statSync(`${object}.args`).mtimeMs > fs.statSync(product.file).mtimeMs;
  if (sameArguments(product.file, args) && !jobs.some((job) => isNewer(job.object))) return;
  const temporary = `${product.file}.${process.pid}.tmp`;
  await run(clang, [...args, "-o", temporary]);
  fs.renameSync(temporary, product.file);
  fs.writeFileSync(`${product.file}.args`, args.join("\n"));
}

function sameArguments(file: string, args: readonly string[]): boolean {
  try {
    return fs.existsSync(file) && fs.readFileSync(`${file}.args`, "utf8") === args.join("\n");
  } catch {
    return false;
  }
}

/** Newer than everything that it was made of, and made with the same arguments. */
function upToDate(object: string, args: readonly string[]): boolean {
  if (!sameArguments(object, args)) return false;
  const made = fs.statSync(object).mtimeMs;
  const text = fs.readFileSync(`${object}.d`, "utf8").replaceAll("\\\n", " ");
  const inputs = text.split(/\s+/).slice(1).filter(Boolean);
  return inputs.every((file) => {
    const { mtimeMs } = fs.statSync(path.resolve(ROOT, file), { throwIfNoEntry: false }) ?? {
      mtimeMs: Number.POSITIVE_INFINITY,
    };
    return mtimeMs < made;
  });
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, LD_PRELOAD: undefined },
    });
    let output = "";
    const take = (data: Buffer): void => {
      output += data.toString();
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", reject);
    child.on("close", (status) => {
      // Warnings are faults here: the sources are the product's.
      if (status === 0 && output === "") resolve();
      else reject(new Error(`${command} ${args.join(" ")}\n${output}`));
    });
  });
}

/** Taken over from a process that has died. */
async function lock(file: string): Promise<() => void> {
  for (;;) {
    try {
      fs.writeFileSync(file, String(process.pid), { flag: "wx" });
      return () => fs.rmSync(file, { force: true });
    } catch {
      const owner = Number(fs.existsSync(file) ? fs.readFileSync(file, "utf8") : Number.NaN);
      if (owner > 0 && !isAlive(owner)) fs.rmSync(file, { force: true });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
