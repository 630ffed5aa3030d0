/**
 * Bundles from elsewhere: a folder that is read where it stands, a zip or files that a window sent, which are unpacked into
 * a temporary area. They are read-only, listed apart, and support no claim of this folder.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type RunEntry, runIdSchema } from "../contract.ts";
import { looksZipped, unzipBundle } from "../evidence/unzip.ts";
import { WorkbenchError } from "./failure.ts";
import { Feed } from "./feed.ts";

const SUFFIX = ".lockstep";

/** Opened at once; each may hold hundreds of MiB of temporary files. */
const MOST_OPENED = 8;

interface Opened {
  readonly id: string;
  readonly folder: string;
  readonly from: string;
  /** What is removed with it; null where the folder is the user's own. */
  readonly scratch: string | null;
}

export interface OpenedBundle {
  readonly from: string;
  readonly entry: RunEntry;
}

export interface OpenedList {
  readonly bundles: readonly OpenedBundle[];
  /** A bundle that a window should go to: it was opened by none of them. */
  readonly shown: string | null;
}

/** A name from elsewhere as a valid id that is not taken. */
function idFor(name: string, taken: (id: string) => boolean): string {
  const stem = path
    .basename(name)
    .replace(/(\.lockstep)?(\.zip)?$/i, "")
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, 120);
  const base = stem === "" ? "bundle" : stem;
  for (let n = 1; ; n++) {
    const id = runIdSchema.parse(`${base}${n === 1 ? "" : `-${n}`}${SUFFIX}`);
    if (!taken(id)) return id;
  }
}

export class OpenedBundles {
  /** Folder of this machine's own bundles. */
  readonly #evidence: string;
  readonly #entryOf: (id: string) => Promise<RunEntry>;
  readonly #opened = new Map<string, Opened>();
  readonly #feed = new Feed<OpenedList>({ replaces: (_, next) => next.shown === null });
  /** The temporary area, made when it is first needed. */
  #area: string | undefined;
  #shown: string | null = null;

  constructor(evidence: string, entryOf: (id: string) => Promise<RunEntry>) {
    this.#evidence = evidence;
    this.#entryOf = entryOf;
  }

  /** Folder of an opened bundle; undefined where `id` is none. */
  folderOf(id: string): string | undefined {
    return this.#opened.get(id)?.folder;
  }

  /** A fresh empty folder in the temporary area, which goes when the workbench closes. */
  scratch(): string {
    this.#area ??= fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-opened-"));
    return fs.mkdtempSync(path.join(this.#area, "part-"));
  }

  /** Opens a folder where it stands, or unpacks a zip. Throws `WorkbenchError`, and BundleError for a bad zip. */
  async openPath(given: string, show: boolean): Promise<string> {
    const place = path.resolve(given);
    const stat = fs.statSync(place, { throwIfNoEntry: false });
    if (stat === undefined)
      throw new WorkbenchError(`${place} is not there`, "give the folder of a bundle, or a zip of it");
    if (stat.isDirectory()) {
      this.#refuseOther(place);
      const inside = path.dirname(place) === this.#evidence && path.basename(place).endsWith(SUFFIX);
      // A bundle of this folder is in the list already.
      if (inside && runIdSchema.safeParse(path.basename(place)).success) {
        await this.#say(show ? path.basename(place) : null);
        return path.basename(place);
      }
      const known = [...this.#opened.values()].find((entry) => entry.folder === place);
      return known?.id ?? this.#add(path.basename(place), place, place, null, show);
    }
    if (!looksZipped(place)) {
      throw new WorkbenchError(`${place} is no folder and no zip`, "give the folder of a bundle, or a zip of it");
    }
    return this.openZip(place, path.basename(place), place, show);
  }

  /** Unpacks a zip. `name` is what it is called, `from` where it came from. */
  openZip(file: string, name: string, from: string, show = false): Promise<string> {
    this.#refuseMore();
    const scratch = this.scratch();
    try {
      const folder = path.join(scratch, "bundle");
      const inside = unzipBundle(file, folder);
      return this.#add(inside.name ?? name, folder, from, scratch, show);
    } catch (error) {
      fs.rmSync(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  /** Takes over files that were received below `scratch`. */
  openReceived(folder: string, name: string, scratch: string): Promise<string> {
    this.#refuseMore();
    this.#refuseOther(folder);
    return this.#add(name, folder, name, scratch, false);
  }

  /** False where it is not opened. */
  async close(id: string): Promise<boolean> {
    const entry = this.#opened.get(id);
    if (entry === undefined) return false;
    this.#opened.delete(id);
    if (entry.scratch !== null) fs.rmSync(entry.scratch, { recursive: true, force: true });
    await this.#say(null);
    return true;
  }

  async *follow(signal: AbortSignal): AsyncGenerator<OpenedList, void, undefined> {
    const feed = this.#feed.follow([], signal);
    const shown = this.#shown;
    this.#shown = null;
    yield await this.#list(shown);
    yield* feed;
  }

  /** Removes everything temporary. */
  end(): void {
    this.#feed.close();
    this.#opened.clear();
    if (this.#area !== undefined) fs.rmSync(this.#area, { recursive: true, force: true });
  }

  async #add(name: string, folder: string, from: string, scratch: string | null, show: boolean): Promise<string> {
    this.#refuseMore();
    const taken = (id: string): boolean => this.#opened.has(id) || fs.existsSync(path.join(this.#evidence, id));
    const id = idFor(name, taken);
    this.#opened.set(id, { id, folder, from, scratch });
    await this.#say(show ? id : null);
    return id;
  }

  #refuseMore(): void {
    if (this.#opened.size < MOST_OPENED) return;
    throw new WorkbenchError(`${MOST_OPENED} bundles are open already, the most at once`, "close one of them first");
  }

  /** A folder without a manifest is a wrong click, not a bad bundle. */
  #refuseOther(folder: string): void {
    if (fs.existsSync(path.join(folder, "data")) || fs.existsSync(path.join(folder, "bagit.txt"))) return;
    throw new WorkbenchError(
      `${path.basename(folder)} is no bundle: it has neither bagit.txt nor data/`,
      "give the folder that ends in .lockstep itself",
    );
  }

  async #say(shown: string | null): Promise<void> {
    if (shown !== null) this.#shown = shown;
    if (this.#feed.followed) this.#shown = null;
    this.#feed.push(await this.#list(shown));
  }

  async #list(shown: string | null): Promise<OpenedList> {
    const bundles: OpenedBundle[] = [];
    for (const { id, from } of this.#opened.values()) bundles.push({ from, entry: await this.#entryOf(id) });
    return { bundles, shown };
  }
}
