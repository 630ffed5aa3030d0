/**
 * Which files of the checkout the commands need while they run: found by running each of them with `trace_reads.mjs`, not
 * written down, so that a file that a command begins to read is known at once.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { CommandId } from "../../electron/actions.ts";
import { WHERE } from "../electron/runs/harness.ts";

const CASE = ["--case", "gqa_decode/h32kv4d512/L33/spread/f32"];

/** How each command is run, after those that make what it needs; or why it is not. */
export const TRACED: Readonly<Record<CommandId, readonly (readonly string[])[] | { readonly not: string }>> = {
  devices: [["devices"]],
  cases: [["cases", "--suite", "full"]],
  dispatch: [["dispatch", ...CASE]],
  parity: [["parity", "--suite", "quick", "--route", "naive", ...CASE, "--out", "evidence"]],
  check: [
    ["check", "kernel/plain.kernel.json", "--traffic"],
    ["check", "--schema"],
  ],
  run: [["run", "kernel/plain.kernel.json"]],
  verify: [["verify", "BUNDLE"]],
  attach: [["attach", "BUNDLE", "kernel/plain.metal"]],
  attachments: [["attachments", "BUNDLE"]],
  diff: [["diff", "BUNDLE", "BUNDLE"]],
  export: [["export", "BUNDLE", "--out", "bundle.zip"]],
  // Refused where there is no Metal device, which is all that can be traced here.
  capture: [["capture", ...CASE, "--route", "naive", "--out", "one.gputrace"]],
  offline: [["offline", "--route", "naive", ...CASE]],
  open: { not: "it starts the window, whose own files are the archive's" },
  mutate: { not: "no page of the app plants faults; it reads the kernels as parity does" },
};

/** The first example of the document on manifests. */
function writeKernel(folder: string): void {
  const text = fs.readFileSync(path.join(WHERE.root, "docs", "kernel-manifest.md"), "utf8");
  const block = (language: string): string => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(text)?.[1] ?? "";
  fs.mkdirSync(path.join(folder, "kernel"));
  fs.writeFileSync(path.join(folder, "kernel", "plain.metal"), block("metal"));
  fs.writeFileSync(path.join(folder, "kernel", "plain.kernel.json"), block("json"));
}

function run(folder: string, words: readonly string[], trace: string): Promise<string> {
  const child = spawn(process.execPath, [path.join(WHERE.root, "out", "cli.mjs"), ...words], {
    cwd: folder,
    env: {
      ...process.env,
      // The host as well, which is started without the options of its door.
      NODE_OPTIONS: `--import=${pathToFileURL(path.join(import.meta.dirname, "trace_reads.mjs"))}`,
      TRACE_ROOT: WHERE.root,
      TRACE_FILE: trace,
      LOCKSTEP_CACHE: path.join(folder, "cache"),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(said));
  });
}

export interface Traced {
  /** What each command said, by its words. */
  readonly said: ReadonlyMap<string, string>;
  /** Files and folders of the checkout, relative to it, that were asked for and are there. */
  readonly paths: readonly string[];
}

/** Runs every command in the folder, which must be empty. */
export async function traceCommands(folder: string): Promise<Traced> {
  writeKernel(folder);
  const trace = path.join(folder, "trace");
  fs.writeFileSync(trace, "");
  const said = new Map<string, string>();
  const all = Object.values(TRACED).flatMap((lines) => ("not" in lines ? [] : lines));
  const bundle = (): string => {
    const made = fs.existsSync(path.join(folder, "evidence")) ? fs.readdirSync(path.join(folder, "evidence")) : [];
    return path.join(folder, "evidence", made.find((name) => name.endsWith(".lockstep")) ?? "none");
  };
  for (const line of all) {
    const words = line.map((word) => (word === "BUNDLE" ? bundle() : word));
    said.set(line.join(" "), await run(folder, words, trace));
  }
  const asked = new Set(fs.readFileSync(trace, "utf8").split("\n").filter(Boolean));
  const paths = [...asked]
    .map((file) => path.relative(WHERE.root, path.normalize(file)).split(path.sep).join("/"))
    .filter((file) => file !== "" && fs.existsSync(path.join(WHERE.root, file)))
    .sort();
  return { said, paths };
}

/** What lies in the archive, is a checkout's own or belongs to the test, and therefore is not beside the archive. */
const ELSEWHERE = [
  /^out\/[\w-]+\.(mjs|cjs)$/,
  /^out\/renderer(\/|$)/,
  /^\.git(\/|$)/,
  /^test\/build(\/|$)/,
  // Where a folder is only passed through.
  /^(out|native|test|native\/msl|native\/emulator)$/,
];

/** The files behind a path: itself, or everything below a folder but TypeScript. */
function filesOf(root: string, file: string): readonly string[] {
  const full = path.join(root, file);
  if (!fs.statSync(full).isDirectory()) return [file];
  return fs
    .readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".ts"))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"));
}

/** Files of the checkout that the commands need and that are not in `resources`, which is laid out like it. */
export function missingFrom(resources: string, { paths }: Traced): readonly string[] {
  const wanted = paths.filter((file) => !ELSEWHERE.some((pattern) => pattern.test(file)));
  const files = new Set(wanted.flatMap((file) => filesOf(WHERE.root, file)));
  return [...files].filter((file) => !fs.existsSync(path.join(resources, file))).sort();
}
