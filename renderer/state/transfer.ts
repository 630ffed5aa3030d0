/** Files on their way between this window and its workbench, piece by piece: what a user drops, and what is downloaded. */
import type { Workbench } from "../../electron/contract/connect.ts";
import { type CallOutput, PIECE_BYTES } from "../../electron/contract.ts";
import { createStore } from "./store.ts";

/** A file that was dropped, with its place below what was dropped. */
export interface DroppedFile {
  readonly path: string;
  readonly file: Blob;
}

/** What a drop turned out to be. */
export type Dropped =
  | { readonly kind: "bundle" | "zip" | "inputs"; readonly name: string; readonly files: readonly DroppedFile[] }
  /** A file of another tool, to be attached to a run. */
  | { readonly kind: "attachment"; readonly name: string; readonly files: readonly DroppedFile[] }
  /** A manifest, or a folder that holds one. */
  | { readonly kind: "kernel"; readonly name: string; readonly files: readonly DroppedFile[] }
  | { readonly kind: "other"; readonly reason: string };

/** A transfer that goes on, for the page to show. */
export interface Transfer {
  readonly label: string;
  readonly done: number;
  readonly total: number;
}

export const transfer = createStore<Transfer | null>(null);

/** Most files of a folder that are looked at: a dropped disk must not fill the memory. */
const MOST_FILES = 5000;

function extensionOf(name: string): string {
  return /\.(safetensors|zip|lockstep)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
}

/** What a single file is, by its name. */
export function kindOfFile(name: string): "inputs" | "zip" | "kernel" | "attachment" | undefined {
  if (isManifest(name)) return "kernel";
  if (/\.(xml|csv|txt)$/i.test(name)) return "attachment";
  const extension = extensionOf(name);
  if (extension === "safetensors") return "inputs";
  return extension === "zip" || extension === "lockstep" ? "zip" : undefined;
}

function isManifest(name: string): boolean {
  return name.toLowerCase().endsWith(".kernel.json");
}

/** What a folder is: of a bundle, unless it holds a manifest and nothing that only bundles have. */
export function kindOfFolder(files: readonly DroppedFile[]): "bundle" | "kernel" {
  const bundled = files.some(({ path }) => path === "bagit.txt");
  return !bundled && files.some(({ path }) => isManifest(path)) ? "kernel" : "bundle";
}

function readEntries(reader: FileSystemDirectoryReader): Promise<readonly FileSystemEntry[]> {
  return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

async function filesBelow(folder: FileSystemDirectoryEntry, prefix: string, into: DroppedFile[]): Promise<void> {
  const reader = folder.createReader();
  for (let batch = await readEntries(reader); batch.length > 0; batch = await readEntries(reader)) {
    for (const entry of batch) {
      if (into.length > MOST_FILES) return;
      const place = `${prefix}${entry.name}`;
      if (entry.isDirectory) await filesBelow(entry as FileSystemDirectoryEntry, `${place}/`, into);
      else into.push({ path: place, file: await fileOf(entry as FileSystemFileEntry) });
    }
  }
}

/** Reads what was dropped. Its entries must be taken while the event lasts: the list is empty afterwards. */
export async function droppedOf(items: readonly (FileSystemEntry | null)[], files: readonly File[]): Promise<Dropped> {
  const [entry] = items;
  const [file] = files;
  if (items.length > 1) return { kind: "other", reason: `${items.length} things were dropped; one is taken at a time` };
  if (entry?.isDirectory) {
    const below: DroppedFile[] = [];
    await filesBelow(entry as FileSystemDirectoryEntry, "", below);
    return { kind: kindOfFolder(below), name: entry.name, files: below };
  }
  if (file === undefined) return { kind: "other", reason: "No file was dropped" };
  const kind = kindOfFile(file.name);
  if (kind !== undefined) return { kind, name: file.name, files: [{ path: file.name, file }] };
  return {
    kind: "other",
    reason: `${file.name} is no bundle, no zip of one, no .safetensors file, no .kernel.json and no .xml or .csv to attach`,
  };
}

/** Sends files one after the other; each piece waits for the answer of the one before. Rejects with `RemoteError`. */
export async function sendFiles(
  workbench: Workbench,
  dropped: Extract<Dropped, { kind: "bundle" | "zip" | "inputs" | "attachment" }>,
  signal: AbortSignal,
): Promise<CallOutput<"upload.finish">> {
  const { kind, name, files } = dropped;
  const announced = files.map(({ path, file }) => ({ path, bytes: file.size }));
  const total = announced.reduce((sum, file) => sum + file.bytes, 0);
  const { upload } = await workbench.call("upload.begin", { purpose: kind, name, files: announced });
  let done = 0;
  try {
    for (const [index, { file }] of files.entries()) {
      for (let at = 0; at < file.size; at += PIECE_BYTES) {
        signal.throwIfAborted();
        const data = new Uint8Array(await file.slice(at, at + PIECE_BYTES).arrayBuffer());
        await workbench.call("upload.write", { upload, file: index, data });
        done += data.byteLength;
        transfer.set({ label: `Receiving ${name}`, done, total });
      }
    }
    return await workbench.call("upload.finish", { upload });
  } catch (error) {
    await workbench.call("upload.cancel", { upload }).catch(() => undefined);
    throw error;
  } finally {
    transfer.set(null);
  }
}

/** Fetches the zip of a bundle. Rejects with `RemoteError`. */
export async function fetchZip(workbench: Workbench, id: string): Promise<Blob> {
  const parts: BlobPart[] = [];
  let done = 0;
  let total = 0;
  try {
    for await (const { data, totalBytes } of workbench.stream("evidence.export", { id })) {
      parts.push(data.slice());
      done += data.byteLength;
      total = totalBytes;
      transfer.set({ label: "Exporting", done, total });
    }
  } finally {
    transfer.set(null);
  }
  const zip = new Blob(parts, { type: "application/zip" });
  if (zip.size !== total) throw new Error(`The export has ${zip.size} bytes; ${total} were announced`);
  return zip;
}
