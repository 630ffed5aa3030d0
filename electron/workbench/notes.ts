/**
 * What users wrote about runs: `<id>.notes.json` beside each bundle, so that the bundle stays as it was made. Notes are no
 * evidence and no part of an export.
 */
import fs from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { type Note, noteSchema, runIdSchema } from "../contract.ts";
import { parseStrictJson, stableJson } from "../evidence/json.ts";
import { WorkbenchError } from "./failure.ts";

const SUFFIX = ".notes.json";

const fileSchema = z.strictObject({ schema: z.literal("lockstep.notes/1"), ...noteSchema.omit({ id: true }).shape });

/** Far above the longest note in JSON. */
const MOST_BYTES = 256 * 1024;

export class Notes {
  readonly #folder: string;
  /** Writes go one after the other, so that two windows cannot both find the note as they left it. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Every note that can be read. A file that is none is left out: it hides no bundle. */
  async list(): Promise<readonly Note[]> {
    const names = await fs.readdir(this.#folder).catch((): string[] => []);
    const ids = names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
    const notes = await Promise.all(ids.map((id) => this.#read(id).catch(() => null)));
    return notes.filter((note) => note !== null);
  }

  /**
   * Writes the note of the bundle `id`, or removes it where `text` is empty. `was` is the time of the note that the writer
   * saw. Throws `WorkbenchError` where another one stands there.
   */
  write(id: string, text: string, was: string | null): Promise<Note | null> {
    const written = this.#writing.then(() => this.#write(id, text, was));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(id: string, text: string, was: string | null): Promise<Note | null> {
    const file = this.#file(id);
    const before = await this.#read(id);
    if ((before?.changedAt ?? null) !== was) {
      throw new WorkbenchError(
        "The note was changed meanwhile, in another window or by hand",
        "reload, then write again",
      );
    }
    const trimmed = text.trim();
    if (trimmed === "") {
      await fs.rm(file, { force: true });
      return null;
    }
    // Later than the note before, however fast two writes follow.
    const changedAt = new Date(
      Math.max(Date.now(), before === null ? 0 : Date.parse(before.changedAt) + 1),
    ).toISOString();
    const note = { text: trimmed, changedAt };
    const partial = `${file}.${process.pid}.partial`;
    try {
      await fs.writeFile(partial, stableJson({ schema: "lockstep.notes/1", ...note }));
      await fs.rename(partial, file);
    } catch (error) {
      await fs.rm(partial, { force: true });
      const { code } = error as NodeJS.ErrnoException;
      throw new WorkbenchError(
        `${file} cannot be written (${code}). The note is not kept`,
        "free some space, or copy the text",
      );
    }
    return { id, ...note };
  }

  #file(id: string): string {
    return path.join(this.#folder, `${runIdSchema.parse(id)}${SUFFIX}`);
  }

  /** Null where there is none. Throws `WorkbenchError` for a file that is no note. */
  async #read(id: string): Promise<Note | null> {
    const file = this.#file(id);
    const stat = await fs.lstat(file).catch(() => undefined);
    if (stat === undefined) return null;
    if (!stat.isFile() || stat.size > MOST_BYTES) {
      throw new WorkbenchError(`${file} is no note: not a plain file of at most ${MOST_BYTES} bytes`, "move it away");
    }
    const parsed = fileSchema.safeParse(parseStrictJson(await fs.readFile(file, "utf8"), file));
    if (!parsed.success)
      throw new WorkbenchError(`${file} is no note: ${parsed.error.issues[0]?.message}`, "move it away");
    const { text, changedAt } = parsed.data;
    return { id, text, changedAt };
  }
}
