/**
 * What the list of runs says of each bundle, kept between two starts in `<evidence>/.index.json`, so that a folder of
 * hundreds of bundles is not read whole again. It is no evidence and never trusted over the files: an entry counts only
 * while record and manifest have the size and the times that they had when it was read. One of them is the time of the last
 * change of the file's node, which no program sets and no copy keeps, so that a file from elsewhere states nothing here.
 */
import fs from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { type RunEntry, runEntrySchema } from "../contract.ts";

export const INDEX_FILE = ".index.json";

/** Folders with fewer bundles are read whole in no time and get no index. */
export const INDEX_FROM = 20;

const LIMIT_BYTES = 64 * 2 ** 20;

export interface Indexed {
  /** Sizes and times of record and manifest. */
  readonly stamp: string;
  readonly entry: RunEntry;
}

const indexSchema = z.strictObject({
  schema: z.literal("lockstep.index/1"),
  bundles: z.record(z.string(), z.strictObject({ stamp: z.string(), entry: z.unknown() })),
});

/** Entries by the id of their bundle; none where the file is missing, too large, of another version or no index at all. */
export async function readIndex(folder: string): Promise<ReadonlyMap<string, Indexed>> {
  try {
    const file = path.join(folder, INDEX_FILE);
    const stat = await fs.lstat(file);
    if (!stat.isFile() || stat.size > LIMIT_BYTES) return new Map();
    const { bundles } = indexSchema.parse(JSON.parse(await fs.readFile(file, "utf8")));
    return new Map(
      Object.entries(bundles).flatMap(([id, { stamp, entry: given }]): readonly (readonly [string, Indexed])[] => {
        const entry = runEntrySchema.safeParse(given);
        return entry.success && entry.data.state === "kept" && entry.data.id === id
          ? [[id, { stamp, entry: entry.data }]]
          : [];
      }),
    );
  } catch {
    return new Map();
  }
}

/** Writes the index, whole or not at all. A folder that cannot be written goes without. */
export async function writeIndex(folder: string, bundles: ReadonlyMap<string, Indexed>): Promise<void> {
  if (bundles.size < INDEX_FROM) return;
  const file = path.join(folder, INDEX_FILE);
  const draft = `${file}.${process.pid}`;
  try {
    await fs.writeFile(draft, JSON.stringify({ schema: "lockstep.index/1", bundles: Object.fromEntries(bundles) }));
    await fs.rename(draft, file);
  } catch {
    await fs.rm(draft, { force: true }).catch(() => undefined);
  }
}
