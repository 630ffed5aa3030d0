/** A bundle that a command names: its folder, or a zip of it, which is unpacked for as long as the command takes. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseStrictJson, StrictJsonError } from "../evidence/json.ts";
import { looksZipped, unzipBundle } from "../evidence/unzip.ts";
import { type RunRecord, recordSchema } from "../runs/record.ts";
import { UsageError } from "../runs/usage.ts";

const RECORD = "data/record.json";

interface Folder {
  readonly folder: string;
  /** Removes what was unpacked for it. */
  readonly end: () => void;
}

/** The folder of the bundle that `named` is or holds. Throws UsageError, and BundleError for a bad zip. */
function openFolder(named: string): Folder {
  const stat = fs.statSync(named, { throwIfNoEntry: false });
  if (stat === undefined) throw new UsageError(`${named} is not there: give the folder of a bundle, or a zip of it.`);
  if (stat.isDirectory()) return { folder: named, end: () => undefined };
  if (!looksZipped(named)) throw new UsageError(`${named} is no folder and no zip: give the folder of a bundle.`);
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-open-"));
  const end = (): void => fs.rmSync(scratch, { recursive: true, force: true });
  try {
    const folder = path.join(scratch, "bundle.lockstep");
    unzipBundle(named, folder);
    return { folder, end };
  } catch (error) {
    end();
    throw error;
  }
}

/** Calls `use` with the folder of the bundle that `named` is or holds. Throws UsageError, and BundleError for a bad zip. */
export function withBundle<T>(named: string, use: (folder: string) => T): T {
  const { folder, end } = openFolder(named);
  try {
    return use(folder);
  } finally {
    end();
  }
}

/** As `withBundle`, for what takes its time. */
export async function withBundleAsync<T>(named: string, use: (folder: string) => Promise<T>): Promise<T> {
  const { folder, end } = openFolder(named);
  try {
    return await use(folder);
  } finally {
    end();
  }
}

/** The record of a bundle as it stands, unverified. Throws UsageError where it cannot be read. */
export function openRecord(named: string): RunRecord {
  return withBundle(named, (folder) => {
    const file = path.join(folder, RECORD);
    if (fs.statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
      throw new UsageError(`${named} has no ${RECORD}: give the folder of a bundle.`);
    }
    try {
      const parsed = recordSchema.safeParse(parseStrictJson(fs.readFileSync(file, "utf8"), `${named}, ${RECORD}`));
      if (parsed.success) return parsed.data;
      const [issue] = parsed.error.issues;
      throw new UsageError(`${named}, ${RECORD}: ${issue?.path.join(".") || "its top"}: ${issue?.message}. Verify it.`);
    } catch (error) {
      throw error instanceof StrictJsonError ? new UsageError(error.message) : error;
    }
  });
}
