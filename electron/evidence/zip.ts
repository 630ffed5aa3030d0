/**
 * A bundle as one zip file: entries in order, stored, with fixed times, so that the same bundle gives the same bytes
 * everywhere (deflate would depend on the version of zlib). The identity stays the digest of the manifest, never of the zip.
 * Format: APPNOTE.TXT 6.3, sections 4.3.7, 4.3.12 and 4.3.16; a bundle is too small for its 64-bit forms.
 */
import fs from "node:fs";
import path from "node:path";
import { crc32 } from "node:zlib";
import { ATTACHED_PARTIAL, ATTACHED_PATH, attachedBeside, BUNDLE_LIMITS, walk } from "./bag.ts";
import { BundleError } from "./bundle.ts";

const PIECE = 1 << 18;

/** Version 2.0; made on Unix, for which the mode of a file stands in the upper half of the external attributes. */
const VERSION = 20;
const MADE_BY = (3 << 8) | VERSION;
const MODE = (0o100644 << 16) >>> 0;
/** 1980-01-01, the first day that the format can hold. */
const DATE = (0 << 9) | (1 << 5) | 1;
const TIME = 0;
/** Bit 11: names are UTF-8. */
const FLAGS = 1 << 11;

interface Entry {
  readonly name: Buffer;
  readonly file: string;
  readonly bytes: number;
  readonly crc: number;
  readonly offset: number;
}

export interface ZipPlan {
  /** Bytes of the whole archive. */
  readonly bytes: number;
  readonly entries: readonly Entry[];
}

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;

/** A file and its name in the archive. */
interface Source {
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
}

/** Files below `folder`, in the archive below `name`. */
function sourcesOf(folder: string, name: string, left = /^$/): readonly Source[] {
  const { files, refused } = walk(folder);
  const first = refused.find((words) => !left.test(words));
  if (first !== undefined) throw new BundleError(`${folder} cannot be exported: ${first}. Verify it first.`);
  return files
    .filter((file) => !left.test(file.path))
    .map((file) => ({ name: `${name}/${file.path}`, file: path.join(folder, file.path), bytes: file.bytes }));
}

/** What is attached to the bundle; a file that was left half written is not. */
function attachedSources(folder: string, name: string): readonly Source[] {
  const beside = attachedBeside(folder);
  if (!fs.existsSync(beside)) return [];
  const under = attachedBeside(name);
  const files = sourcesOf(beside, under, ATTACHED_PARTIAL);
  const strange = files.find((file) => !ATTACHED_PATH.test(file.name.slice(under.length + 1)));
  if (strange !== undefined) {
    throw new BundleError(
      `${folder} cannot be exported: ${strange.file} does not belong to its attachments. Move it away.`,
    );
  }
  return files;
}

/**
 * Reads the bundle in `folder` once and lays the archive out. Entries lie in a folder of the bundle's name; what is attached
 * to the bundle lies beside it, as it does on disk. Throws BundleError for what is no bundle or above the limits.
 */
export function planZip(folder: string, name = path.basename(folder)): ZipPlan {
  const bundle = sourcesOf(folder, name);
  if (bundle.length === 0) throw new BundleError(`${folder} holds no file: give the folder of a bundle.`);
  const files = [...bundle, ...attachedSources(folder, name)];
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  if (files.length > BUNDLE_LIMITS.entries || total > BUNDLE_LIMITS.totalBytes) {
    const sides = `${files.length} files and ${total} bytes; the limits are ${BUNDLE_LIMITS.entries} and ${BUNDLE_LIMITS.totalBytes}`;
    throw new BundleError(`${folder} cannot be exported: ${sides}.`);
  }
  let offset = 0;
  const entries = files.map((file): Entry => {
    let crc = 0;
    let bytes = 0;
    for (const piece of piecesOf(file.file)) {
      crc = crc32(piece, crc);
      bytes += piece.length;
    }
    const entry = { name: Buffer.from(file.name), file: file.file, bytes, crc, offset };
    offset += LOCAL_BYTES + entry.name.length + bytes;
    return entry;
  });
  const central = entries.reduce((sum, entry) => sum + CENTRAL_BYTES + entry.name.length, 0);
  return { bytes: offset + central + END_BYTES, entries };
}

/** The archive, piece by piece: plain arrays, because a Buffer has another form on the wire. Throws BundleError where a file has changed since the plan. */
export function* zipPieces({ entries }: ZipPlan): Generator<Uint8Array, void, undefined> {
  for (const entry of entries) {
    yield localHeader(entry);
    let crc = 0;
    let bytes = 0;
    for (const piece of piecesOf(entry.file)) {
      crc = crc32(piece, crc);
      bytes += piece.length;
      yield piece;
    }
    if (crc !== entry.crc || bytes !== entry.bytes) {
      throw new BundleError(`${entry.file} changed while it was exported: export again.`);
    }
  }
  const central = Buffer.concat(entries.map(centralHeader));
  const offset = entries.reduce((sum, entry) => sum + LOCAL_BYTES + entry.name.length + entry.bytes, 0);
  yield new Uint8Array(central);
  yield endRecord(entries.length, central.length, offset);
}

/** Pieces of a file; each is a buffer of its own. */
function* piecesOf(file: string): Generator<Uint8Array, void, undefined> {
  const handle = fs.openSync(file, "r");
  try {
    for (;;) {
      const piece = new Uint8Array(PIECE);
      const read = fs.readSync(handle, piece);
      if (read === 0) return;
      yield read === PIECE ? piece : piece.slice(0, read);
    }
  } finally {
    fs.closeSync(handle);
  }
}

function localHeader({ name, bytes, crc }: Entry): Uint8Array {
  const out = Buffer.alloc(LOCAL_BYTES);
  out.writeUInt32LE(0x04034b50, 0);
  out.writeUInt16LE(VERSION, 4);
  out.writeUInt16LE(FLAGS, 6);
  out.writeUInt16LE(TIME, 10);
  out.writeUInt16LE(DATE, 12);
  out.writeUInt32LE(crc, 14);
  out.writeUInt32LE(bytes, 18);
  out.writeUInt32LE(bytes, 22);
  out.writeUInt16LE(name.length, 26);
  return new Uint8Array(Buffer.concat([out, name]));
}

function centralHeader({ name, bytes, crc, offset }: Entry): Buffer {
  const out = Buffer.alloc(CENTRAL_BYTES);
  out.writeUInt32LE(0x02014b50, 0);
  out.writeUInt16LE(MADE_BY, 4);
  out.writeUInt16LE(VERSION, 6);
  out.writeUInt16LE(FLAGS, 8);
  out.writeUInt16LE(TIME, 12);
  out.writeUInt16LE(DATE, 14);
  out.writeUInt32LE(crc, 16);
  out.writeUInt32LE(bytes, 20);
  out.writeUInt32LE(bytes, 24);
  out.writeUInt16LE(name.length, 28);
  out.writeUInt32LE(MODE, 38);
  out.writeUInt32LE(offset, 42);
  return Buffer.concat([out, name]);
}

function endRecord(entries: number, bytes: number, offset: number): Uint8Array {
  const out = Buffer.alloc(END_BYTES);
  out.writeUInt32LE(0x06054b50, 0);
  out.writeUInt16LE(entries, 8);
  out.writeUInt16LE(entries, 10);
  out.writeUInt32LE(bytes, 12);
  out.writeUInt32LE(offset, 16);
  return new Uint8Array(out);
}

/**
 * Writes the archive of a bundle to `target`, whole or not at all. Throws BundleError where it is there already and `replace`
 * is not given.
 */
export function exportZip(
  folder: string,
  target: string,
  options: { readonly name?: string; readonly replace?: boolean } = {},
): { readonly bytes: number } {
  if (options.replace !== true && fs.existsSync(target)) {
    throw new BundleError(`${target} is there already: name another file.`);
  }
  const plan = planZip(folder, options.name ?? path.basename(folder));
  const partial = `${target}.${process.pid}.partial`;
  let handle: number | undefined;
  try {
    handle = fs.openSync(partial, "wx");
    for (const piece of zipPieces(plan)) writeAll(handle, piece);
    fs.closeSync(handle);
    handle = undefined;
    fs.renameSync(partial, target);
  } catch (error) {
    if (handle !== undefined) fs.closeSync(handle);
    fs.rmSync(partial, { force: true });
    if (error instanceof BundleError) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    throw new BundleError(`${target} cannot be written (${detail}): nothing was kept.`);
  }
  return { bytes: plan.bytes };
}

function writeAll(handle: number, piece: Uint8Array): void {
  for (let done = 0; done < piece.length; ) done += fs.writeSync(handle, piece, done);
}
