/**
 * Writes evidence bundles. A bundle is built in a hidden sibling of its final place and renamed when it is complete, so
 * that no half-written bundle is ever left under its name.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { gatesDigest } from "../gates/digest.ts";
import { GATES_SCHEMA, gatesJson } from "../gates/gates.ts";
import { LOG_FILE, type LogLine, logText } from "../runs/log.ts";
import { BUNDLE_PATH, type HostFacts, type Producer, type RunRecord, recordSchema } from "../runs/record.ts";
import { shellQuote } from "../words.ts";
import {
  BAGIT_TXT,
  bagInfoText,
  MANIFEST,
  manifestText,
  sha256,
  sha256File,
  TAG_FILES,
  TAG_MANIFEST,
  walk,
} from "./bag.ts";
import { stableJson } from "./json.ts";
import { reportFiles } from "./report.ts";

export class BundleError extends Error {
  override readonly name = "BundleError";
}

/** What the caller knows of a record; the bundle adds digests and the list of files. */
export type RecordDraft = Omit<RunRecord, "schema" | "gates" | "files">;

type FileRole = RunRecord["files"][number]["role"];

/** Folder of a payload file -> what it is. The only place that gives files their roles. */
const ROLES: readonly (readonly [RegExp, FileRole])[] = [
  [/^data\/command\.txt$/, "command"],
  [/^data\/gates\/gates\.json$/, "gates"],
  [/^data\/env\/device\.json$/, "device"],
  [/^data\/env\/host\.json$/, "host"],
  [/^data\/env\/producer\.json$/, "producer"],
  [/^data\/dispatch\/[^/]+\.json$/, "dispatch"],
  [/^data\/kernels\/.+$/, "kernel"],
  [/^data\/receipts\/[^/]+\.json$/, "receipt"],
  [/^data\/checks\/[^/]+\.json$/, "check"],
  [/^data\/parity\/[^/]+\/[^/]+\/metrics\.json$/, "metrics"],
  [/^data\/parity\/[^/]+\/[^/]+\/(out|lse)\.(f32|f16|bf16)$/, "output"],
  [/^data\/events\.jsonl$/, "log"],
  [/^data\/validation\/log\.(txt|json)$/, "validation"],
  [/^data\/acceptance\.json$/, "acceptance"],
  [/^data\/acceptance\/[^/]+\.(json|txt)$/, "acceptance"],
  [/^data\/report\/(index\.html|junit\.xml|summary\.csv)$/, "report"],
];

/** The role that a payload path must have, or undefined where no such file belongs into a bundle. */
export function roleOf(payloadPath: string): FileRole | undefined {
  return ROLES.find(([pattern]) => pattern.test(payloadPath))?.[1];
}

/** A bundle that is being written. */
export interface Staging {
  /** The hidden folder; files go below `data/` in it. */
  readonly folder: string;
  /** Where the bundle will stand. */
  readonly target: string;
}

const PARTIAL = ".partial";

/** Names a bundle: time, then words such as suite and chip. Lower case, sorts by time. */
export function bundleName(startedAt: string, ...words: readonly string[]): string {
  const time = startedAt
    .replace(/\.\d+Z$/, "z")
    .replaceAll(":", "")
    .toLowerCase();
  const name = [time, ...words].join("-").toLowerCase();
  return `${name.replace(/[^a-z0-9._-]+/g, "-")}.lockstep`;
}

const BUNDLE = ".lockstep";

/** The path itself, or the first of `-2`, `-3`, ... before `.lockstep` that is not taken. */
function freePath(wanted: string): string {
  const stem = wanted.slice(0, -BUNDLE.length);
  let free = wanted;
  for (let n = 2; fs.existsSync(free); n++) free = `${stem}-${n}${BUNDLE}`;
  return free;
}

/** This machine, in the names of staged folders: on a shared disk a process id says nothing about another machine's. */
const MACHINE = os.hostname().replace(/[^A-Za-z0-9-]/g, "-");

let stagings = 0;

/**
 * Starts a bundle. `out` is the folder that bundles go into (made if missing), or the bundle itself if it ends in
 * `.lockstep`. A bundle that is named by its time gets a number where its name is taken. Removes what runs that were
 * killed left behind. Throws BundleError if the place cannot be written, or if the named bundle is there already.
 */
export function openStaging(out: string, name: string): Staging {
  const place = path.resolve(out);
  const named = place.endsWith(BUNDLE);
  const target = named ? place : freePath(path.join(place, name));
  const parent = path.dirname(target);
  const folder = path.join(parent, `.${path.basename(target)}.${MACHINE}.${process.pid}.${++stagings}${PARTIAL}`);
  if (named && fs.existsSync(target)) throw new BundleError(`${target} is there already: name another --out.`);
  sweep(parent);
  try {
    makeFolders(path.join(folder, "data"));
    // mkdir succeeds on some full disks; a small file shows that the folder can be written.
    fs.writeFileSync(path.join(folder, "bagit.txt"), BAGIT_TXT);
  } catch (error) {
    removeQuietly(folder);
    throw new BundleError(writeFailure(parent, error));
  }
  return { folder, target };
}

/** Removes the staged folders of processes of this machine that are gone. */
function sweep(parent: string): void {
  let names: readonly string[];
  try {
    names = fs.readdirSync(parent);
  } catch {
    return; // not there yet, or not a folder: the caller finds out
  }
  for (const name of names) {
    const match = /^\..+\.lockstep\.([A-Za-z0-9-]+)\.(\d+)\.\d+\.partial$/.exec(name);
    if (match?.[1] === MACHINE && !isAlive(Number(match[2]))) removeQuietly(path.join(parent, name));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Makes a folder and those above it, one by one: Node's own recursive mkdir never returns where the file system answers
 * ENOENT below a folder that exists, as /proc does.
 */
function makeFolders(folder: string): void {
  if (fs.existsSync(folder)) return;
  const parent = path.dirname(folder);
  if (parent !== folder) makeFolders(parent);
  fs.mkdirSync(folder);
}

/** Words for a failed write, with the mend. */
export function writeFailure(where: string, error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  const detail = error instanceof Error ? error.message : String(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return `No space left for the bundle in ${where}. Nothing was kept there; free some space or name another --out.`;
  }
  if (
    code === "EACCES" ||
    code === "EPERM" ||
    code === "EROFS" ||
    code === "ENOTDIR" ||
    code === "EEXIST" ||
    code === "ENOENT"
  ) {
    return `${where} cannot be written (${code}). Nothing was kept there; name another folder with --out.`;
  }
  return `The bundle in ${where} cannot be written (${detail}). Nothing was kept there.`;
}

/** Writes one payload file whole: a killed process leaves either all of it or none. `file` is below `data/`. */
export function writePayload(folder: string, file: string, data: Uint8Array | string): void {
  if (!BUNDLE_PATH.test(file) || roleOf(file) === undefined) throw new BundleError(`${file} is no path of a bundle.`);
  // A run that was given up must not come back to life.
  if (!fs.existsSync(folder)) throw new BundleError(`${folder} is gone: the run was given up.`);
  const target = path.join(folder, file);
  const partial = `${target}${PARTIAL}`;
  makeFolders(path.dirname(target));
  fs.writeFileSync(partial, data);
  fs.renameSync(partial, target);
}

/** Throws the staged files away. */
export function discardStaging(staging: Staging): void {
  removeQuietly(staging.folder);
}

/** A folder that cannot be removed must not hide why it had to be. */
function removeQuietly(folder: string): void {
  try {
    fs.rmSync(folder, { recursive: true, force: true });
  } catch {
    // It was never made, or its file system is gone.
  }
}

/** Removes what no result refers to: files of a case that was interrupted. */
function prune(folder: string, draft: RecordDraft): void {
  const referred = new Set<string>();
  for (const result of draft.results) {
    for (const output of result.outputs) referred.add(output.path);
    for (const receipt of result.receipts) referred.add(receipt);
    if (result.metricsPath !== null) referred.add(result.metricsPath);
    if (result.check !== undefined) referred.add(result.check);
  }
  for (const { path: file } of walk(folder).files) {
    const role = roleOf(file);
    const orphan =
      (role === "output" || role === "metrics" || role === "receipt" || role === "check") && !referred.has(file);
    if (orphan || file.endsWith(PARTIAL)) fs.rmSync(path.join(folder, file));
  }
  removeEmptyFolders(path.join(folder, "data"));
}

function removeEmptyFolders(folder: string): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(path.join(folder, entry.name));
  }
  if (path.basename(folder) !== "data" && fs.readdirSync(folder).length === 0) fs.rmdirSync(folder);
}

export interface ClosedBundle {
  readonly path: string;
  readonly record: RunRecord;
  /** SHA-256 of the manifest: the identity of the bundle. */
  readonly identity: string;
}

/** Renames into place; where another run took the name in the meantime, into the next free one. Returns the path. */
function moveTo(folder: string, target: string): string {
  for (let place = freePath(target); ; place = freePath(target)) {
    try {
      fs.renameSync(folder, place);
      return place;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== "ENOTEMPTY" && code !== "EEXIST") || !fs.existsSync(place)) throw error;
    }
  }
}

function environment(draft: RecordDraft): readonly (readonly [string, HostFacts | Producer | RunRecord["device"]])[] {
  return [
    ["data/env/host.json", draft.host],
    ...(draft.device === null ? [] : [["data/env/device.json", draft.device] as const]),
    ...(draft.producer === null ? [] : [["data/env/producer.json", draft.producer] as const]),
  ];
}

/**
 * Completes a bundle: environment, gates, command, log, report, record, manifests; then renames it into place. On any
 * failure the staged files are removed and BundleError says why. Imported outputs have no log.
 */
export function closeBundle(staging: Staging, draft: RecordDraft, log: readonly LogLine[] = []): ClosedBundle {
  const { folder, target } = staging;
  try {
    prune(folder, draft);
    writePayload(folder, "data/command.txt", `${draft.command.map(shellQuote).join(" ")}\n`);
    writePayload(folder, "data/gates/gates.json", gatesJson());
    for (const [file, facts] of environment(draft)) writePayload(folder, file, stableJson(facts));
    if (log.length > 0) writePayload(folder, LOG_FILE, logText(log));
    for (const { path: file, text } of reportFiles(draft)) writePayload(folder, file, text);

    const files = walk(path.join(folder, "data")).files.map((file) => {
      const inBag = `data/${file.path}`;
      const role = roleOf(inBag);
      if (role === undefined) throw new BundleError(`${inBag} does not belong into a bundle.`);
      return { path: inBag, bytes: String(file.bytes), sha256: sha256File(path.join(folder, inBag)), role };
    });
    const record: RunRecord = recordSchema.parse({
      schema: "lockstep.record/1",
      ...draft,
      gates: { schema: GATES_SCHEMA, sha256: gatesDigest() },
      files,
    });
    const recordText = stableJson(record);
    fs.writeFileSync(path.join(folder, "data/record.json"), recordText);

    const manifest = manifestText([...files, { path: "data/record.json", sha256: sha256(recordText) }]);
    const payload = walk(path.join(folder, "data")).files;
    const agent = `lockstep ${draft.app.version}`;
    fs.writeFileSync(path.join(folder, MANIFEST), manifest);
    fs.writeFileSync(path.join(folder, "bag-info.txt"), bagInfoText(payload, draft.finishedAt.slice(0, 10), agent));
    const tags = TAG_FILES.map((file) => ({ path: file, sha256: sha256File(path.join(folder, file)) }));
    fs.writeFileSync(path.join(folder, TAG_MANIFEST), manifestText(tags));
    return { path: moveTo(folder, target), record, identity: sha256(manifest) };
  } catch (error) {
    removeQuietly(folder);
    if (error instanceof BundleError) throw error;
    throw new BundleError(writeFailure(path.dirname(target), error));
  }
}
