/**
 * Unpacks a zipped bundle from anywhere, fail-closed. The archive is read by its central directory; whatever a bundle does
 * not need (encryption, links, 64-bit forms, paths that lead away, a second file of one name, overlapping entries, bytes
 * before or behind) is refused in words before the first byte is written. What comes out is still unverified.
 */
import fs from "node:fs";
import path from "node:path";
import { crc32, inflateRawSync } from "node:zlib";
import { BUNDLE_PATH } from "../runs/record.ts";
import { ATTACHED_PATH, attachedBeside, BUNDLE_LIMITS } from "./bag.ts";
import { BundleError } from "./bundle.ts";

/** Limits of an archive; those of its files are the bundle's. */
export const ZIP_LIMITS = { archiveBytes: 256 * 1024 * 1024, ratio: 100, pathBytes: 180 } as const;

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const STORED = 0;
const DEFLATED = 8;
const LINK_MODE = 0o120000;
const TYPE_MASK = 0o170000;

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly bytes: number;
  readonly offset: number;
}

function refuse(file: string, words: string): never {
  throw new BundleError(`${path.basename(file)}: ${words}. Nothing was unpacked.`);
}

/** True where a file begins as a zip does. */
export function looksZipped(file: string): boolean {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return false;
  const handle = fs.openSync(file, "r");
  try {
    const head = Buffer.alloc(4);
    return fs.readSync(handle, head) === 4 && (head.readUInt32LE() === LOCAL || head.readUInt32LE() === END);
  } finally {
    fs.closeSync(handle);
  }
}

/**
 * Unpacks `file` into the folder `target`, which is made. Returns the name that the archive gives the bundle, or null.
 * Throws BundleError, with nothing left behind, for every archive that is not a plain one of a bundle.
 */
export function unzipBundle(file: string, target: string): { readonly name: string | null } {
  const { size } = fs.statSync(file);
  if (size > ZIP_LIMITS.archiveBytes) {
    refuse(
      file,
      `${size.toLocaleString("en-US")} bytes; the limit is ${ZIP_LIMITS.archiveBytes.toLocaleString("en-US")}`,
    );
  }
  const archive = fs.readFileSync(file);
  const entries = entriesOf(file, archive);
  const { name, files } = rooted(file, entries);
  try {
    fs.mkdirSync(target, { recursive: true });
    for (const { place, attached, entry } of files) {
      const data = contentOf(file, archive, entry);
      const full = path.join(attached ? attachedBeside(target) : target, place);
      fs.mkdirSync(path.dirname(full), { recursive: true });
      fs.writeFileSync(full, data, { flag: "wx" });
    }
  } catch (error) {
    for (const made of [target, attachedBeside(target)]) fs.rmSync(made, { recursive: true, force: true });
    if (error instanceof BundleError) throw error;
    refuse(file, `it cannot be unpacked (${error instanceof Error ? error.message : String(error)})`);
  }
  return { name };
}

/** The central directory, checked against the end record and the local headers. */
function entriesOf(file: string, archive: Buffer): readonly Entry[] {
  const at = archive.length - END_BYTES;
  if (at < 0 || archive.readUInt32LE(at) !== END) {
    refuse(file, "no zip file that ends with its directory; one with a comment or bytes behind it is not taken");
  }
  const count = archive.readUInt16LE(at + 10);
  const bytes = archive.readUInt32LE(at + 12);
  const start = archive.readUInt32LE(at + 16);
  const plain = archive.readUInt16LE(at + 4) === 0 && archive.readUInt16LE(at + 6) === 0;
  if (!plain || archive.readUInt16LE(at + 8) !== count || archive.readUInt16LE(at + 20) !== 0) {
    refuse(file, "a zip of several parts, or one with a comment");
  }
  if (count > BUNDLE_LIMITS.entries) refuse(file, `${count} entries; the limit is ${BUNDLE_LIMITS.entries}`);
  if (start + bytes !== at) refuse(file, "its directory does not lie where its end says");
  const entries: Entry[] = [];
  let cursor = start;
  for (let index = 0; index < count; index++) {
    if (cursor + 46 > at || archive.readUInt32LE(cursor) !== CENTRAL) refuse(file, "its directory is cut off");
    const nameBytes = archive.readUInt16LE(cursor + 28);
    const next = cursor + 46 + nameBytes + archive.readUInt16LE(cursor + 30) + archive.readUInt16LE(cursor + 32);
    if (next > at) refuse(file, "its directory is cut off");
    const name = archive.toString("latin1", cursor + 46, cursor + 46 + nameBytes);
    const flags = archive.readUInt16LE(cursor + 8);
    const mode = archive.readUInt32LE(cursor + 38) >>> 16;
    if ((flags & 0x2041) !== 0) refuse(file, `${shown(name)} is encrypted`);
    if ((mode & TYPE_MASK) === LINK_MODE) refuse(file, `${shown(name)} is a symbolic link`);
    entries.push({
      name,
      method: archive.readUInt16LE(cursor + 10),
      crc: archive.readUInt32LE(cursor + 16),
      packed: archive.readUInt32LE(cursor + 20),
      bytes: archive.readUInt32LE(cursor + 24),
      offset: archive.readUInt32LE(cursor + 42),
    });
    cursor = next;
  }
  if (cursor !== at) refuse(file, "its directory is longer than its entries");
  checkSizes(file, entries);
  checkPlaces(file, archive, entries, start);
  return entries;
}

function checkSizes(file: string, entries: readonly Entry[]): void {
  let total = 0;
  for (const { name, method, packed, bytes } of entries) {
    if (method !== STORED && method !== DEFLATED)
      refuse(file, `${shown(name)} is packed by method ${method}; 0 and 8 are taken`);
    if (method === STORED && packed !== bytes) refuse(file, `${shown(name)} is stored and has two sizes`);
    if (bytes > BUNDLE_LIMITS.fileBytes) {
      refuse(file, `${shown(name)} has ${bytes} bytes; the limit is ${BUNDLE_LIMITS.fileBytes}`);
    }
    if (bytes > ZIP_LIMITS.ratio * Math.max(packed, 1024)) {
      refuse(file, `${shown(name)} unpacks to ${bytes} bytes from ${packed}; the limit is ${ZIP_LIMITS.ratio} to 1`);
    }
    total += bytes;
  }
  if (total > BUNDLE_LIMITS.totalBytes)
    refuse(file, `${total} bytes unpacked; the limit is ${BUNDLE_LIMITS.totalBytes}`);
}

/** Where the data of an entry begins, behind its local header. */
function dataStart(archive: Buffer, { offset }: Entry): number {
  return offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
}

/** Local headers lie apart, before the directory, and name the same files. */
function checkPlaces(file: string, archive: Buffer, entries: readonly Entry[], directory: number): void {
  const ranges: { readonly from: number; readonly to: number; readonly name: string }[] = [];
  for (const entry of entries) {
    const { name, offset, packed, method } = entry;
    if (offset + 30 > directory || archive.readUInt32LE(offset) !== LOCAL) {
      refuse(file, `${shown(name)} is not where the directory says`);
    }
    const local = archive.toString("latin1", offset + 30, offset + 30 + archive.readUInt16LE(offset + 26));
    if (local !== name || archive.readUInt16LE(offset + 8) !== method) {
      refuse(file, `${shown(name)} has another name or method in its own header: ${shown(local)}`);
    }
    const to = dataStart(archive, entry) + packed;
    if (to > directory) refuse(file, `${shown(name)} runs into the directory`);
    ranges.push({ from: offset, to, name });
  }
  ranges.sort((a, b) => a.from - b.from);
  if ((ranges[0]?.from ?? 0) !== 0) refuse(file, "bytes lie before its first entry");
  for (const [index, { from, name }] of ranges.entries()) {
    if (index > 0 && from < ranges[index - 1]!.to)
      refuse(file, `${shown(name)} overlaps ${shown(ranges[index - 1]!.name)}`);
  }
}

/** Names from an archive, for words: no control characters, not too long. */
function shown(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought
  return `"${name.replace(/[\u0000-\u001f\u007f-\u009f]/g, "?").slice(0, 120)}"`;
}

interface Rooted {
  readonly name: string | null;
  /** `attached`: it lies in the folder beside the bundle. */
  readonly files: readonly { readonly place: string; readonly attached: boolean; readonly entry: Entry }[];
}

/**
 * The files with their places in the bundle: its root is the archive's, or the one folder that holds everything but what is
 * attached to it.
 */
function rooted(file: string, entries: readonly Entry[]): Rooted {
  const plain = entries.filter((entry) => !(entry.name.endsWith("/") && entry.bytes === 0));
  if (plain.length === 0) refuse(file, "it holds no file");
  // Archives of other programs may list what is attached first.
  const first = plain.find((entry) => !/^[^/]+\.attachments\//.test(entry.name)) ?? plain[0]!;
  const folder = plain.some((entry) => entry.name === "bagit.txt") ? "" : `${first.name.split("/", 1)[0]}/`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought
  if (folder !== "" && (/^\.*\/$/.test(folder) || /[\u0000-\u001f\\:]/.test(folder))) {
    refuse(file, `${shown(first.name)} is no path of a bundle, leading nowhere else`);
  }
  const beside = folder === "" ? null : `${attachedBeside(folder)}/`;
  const seen = new Set<string>();
  const files = plain.map((entry) => {
    const attached = beside !== null && entry.name.startsWith(beside);
    const inside = attached || entry.name.startsWith(folder);
    const place = inside ? entry.name.slice((attached ? beside : folder).length) : entry.name;
    if (!inside) refuse(file, `${shown(entry.name)} lies beside the folder ${shown(folder)} of the bundle`);
    if (!attached) checkBundlePath(place, (words) => refuse(file, words));
    else if (!ATTACHED_PATH.test(place)) refuse(file, `${shown(entry.name)} is no path of an attachment`);
    if (seen.has(entry.name)) refuse(file, `${shown(place)} is there twice`);
    seen.add(entry.name);
    return { place, attached, entry };
  });
  return { name: folder === "" ? null : folder.slice(0, -1), files };
}

/** The rule for paths of a bundle that comes from elsewhere. `refused` gets the words and does not return. */
export function checkBundlePath(place: string, refused: (words: string) => never): void {
  if (place.length > ZIP_LIMITS.pathBytes) {
    refused(`${shown(place)} has ${place.length} bytes; the limit is ${ZIP_LIMITS.pathBytes}`);
  }
  if (!BUNDLE_PATH.test(place)) {
    refused(`${shown(place)} is no path of a bundle: lower case, digits and . _ - in folders, leading nowhere else`);
  }
  const depth = place.split("/").length;
  if (depth > BUNDLE_LIMITS.depth) refused(`${shown(place)} is ${depth} deep; the limit is ${BUNDLE_LIMITS.depth}`);
}

function contentOf(file: string, archive: Buffer, entry: Entry): Uint8Array {
  const start = dataStart(archive, entry);
  const packed = archive.subarray(start, start + entry.packed);
  let data: Uint8Array;
  try {
    data = entry.method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(1, entry.bytes) });
  } catch {
    refuse(file, `${shown(entry.name)} does not unpack to the ${entry.bytes} bytes that it states`);
  }
  if (data.length !== entry.bytes) {
    refuse(file, `${shown(entry.name)} unpacks to ${data.length} bytes and states ${entry.bytes}`);
  }
  if (crc32(data) !== entry.crc) refuse(file, `${shown(entry.name)} has another checksum than it states`);
  return data;
}
