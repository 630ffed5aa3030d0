/**
 * Files that a window sends piece by piece, because a browser knows no paths. Each piece is answered before the next is
 * sent, so that neither side piles anything up. Names, numbers and sizes are checked before the first byte is written.
 */
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { openSafetensors } from "../../oracle/safetensors.ts";
import { ATTACHMENT_LIMITS } from "../attachments/attachment.ts";
import type { CallInput, CallOutput } from "../contract.ts";
import { BUNDLE_LIMITS } from "../evidence/bag.ts";
import { checkBundlePath, ZIP_LIMITS } from "../evidence/unzip.ts";
import { WorkbenchError } from "./failure.ts";
import type { OpenedBundles } from "./opened.ts";

/** Largest file of inputs that a window may send; larger ones are named by path on the command line. */
const INPUT_BYTES = 2 * 1024 ** 3;

const MOST_UPLOADS = 4;

/** A window that says nothing for so long has gone. */
const IDLE_MS = 60_000;

type Announced = CallInput<"upload.begin">;

interface Upload {
  readonly announced: Announced;
  readonly scratch: string;
  /** Full paths, in the order announced. */
  readonly files: readonly string[];
  /** The file that is being received, and the bytes that have come. */
  at: number;
  received: number;
  handle: number | undefined;
  timer: NodeJS.Timeout | undefined;
}

function bytesText(bytes: number): string {
  return `${bytes.toLocaleString("en-US")} bytes`;
}

function refuse(
  message: string,
  mend = "nothing was kept; export the bundle with lockstep export and drop the zip",
): never {
  throw new WorkbenchError(message, mend);
}

/** What a single file may be, its ending in the temporary area, and what to do with one that is too large. */
const SINGLE = {
  zip: { limit: ZIP_LIMITS.archiveBytes, ending: ".zip", mend: "open its folder instead" },
  inputs: { limit: INPUT_BYTES, ending: ".safetensors", mend: "run it by its path: lockstep parity --inputs FILE" },
  attachment: {
    limit: ATTACHMENT_LIMITS.originalBytes,
    ending: ".attached",
    mend: "export fewer tables, or a shorter time",
  },
} as const;

/** Throws `WorkbenchError` for what no bundle, zip, file of inputs or attachment may be. */
function checkAnnounced({ purpose, name, files }: Announced): void {
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  if (purpose !== "bundle") {
    const [only] = files;
    if (files.length !== 1 || only === undefined) refuse(`${files.length} files were announced as one`);
    const { limit, mend } = SINGLE[purpose];
    if (only.bytes > limit) refuse(`${name} has ${bytesText(only.bytes)}; the limit is ${bytesText(limit)}`, mend);
    return;
  }
  if (files.length > BUNDLE_LIMITS.entries) {
    refuse(`${name} has ${files.length} files; the limit is ${BUNDLE_LIMITS.entries}`);
  }
  if (total > BUNDLE_LIMITS.totalBytes) {
    refuse(`${name} has ${bytesText(total)}; the limit is ${bytesText(BUNDLE_LIMITS.totalBytes)}`);
  }
  const seen = new Set<string>();
  for (const { path: file, bytes } of files) {
    checkBundlePath(file, (words) => refuse(`${name}: ${words}`));
    if (bytes > BUNDLE_LIMITS.fileBytes) {
      refuse(`${name}: ${file} has ${bytesText(bytes)}; the limit is ${bytesText(BUNDLE_LIMITS.fileBytes)}`);
    }
    if (seen.has(file)) refuse(`${name}: ${file} is there twice`);
    seen.add(file);
  }
  for (const file of seen) {
    for (let parent = path.posix.dirname(file); parent !== "."; parent = path.posix.dirname(parent)) {
      if (seen.has(parent)) refuse(`${name}: ${parent} is a file and the folder of ${file}`);
    }
  }
}

/** Name of a single file in the temporary area: it goes into the keys of the cases of inputs, and into words of refusal. */
function ownName(name: string, ending: (typeof SINGLE)[keyof typeof SINGLE]["ending"]): string {
  const base = path.basename(name.replaceAll("\\", "/"));
  const stem = base.toLowerCase().endsWith(ending) ? base.slice(0, -ending.length) : base;
  const plain = stem
    .replace(/[^A-Za-z0-9._-]+/g, "_")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 100);
  return `${plain === "" ? "file" : plain}${ending}`;
}

export class Uploads {
  readonly #opened: OpenedBundles;
  readonly #uploads = new Map<string, Upload>();
  /** Files that have come to be attached, with their folders in the temporary area. */
  readonly #toAttach = new Map<string, string>();

  constructor(opened: OpenedBundles) {
    this.#opened = opened;
  }

  begin(announced: Announced): CallOutput<"upload.begin"> {
    checkAnnounced(announced);
    if (this.#uploads.size >= MOST_UPLOADS) {
      throw new WorkbenchError(`${MOST_UPLOADS} uploads are going on, the most at once`, "wait for one to end");
    }
    const scratch = this.#opened.scratch();
    const { purpose, name } = announced;
    const place = (file: string): string => {
      if (purpose === "bundle") return path.join(scratch, "bundle", file);
      return path.join(scratch, ownName(name, SINGLE[purpose].ending));
    };
    const files = announced.files.map((file) => place(file.path));
    const id = randomUUID();
    const upload: Upload = { announced, scratch, files, at: 0, received: 0, handle: undefined, timer: undefined };
    this.#uploads.set(id, upload);
    this.#touch(id, upload);
    return { upload: id };
  }

  /** Takes the next piece. Files come in the order announced; empty ones need no piece. */
  write({ upload: id, file, data }: CallInput<"upload.write">): CallOutput<"upload.write"> {
    const upload = this.#find(id);
    this.#touch(id, upload);
    try {
      this.#skipEmpty(upload);
      const stated = upload.announced.files[upload.at];
      if (file !== upload.at || stated === undefined) {
        refuse(`A piece of file ${file} came; file ${upload.at} of ${upload.files.length} is due`);
      }
      if (upload.received + data.byteLength > stated.bytes) {
        const came = bytesText(upload.received + data.byteLength);
        refuse(`${stated.path}: ${came} came, ${bytesText(stated.bytes)} were announced; it changed meanwhile`);
      }
      upload.handle ??= this.#create(upload.files[upload.at]!);
      for (let done = 0; done < data.byteLength; ) done += fs.writeSync(upload.handle, data, done);
      upload.received += data.byteLength;
      const { received } = upload;
      if (received === stated.bytes) this.#closeFile(upload);
      return { received };
    } catch (error) {
      this.cancel(id);
      if (error instanceof WorkbenchError) throw error;
      const words = error instanceof Error ? error.message : String(error);
      throw new WorkbenchError(`The files cannot be received: ${words}`, "free some space in the temporary folder");
    }
  }

  async finish(id: string): Promise<CallOutput<"upload.finish">> {
    const upload = this.#find(id);
    const { announced, scratch, files } = upload;
    this.#skipEmpty(upload);
    if (upload.at < files.length) {
      this.cancel(id);
      refuse(`${upload.at} of ${files.length} files have come whole: the upload is not complete`);
    }
    clearTimeout(upload.timer);
    this.#uploads.delete(id);
    try {
      if (announced.purpose === "inputs") {
        const [file] = files;
        const tensors = openSafetensors(file!).entries.size;
        return { kind: "inputs", path: file!, tensors };
      }
      if (announced.purpose === "attachment") {
        this.#toAttach.set(files[0]!, scratch);
        return { kind: "attachment", path: files[0]!, name: announced.name };
      }
      if (announced.purpose === "zip") {
        const opened = await this.#opened.openZip(files[0]!, announced.name, announced.name);
        fs.rmSync(scratch, { recursive: true, force: true });
        return { kind: "bundle", id: opened };
      }
      const folder = path.join(scratch, "bundle");
      return { kind: "bundle", id: await this.#opened.openReceived(folder, announced.name, scratch) };
    } catch (error) {
      fs.rmSync(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  /** A file that came to be attached is not needed any more. Other paths stay as they are. */
  discard(file: string): void {
    const scratch = this.#toAttach.get(file);
    if (scratch !== undefined) fs.rmSync(scratch, { recursive: true, force: true });
    this.#toAttach.delete(file);
  }

  /** Throws away what has come. Unknown uploads are over already. */
  cancel(id: string): void {
    const upload = this.#uploads.get(id);
    if (upload === undefined) return;
    this.#uploads.delete(id);
    clearTimeout(upload.timer);
    if (upload.handle !== undefined) fs.closeSync(upload.handle);
    fs.rmSync(upload.scratch, { recursive: true, force: true });
  }

  close(): void {
    for (const id of [...this.#uploads.keys()]) this.cancel(id);
  }

  #find(id: string): Upload {
    const upload = this.#uploads.get(id);
    if (upload === undefined) throw new WorkbenchError("This upload is over", "drop the files again");
    return upload;
  }

  #touch(id: string, upload: Upload): void {
    clearTimeout(upload.timer);
    upload.timer = setTimeout(() => this.cancel(id), IDLE_MS).unref();
  }

  #create(file: string): number {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    return fs.openSync(file, "wx");
  }

  #closeFile(upload: Upload): void {
    if (upload.handle !== undefined) fs.closeSync(upload.handle);
    upload.handle = undefined;
    upload.at += 1;
    upload.received = 0;
  }

  #skipEmpty(upload: Upload): void {
    while (upload.announced.files[upload.at]?.bytes === 0 && upload.handle === undefined) {
      upload.handle = this.#create(upload.files[upload.at]!);
      this.#closeFile(upload);
    }
  }
}
