/** BagIt (RFC 8493) as plain functions: digests, manifests, a walk that refuses what a bag must not hold. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

export const BAGIT_TXT = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

export const MANIFEST = "manifest-sha256.txt";
export const TAG_MANIFEST = "tagmanifest-sha256.txt";

/** Tag files in the order in which the tag manifest lists them. The tag manifest cannot list itself. */
export const TAG_FILES = ["bag-info.txt", "bagit.txt", MANIFEST] as const;

/** Limits of a bundle that is read. */
export const BUNDLE_LIMITS = { entries: 4096, totalBytes: 512 * 1024 * 1024, fileBytes: 128 * 1024 * 1024, depth: 8 };

/** The folder beside a bundle that holds what is attached to it: no part of the bundle. */
export function attachedBeside(bundle: string): string {
  return `${bundle.replace(/[/\\]+$/, "")}.attachments`;
}

/** What may lie in that folder. */
export const ATTACHED_PATH = /^[0-9a-f]{64}\/(attachment\.json|original\.gz)$/;

/** What is being written there, or was left half written: first digits of the original's digest, and the process. */
export const ATTACHED_PARTIAL = /^\.partial-([0-9a-f]{16})-(\d{1,10})(?=$|[/:])/;

export function sha256(data: Uint8Array | string): string {
  return createHash("sha256").update(data).digest("hex");
}

/** SHA-256 of a file, read in pieces. */
export function sha256File(file: string): string {
  const hash = createHash("sha256");
  const handle = fs.openSync(file, "r");
  try {
    const piece = Buffer.allocUnsafe(1 << 20);
    for (let read = fs.readSync(handle, piece); read > 0; read = fs.readSync(handle, piece)) {
      hash.update(piece.subarray(0, read));
    }
  } finally {
    fs.closeSync(handle);
  }
  return hash.digest("hex");
}

export interface BagFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: number;
}

export interface Walk {
  readonly files: readonly BagFile[];
  /** What a bag must not hold: symbolic links, sockets, too deep or too many entries. */
  readonly refused: readonly string[];
}

/** Lists every file below `root`, sorted by path, without following links. */
export function walk(root: string): Walk {
  const files: BagFile[] = [];
  const refused: string[] = [];
  let seen = 0;
  const visit = (relative: string, depth: number): void => {
    if (depth > BUNDLE_LIMITS.depth) {
      refused.push(`${relative}: deeper than ${BUNDLE_LIMITS.depth} folders`);
      return;
    }
    let entries: readonly fs.Dirent[];
    try {
      entries = fs.readdirSync(path.join(root, relative), { withFileTypes: true });
    } catch (error) {
      refused.push(`${relative || "."}: cannot be listed (${(error as NodeJS.ErrnoException).code})`);
      return;
    }
    if (entries.length === 0 && relative !== "") refused.push(`${relative}: an empty folder, which no manifest covers`);
    for (const entry of entries) {
      // A folder that is no bundle may hold a whole disk.
      if (++seen > 2 * BUNDLE_LIMITS.entries) {
        if (seen === 2 * BUNDLE_LIMITS.entries + 1) refused.push(`more than ${BUNDLE_LIMITS.entries} files`);
        return;
      }
      const child = relative === "" ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory()) visit(child, depth + 1);
      else if (entry.isFile()) {
        const stat = fs.lstatSync(path.join(root, child), { throwIfNoEntry: false });
        // A name that is no UTF-8 cannot be asked for.
        if (stat === undefined) refused.push(`${child}: its name is no UTF-8 text`);
        else files.push({ path: child, bytes: stat.size });
      } else refused.push(`${child}: ${entry.isSymbolicLink() ? "a symbolic link" : "not a plain file"}`);
    }
  };
  visit("", 0);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, refused };
}

/** Lines `hex  path`, sorted by path. */
export function manifestText(entries: readonly { readonly path: string; readonly sha256: string }[]): string {
  return [...entries]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((entry) => `${entry.sha256}  ${entry.path}\n`)
    .join("");
}

export interface ParsedManifest {
  readonly entries: ReadonlyMap<string, string>;
  readonly errors: readonly string[];
}

/** Parses a manifest strictly: two spaces, lower-case hex, every path once, final newline. */
export function parseManifest(text: string, name: string): ParsedManifest {
  const entries = new Map<string, string>();
  const errors: string[] = [];
  if (!text.endsWith("\n")) errors.push(`${name}: the last line does not end`);
  for (const [index, line] of text.split("\n").slice(0, -1).entries()) {
    const match = /^([0-9a-f]{64}) {2}(\S.*)$/.exec(line);
    if (match === null) errors.push(`${name}, line ${index + 1}: not a SHA-256 digest, two spaces and a path`);
    else if (entries.has(match[2]!)) errors.push(`${name}: ${match[2]} is listed twice`);
    else entries.set(match[2]!, match[1]!);
  }
  return { entries, errors };
}

/** `bag-info.txt`. `payload` are the files below `data/`. */
export function bagInfoText(payload: readonly BagFile[], date: string, agent: string): string {
  const octets = payload.reduce((sum, file) => sum + file.bytes, 0);
  return `Bag-Software-Agent: ${agent}\nBagging-Date: ${date}\nPayload-Oxum: ${octets}.${payload.length}\n`;
}
