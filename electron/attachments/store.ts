/**
 * Attachments beside their bundle: `<bundle>.attachments/<id>/` with `attachment.json` and `original.gz`. The bundle stays as
 * it was made, byte for byte; the attachment names the digest of its manifest. The id is the digest of `attachment.json`, so
 * that a changed word in it is found by the folder's name. The original is packed with gzip, because exports are large and
 * repeat themselves; its digest is that of the unpacked bytes.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import fs from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { ATTACHED_PARTIAL, attachedBeside, MANIFEST, sha256, sha256File } from "../evidence/bag.ts";
import { JSON_LIMITS, parseStrictJson, stableJson } from "../evidence/json.ts";
import {
  ATTACHMENT_LIMITS,
  type Attachment,
  AttachmentError,
  type AttachmentKind,
  attachmentSchema,
  keptText,
  type ListedAttachment,
} from "./attachment.ts";
import { readAttachment } from "./read.ts";

const ATTACHMENT_FILE = "attachment.json";
const ORIGINAL_FILE = "original.gz";

const ID = /^[0-9a-f]{64}$/;

/**
 * Ids of the attachments of a bundle, sorted, and what else lies there and does not belong. Throws AttachmentError where their
 * folder is none: a link could lead anywhere.
 */
async function attachmentIds(
  bundle: string,
): Promise<{ readonly ids: readonly string[]; readonly strange: readonly string[] }> {
  const folder = attachedBeside(bundle);
  const stat = await fs.lstat(folder).catch(() => undefined);
  if (stat === undefined) return { ids: [], strange: [] };
  if (!stat.isDirectory()) {
    const what = stat.isSymbolicLink() ? "a symbolic link" : "not a folder";
    throw new AttachmentError(`${folder} is ${what}; attachments stand in a folder of this name: move it away`);
  }
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new AttachmentError(`${folder} cannot be listed (${error.code}): let it be read`);
  });
  const seen = entries.filter((entry) => !ATTACHED_PARTIAL.test(entry.name));
  const ids = seen.filter((entry) => entry.isDirectory() && ID.test(entry.name)).map((entry) => entry.name);
  const strange = seen.filter((entry) => !ids.includes(entry.name)).map((entry) => entry.name);
  return { ids: ids.sort(), strange };
}

/** Digest of a bundle's manifest: its identity. Throws AttachmentError where there is none. */
function identityOf(bundle: string): string {
  try {
    return sha256File(path.join(bundle, MANIFEST));
  } catch {
    throw new AttachmentError(`${bundle} has no ${MANIFEST}: give the folder of a bundle`);
  }
}

export interface AttachRequest {
  /** Folder of the bundle. */
  readonly bundle: string;
  readonly file: string;
  /** Name that the file is kept under; that of `file` where it is left out. */
  readonly name?: string;
  /** Null: the content tells it. */
  readonly kind: AttachmentKind | null;
  readonly importedBy: string;
  readonly now: Date;
}

/**
 * Reads a file and keeps it beside the bundle. Throws AttachmentError for a file that is none of the kinds, that is attached
 * already, or beyond the limits; then nothing is kept.
 */
export async function attach(
  request: AttachRequest,
): Promise<{ readonly id: string; readonly attachment: Attachment }> {
  const bundle = path.resolve(request.bundle);
  const manifest = identityOf(bundle);
  const { ids } = await attachmentIds(bundle);
  await removeLeftBehind(bundle);
  if (ids.length >= ATTACHMENT_LIMITS.count) {
    throw new AttachmentError(
      `${path.basename(bundle)} has ${ids.length} attachments; the limit is ${ATTACHMENT_LIMITS.count}`,
    );
  }
  const stat = await fs.stat(request.file).catch(() => undefined);
  if (stat?.isFile() !== true) {
    throw new AttachmentError(
      `${request.file} is no file${stat?.isDirectory() === true ? ": a .trace or .gputrace is attached by what is exported from it" : ""}`,
    );
  }
  const name = keptText(request.name ?? path.basename(request.file), 255) || "unnamed";
  const {
    kind,
    bytes,
    sha256: digest,
    summary,
  } = await readAttachment(name, createReadStream(request.file), request.kind);
  const attachment = attachmentSchema.parse({
    schema: "lockstep.attachment/1",
    kind,
    bundle: { name: keptText(path.basename(bundle), 200), manifest },
    original: { name, bytes: String(bytes), sha256: digest },
    importedAt: request.now.toISOString(),
    importedBy: request.importedBy,
    summary,
  } satisfies Attachment);
  const text = stableJson(attachment);
  const length = Buffer.byteLength(text);
  if (length > ATTACHMENT_LIMITS.summaryBytes) {
    throw new AttachmentError(
      `${name}: its summary has ${length.toLocaleString("en-US")} bytes; the limit is ${ATTACHMENT_LIMITS.summaryBytes.toLocaleString("en-US")}: export fewer tables`,
    );
  }
  const id = sha256(text);
  await keep(bundle, id, text, request.file, attachment);
  return { id, attachment };
}

/** Folders that this process is writing. */
const atWork = new Set<string>();

/** Names of what is being written beside a bundle. */
async function partials(bundle: string): Promise<readonly string[]> {
  const names = await fs.readdir(attachedBeside(bundle)).catch((): string[] => []);
  return names.filter((name) => ATTACHED_PARTIAL.test(name));
}

/** True where the process that writes it is there. A process of this one's number that has ended is not. */
function isWriting(bundle: string, partial: string): boolean {
  const writer = Number(ATTACHED_PARTIAL.exec(partial)?.[2]);
  if (writer === process.pid) return atWork.has(path.join(attachedBeside(bundle), partial));
  try {
    return process.kill(writer, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Takes away what processes that were ended left half written. */
async function removeLeftBehind(bundle: string): Promise<void> {
  for (const name of await partials(bundle)) {
    if (isWriting(bundle, name)) continue;
    await fs.rm(path.join(attachedBeside(bundle), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Throws AttachmentError where another process attaches the same bytes now, or they are attached. */
async function checkUnique(bundle: string, own: string, { original }: Attachment): Promise<void> {
  const digest = ATTACHED_PARTIAL.exec(own)?.[1];
  for (const other of await partials(bundle)) {
    const [, theirs, writer] = ATTACHED_PARTIAL.exec(other)!;
    if (other === own || theirs !== digest || !isWriting(bundle, other)) continue;
    throw new AttachmentError(`${original.name} is being attached by process ${writer} at this moment: the same bytes`);
  }
  for (const known of await readAttachments(bundle)) {
    if (known.attachment?.original.sha256 === original.sha256) {
      throw new AttachmentError(`${original.name} is attached already, as ${known.id.slice(0, 12)}: the same bytes`);
    }
  }
}

/** Writes both files under a name of their own and renames them into place. */
async function keep(bundle: string, id: string, text: string, file: string, attachment: Attachment): Promise<void> {
  const { name, sha256: digest } = attachment.original;
  const folder = attachedBeside(bundle);
  const fresh = (await fs.lstat(folder).catch(() => undefined)) === undefined;
  const own = `.partial-${digest.slice(0, 16)}-${process.pid}`;
  const partial = path.join(folder, own);
  if (atWork.has(partial)) throw new AttachmentError(`${name} is being attached at this moment: the same bytes`);
  atWork.add(partial);
  try {
    await fs.mkdir(partial, { recursive: true });
    await checkUnique(bundle, own, attachment);
    const packed = path.join(partial, ORIGINAL_FILE);
    const handle = await fs.open(packed, "wx");
    const hash = createHash("sha256");
    const source = createReadStream(file);
    source.on("data", (piece) => hash.update(piece));
    await pipeline(source, createGzip({ level: 6 }), handle.createWriteStream());
    // It was read before to be understood; what is packed must be what was understood.
    if (hash.digest("hex") !== digest) {
      throw new AttachmentError(`${name} changed while it was read: attach it when nothing writes it any more`);
    }
    const { size } = await fs.stat(packed);
    if (size > ATTACHMENT_LIMITS.packedBytes) {
      const limit = ATTACHMENT_LIMITS.packedBytes.toLocaleString("en-US");
      throw new AttachmentError(
        `${name}: ${size.toLocaleString("en-US")} bytes packed; the limit is ${limit}: export fewer tables, or a shorter time`,
      );
    }
    await fs.writeFile(path.join(partial, ATTACHMENT_FILE), text);
    await fs.rename(partial, path.join(folder, id));
  } catch (error) {
    await fs.rm(partial, { recursive: true, force: true }).catch(() => undefined);
    if (fresh) await fs.rmdir(folder).catch(() => undefined);
    if (error instanceof AttachmentError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new AttachmentError(`${folder} cannot be written (${code ?? message}). Nothing was kept`);
  } finally {
    atWork.delete(partial);
  }
}

/** Takes an attachment away. False where there is none of this id. */
export async function detach(bundle: string, id: string): Promise<boolean> {
  if (!ID.test(id)) return false;
  const folder = attachedBeside(bundle);
  const there = (await fs.lstat(path.join(folder, id)).catch(() => undefined)) !== undefined;
  await fs.rm(path.join(folder, id), { recursive: true, force: true });
  await fs.rmdir(folder).catch(() => undefined);
  return there;
}

/** The text of an `attachment.json`, or why it is none. */
async function attachmentText(bundle: string, id: string): Promise<string> {
  const file = path.join(attachedBeside(bundle), id, ATTACHMENT_FILE);
  const stat = await fs.lstat(file).catch(() => undefined);
  if (stat?.isFile() !== true) throw new AttachmentError(`${ATTACHMENT_FILE} is missing`);
  if (stat.size > Math.min(ATTACHMENT_LIMITS.summaryBytes, JSON_LIMITS.bytes)) {
    throw new AttachmentError(
      `${ATTACHMENT_FILE} has ${stat.size.toLocaleString("en-US")} bytes; the limit is ${ATTACHMENT_LIMITS.summaryBytes.toLocaleString("en-US")}`,
    );
  }
  return fs.readFile(file, "utf8");
}

/**
 * The attachments of a bundle as they stand: what each says, and whether its seal and its bundle hold. The originals are not
 * read: `verifyAttachments` does that.
 */
export async function readAttachments(bundle: string): Promise<readonly ListedAttachment[]> {
  const { ids } = await attachmentIds(bundle);
  const listed: ListedAttachment[] = [];
  for (const id of ids.slice(0, ATTACHMENT_LIMITS.count)) listed.push(await readOne(bundle, id));
  return listed;
}

async function readOne(bundle: string, id: string): Promise<ListedAttachment> {
  try {
    const text = await attachmentText(bundle, id);
    if (sha256(text) !== id) {
      return {
        id,
        attachment: null,
        reasons: [`${ATTACHMENT_FILE} has another digest than its folder says: it was changed`],
      };
    }
    const parsed = attachmentSchema.safeParse(parseStrictJson(text, ATTACHMENT_FILE));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return {
        id,
        attachment: null,
        reasons: [`${ATTACHMENT_FILE}, ${issue?.path.join(".") || "its top"}: ${issue?.message}`],
      };
    }
    const identity = identityOf(bundle);
    const { manifest } = parsed.data.bundle;
    const reasons =
      manifest === identity
        ? []
        : [`attached to the bundle ${manifest.slice(0, 12)}; this one is ${identity.slice(0, 12)}`];
    return { id, attachment: parsed.data, reasons };
  } catch (error) {
    return { id, attachment: null, reasons: [error instanceof Error ? error.message : String(error)] };
  }
}

/** The bytes of an original, unpacked, at most as many as it states, and nothing behind them. */
async function* unpacked(file: string, most: number): AsyncGenerator<Uint8Array, void, undefined> {
  const source = createReadStream(file);
  const gunzip = createGunzip();
  // An error of the source must reach whoever reads.
  source.on("error", (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  let bytes = 0;
  try {
    for await (const piece of gunzip as AsyncIterable<Uint8Array>) {
      bytes += piece.byteLength;
      if (bytes > most)
        throw new AttachmentError(`unpacks to more than the ${most.toLocaleString("en-US")} bytes that are stated`);
      yield piece;
    }
    // Bytes that are no packed file are left out by gunzip in silence.
    const rest = (await fs.stat(file)).size - gunzip.bytesWritten;
    if (rest > 0)
      throw new AttachmentError(`${rest.toLocaleString("en-US")} bytes stand behind it that belong to nothing`);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

export interface VerifiedAttachments {
  readonly attachments: readonly ListedAttachment[];
  /** What lies beside the attachments and does not belong there. */
  readonly reasons: readonly string[];
}

/** True where every attachment held, and nothing else lies there. */
export function attachmentsHold({ attachments, reasons }: VerifiedAttachments): boolean {
  return reasons.length === 0 && attachments.every((entry) => entry.reasons.length === 0);
}

/**
 * Verifies every attachment of a bundle: seal, bundle, digest of the original, and that reading it again gives the summary.
 * Fail-closed: what cannot be checked is broken. Empty where there is none.
 */
export async function verifyAttachments(bundle: string): Promise<VerifiedAttachments> {
  try {
    const { ids, strange } = await attachmentIds(bundle);
    const reasons = strange.map((name) => `${keptText(name, 80)}: does not belong to the attachments`);
    if (ids.length > ATTACHMENT_LIMITS.count) {
      reasons.push(`${ids.length} attachments; the limit is ${ATTACHMENT_LIMITS.count}`);
    }
    const attachments: ListedAttachment[] = [];
    for (const id of ids.slice(0, ATTACHMENT_LIMITS.count)) {
      const one = await readOne(bundle, id);
      const more = one.attachment === null ? [] : await originalReasons(bundle, id, one.attachment);
      attachments.push({ ...one, reasons: [...one.reasons, ...more] });
    }
    return { attachments, reasons };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { attachments: [], reasons: [`the attachments could not be checked: ${words}`] };
  }
}

async function originalReasons(bundle: string, id: string, attachment: Attachment): Promise<readonly string[]> {
  const folder = path.join(attachedBeside(bundle), id);
  try {
    const others = (await fs.readdir(folder)).filter((name) => name !== ATTACHMENT_FILE && name !== ORIGINAL_FILE);
    const file = path.join(folder, ORIGINAL_FILE);
    const stat = await fs.lstat(file).catch(() => undefined);
    if (stat?.isFile() !== true) return [`${ORIGINAL_FILE} is missing`];
    if (stat.size > ATTACHMENT_LIMITS.packedBytes) {
      const limit = ATTACHMENT_LIMITS.packedBytes.toLocaleString("en-US");
      return [`${ORIGINAL_FILE} has ${stat.size.toLocaleString("en-US")} bytes; the limit is ${limit}`];
    }
    const reasons = others.map((name) => `${keptText(name, 80)} does not belong to an attachment`);
    const { name, bytes, sha256: digest } = attachment.original;
    const read = await readAttachment(name, unpacked(file, Number(bytes)), attachment.kind);
    if (String(read.bytes) !== bytes) reasons.push(`the original has ${read.bytes} bytes; ${bytes} are stated`);
    if (read.sha256 !== digest) reasons.push("the original has another digest than is stated");
    if (stableJson(read.summary) !== stableJson(attachment.summary)) {
      reasons.push("reading the original again gives another summary");
    }
    return reasons;
  } catch (error) {
    return [`the original cannot be read: ${error instanceof Error ? error.message : String(error)}`];
  }
}
