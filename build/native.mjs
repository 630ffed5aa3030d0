// @ts-check
/**
 * Builds the native parts: the addon (`out/lockstep.node`) and the kernel runner (`out/lockstep-runner`). Their sources are
 * listed in `native/addon/SOURCES`, `native/metal/SOURCES` (macOS) and `native/emulator/runner/SOURCES`.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const WARNINGS = ["-Wall", "-Wextra"];

/** @param {string} list path of a SOURCES file @returns {string[]} */
export function sources(list) {
  return fs
    .readFileSync(list, "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** @param {string} command @param {string[]} args @returns {Promise<{ status: number | null, output: string }>} */
function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
    });
    child.stderr.on("data", (data) => {
      output += data;
    });
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output }));
  });
}

/** The oldest macOS that the native parts run on; newer calls stand behind `@available`. */
export const DEPLOYMENT_TARGET = "13.0";

/** Nothing is called in CoreGraphics: Metal has no default device in a process that has not loaded it, as node has not. */
const METAL_FRAMEWORKS = ["Metal", "Foundation", "CoreFoundation", "IOKit", "CoreGraphics"];

/**
 * What is built, as a table: output, list of sources, flags. `objective` is a second list of sources that go into the
 * same output, in Objective-C++, with flags that they have beyond those of the others.
 * @typedef {{ list: string, compile: string[] }} Part
 * @typedef {Part & { output: string, objective?: Part, link: string[] }} Target
 * @param {NodeJS.Platform} platform that they are built for
 * @returns {Target[]}
 */
export function targets(platform = process.platform) {
  const darwin = platform === "darwin";
  const oldest = darwin ? [`-mmacosx-version-min=${DEPLOYMENT_TARGET}`] : [];
  return [
    {
      output: "lockstep.node",
      list: "native/addon/SOURCES",
      compile: [
        "-fPIC",
        "-fexceptions",
        "-DNAPI_VERSION=8",
        "-DNODE_ADDON_API_CPP_EXCEPTIONS",
        "-DNODE_API_NO_EXTERNAL_BUFFERS_ALLOWED",
        // An environment that is ending takes no exception: without this the process would end by it.
        "-DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
        // Hidden: the bundle exports what Node looks up and nothing else.
        ...(darwin ? ["-DLOCKSTEP_METAL", "-fvisibility=hidden"] : []),
        ...oldest,
        "-isystem",
        "node_modules/node-api-headers/include",
        "-isystem",
        "node_modules/node-addon-api",
      ],
      ...(darwin
        ? {
            objective: {
              list: "native/metal/SOURCES",
              compile: ["-x", "objective-c++", "-fobjc-arc", "-fblocks", "-Wunguarded-availability"],
            },
          }
        : {}),
      link: darwin
        ? [
            ...["-bundle", "-undefined", "dynamic_lookup"],
            ...oldest,
            "-fobjc-arc",
            ...METAL_FRAMEWORKS.flatMap((name) => ["-framework", name]),
          ]
        : ["-shared", "-pthread"],
    },
    {
      output: "lockstep-runner",
      list: "native/emulator/runner/SOURCES",
      compile: ["-I", "native/emulator/runtime", ...oldest],
      // Kernel modules bring everything they need; the runner exports nothing to them.
      link: darwin ? oldest : ["-pthread", "-ldl"],
    },
  ];
}

/**
 * The sources of a target with the flags of each.
 * @param {Target} target @returns {{ source: string, flags: string[] }[]}
 */
export function compilations(target) {
  const { list, compile, objective } = target;
  const plain = sources(list).map((source) => ({ source, flags: compile }));
  const more = objective === undefined ? [] : sources(objective.list);
  return [...plain, ...more.map((source) => ({ source, flags: [...compile, ...(objective?.compile ?? [])] }))];
}

/**
 * Compiles and links every target into `out`. Objects are kept by name, so that one changed file recompiles alone.
 * @param {import("./compiler.mjs").Compiler} compiler
 * @param {string} out folder of the products
 * @param {string[]} extra further flags for compiling and linking, for example sanitizers
 * @param {string[]} only outputs to build; all by default
 */
export async function buildNative(compiler, out, extra = [], only = targets().map((target) => target.output)) {
  const chosen = targets().filter((target) => only.includes(target.output));
  const sdk = compiler.sdk === undefined ? [] : ["-isysroot", compiler.sdk];
  const jobs = [];
  for (const target of chosen) {
    for (const { source, flags } of compilations(target)) {
      const object = objectOf(out, target, source);
      fs.mkdirSync(path.dirname(object), { recursive: true });
      const all = ["-std=c++20", "-O3", "-g1", ...WARNINGS, ...sdk, ...flags, ...extra];
      jobs.push({ object, args: [...all, "-MD", "-MF", `${object}.d`, "-c", source, "-o", object] });
    }
  }
  await inParallel(jobs, async (job) => {
    if (upToDate(job.object, job.args)) return;
    const result = await run(compiler.clang, job.args);
    if (result.status !== 0)
      throw new Error(`compiling failed: ${compiler.clang} ${job.args.join(" ")}\n${result.output}`);
    if (result.output.trim() !== "") process.stderr.write(result.output);
    fs.writeFileSync(`${job.object}.args`, job.args.join("\n"));
  });
  for (const target of chosen) {
    const objects = compilations(target).map(({ source }) => objectOf(out, target, source));
    const product = path.join(out, target.output);
    // Linked beside and renamed: a running process keeps its old file.
    const temporary = `${product}.${process.pid}.tmp`;
    const lld = compiler.lld === "" ? [] : [`--ld-path=${compiler.lld}`];
    const result = await run(compiler.clang, [...objects, ...sdk, ...extra, ...lld, ...target.link, "-o", temporary]);
    if (result.status !== 0) throw new Error(`linking ${target.output} failed:\n${result.output}`);
    fs.renameSync(temporary, product);
  }
}

/** @param {string} out @param {Target} target @param {string} source */
function objectOf(out, target, source) {
  return path.join(out, "objects", target.output, `${source.replaceAll("/", "__")}.o`);
}

/**
 * True if the object is newer than everything its last compilation read and was made with the same flags.
 * @param {string} object @param {string[]} args
 */
function upToDate(object, args) {
  try {
    if (fs.readFileSync(`${object}.args`, "utf8") !== args.join("\n")) return false;
    const made = fs.statSync(object).mtimeMs;
    const inputs = fs.readFileSync(`${object}.d`, "utf8").replaceAll("\\\n", " ").split(/\s+/).slice(1).filter(Boolean);
    return inputs.every((file) => fs.statSync(file).mtimeMs < made);
  } catch {
    return false;
  }
}

/** @template T @param {T[]} jobs @param {(job: T) => Promise<void>} work */
async function inParallel(jobs, work) {
  const queue = [...jobs];
  const { availableParallelism } = await import("node:os");
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let job = queue.shift(); job !== undefined; job = queue.shift()) await work(job);
    }),
  );
}
