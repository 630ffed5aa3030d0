/**
 * The module cache: a folder of entries that several processes use at once. An entry is a folder that is made elsewhere
 * and moved into place whole; what is in it is checked by digest when it is read, and a broken one is made again.
 */
import { createHash, randomUUID } from "node:crypto";
import { statfsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod";
import { DeviceError } from "../device.ts";

/** Changes when the layout of the folder changes. */
const LAYOUT = "v1";
const DEFAULT_LIMIT_BYTES = 2 * 1024 ** 3;
/** Entries used within this time are never evicted: another process may be about to load them. */
const SPARE_MS = 10 * 60_000;
/** Where entries are made. */
const DRAFTS = "draft";
/** No compilation takes as long. */
const ABANDONED_MS = 60 * 60_000;
/** Stores between two looks at the size of the whole folder. */
const STORES_PER_SWEEP = 32;
/** Free space below which a failed write is put down to a full disk. */
const NEEDED_BYTES = 1024 ** 2;

const entrySchema = z.strictObject({
  files: z.record(z.string(), z.strictObject({ bytes: z.int(), sha256: z.string() })),
  facts: z.unknown(),
});

export type EntryKind = "archive" | "library" | "module" | "prefix" | "runtime" | "toolchain" | "verdict";

export interface CacheEntry<T> {
  readonly folder: string;
  readonly facts: T;
}

/** The cache folder cannot take what is to be kept: nothing that a compiler or a kernel could mend. */
export class StorageError extends DeviceError {
  constructor(message: string) {
    super("unavailable", message);
  }
}

/** The default place: `$LOCKSTEP_CACHE`, else the cache folder of the system. */
export function cacheFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const given = environment.LOCKSTEP_CACHE;
  if (given !== undefined && given !== "") return given;
  if (process.platform === "darwin") return join(homedir(), "Library", "Caches", "Lockstep");
  const base = environment.XDG_CACHE_HOME;
  return join(base !== undefined && base !== "" ? base : join(homedir(), ".cache"), "lockstep");
}

export class ModuleCache {
  readonly folder: string;
  readonly #limitBytes: number;
  /** Entries that this process uses. */
  readonly #held = new Set<string>();
  #stores = 0;

  constructor(folder: string = cacheFolder(), limitBytes: number = DEFAULT_LIMIT_BYTES) {
    this.folder = folder;
    this.#limitBytes = limitBytes;
  }

  /** The entry, or undefined if there is none or if it is not whole (then it is removed). */
  async lookup<T>(kind: EntryKind, digest: string, schema: z.ZodType<T>): Promise<CacheEntry<T> | undefined> {
    const folder = this.#path(kind, digest);
    const text = await readFile(join(folder, "entry.json"), "utf8").catch(() => undefined);
    // Nothing is removed that is not there: another process may be about to put it in place.
    if (text === undefined) return undefined;
    const facts = await this.#check(folder, text, schema);
    if (facts === undefined) {
      await this.remove(kind, digest);
      return undefined;
    }
    this.#held.add(folder);
    const now = new Date();
    await utimes(folder, now, now).catch(() => undefined);
    return { folder, facts };
  }

  /**
   * Makes an entry: `fill` writes its files into the folder it is given and returns the facts to keep. If another
   * process made the same entry meanwhile, that one stays. Rejects with `unavailable` if the disk is full.
   */
  async store<T>(
    kind: EntryKind,
    digest: string,
    schema: z.ZodType<T>,
    fill: (folder: string) => Promise<T>,
  ): Promise<CacheEntry<T>> {
    const folder = this.#path(kind, digest);
    const draft = join(this.folder, LAYOUT, DRAFTS, randomUUID());
    try {
      await this.#makeFolder(draft);
      const facts = await fill(draft);
      const files: Record<string, { bytes: number; sha256: string }> = {};
      for (const name of await readdir(draft)) {
        const data = await readFile(join(draft, name));
        files[name] = { bytes: data.length, sha256: sha256(data) };
      }
      await writeFile(join(draft, "entry.json"), JSON.stringify({ files, facts }));
      await this.#makeFolder(join(this.folder, LAYOUT, kind));
      await rename(draft, folder).catch(async (error: NodeJS.ErrnoException) => {
        const taken = error.code === "ENOTEMPTY" || error.code === "EEXIST";
        if (!taken) throw error;
        if ((await this.lookup(kind, digest, schema)) !== undefined) return;
        // What is there is not whole.
        await this.remove(kind, digest);
        await rename(draft, folder);
      });
      this.#held.add(folder);
      if (this.#stores++ % STORES_PER_SWEEP === 0) await this.sweep();
      return { folder, facts };
    } catch (error) {
      throw await this.#explain(error);
    } finally {
      await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  async remove(kind: EntryKind, digest: string): Promise<void> {
    await rm(this.#path(kind, digest), { recursive: true, force: true }).catch(() => undefined);
  }

  /** Removes the entries that were used longest ago until the folder is within its limit; returns what is left. */
  async sweep(): Promise<number> {
    const root = join(this.folder, LAYOUT);
    const entries: { folder: string; bytes: number; used: number }[] = [];
    for (const kind of await names(root)) {
      for (const name of await names(join(root, kind))) {
        const folder = join(root, kind, name);
        const used = (await stat(folder).catch(() => undefined))?.mtimeMs;
        if (used === undefined) continue;
        if (kind === DRAFTS) {
          // A process that was killed in mid-compile left it.
          if (Date.now() - used > ABANDONED_MS)
            await rm(folder, { recursive: true, force: true }).catch(() => undefined);
          continue;
        }
        let bytes = 0;
        for (const file of await names(folder))
          bytes += (await stat(join(folder, file)).catch(() => undefined))?.size ?? 0;
        entries.push({ folder, bytes, used });
      }
    }
    let total = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    for (const entry of entries.sort((a, b) => a.used - b.used)) {
      if (total <= this.#limitBytes) break;
      if (this.#held.has(entry.folder) || Date.now() - entry.used < SPARE_MS) continue;
      await rm(entry.folder, { recursive: true, force: true }).catch(() => undefined);
      total -= entry.bytes;
    }
    return total;
  }

  #path(kind: EntryKind, digest: string): string {
    return join(this.folder, LAYOUT, kind, digest);
  }

  async #check<T>(folder: string, text: string, schema: z.ZodType<T>): Promise<T | undefined> {
    try {
      const entry = entrySchema.parse(JSON.parse(text));
      for (const [name, expected] of Object.entries(entry.files)) {
        const data = await readFile(join(folder, name));
        if (data.length !== expected.bytes || sha256(data) !== expected.sha256) return undefined;
      }
      const facts = schema.safeParse(entry.facts);
      return facts.success ? facts.data : undefined;
    } catch {
      return undefined;
    }
  }

  async #explain(error: unknown): Promise<unknown> {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOSPC" || code === "EDQUOT") return diskFull(this.folder);
    const refused = code === "EACCES" || code === "EROFS" || code === "EPERM" || code === "ENOTDIR";
    return refused ? this.#unwritable(code) : error;
  }

  #unwritable(code: string | undefined): StorageError {
    return new StorageError(
      `The cache folder ${this.folder} cannot be written (${code}): set LOCKSTEP_CACHE to a folder that can.`,
    );
  }

  /**
   * Makes a folder and those above it. Node's own recursive mkdir never returns below /proc, which answers ENOENT under a
   * folder that exists, and says ENOENT where a disk is read-only.
   */
  async #makeFolder(folder: string): Promise<void> {
    const make = async (at: string): Promise<void> => {
      if (await isThere(at)) return;
      if (dirname(at) !== at) await make(dirname(at));
      await mkdir(at).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
    };
    try {
      await make(folder);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw code === "ENOSPC" || code === "EDQUOT" ? error : this.#unwritable(code);
    }
  }
}

async function isThere(file: string): Promise<boolean> {
  return await stat(file).then(
    () => true,
    () => false,
  );
}

/** The error for a compiler or a write that ran out of space. */
export function diskFull(folder: string): StorageError {
  const mend = "free some, or set LOCKSTEP_CACHE to a folder on another disk.";
  return new StorageError(`There is no space left for compiled kernels in ${folder}: ${mend}`);
}

/** True if the disk of `folder` has less left than a module needs. A linker that runs out of space crashes wordlessly. */
export function isDiskFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < NEEDED_BYTES;
  } catch {
    return false;
  }
}

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

async function names(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}
