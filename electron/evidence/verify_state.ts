/** What the checks of a verification share: the bundle's files, what was found so far, and how a file may be read. */
import fs from "node:fs";
import path from "node:path";
import type * as z from "zod";
import type { RunRecord } from "../runs/record.ts";
import { type BagFile, BUNDLE_LIMITS, sha256File } from "./bag.ts";
import { JSON_LIMITS, parseStrictJson } from "./json.ts";

export const RECORD = "data/record.json";

/** What earlier checks found; later ones build on it. */
export interface VerifyState {
  readonly root: string;
  /** Called for each file that was read whole. */
  readonly onBytes: (bytes: number) => void;
  files: readonly BagFile[];
  manifest: ReadonlyMap<string, string>;
  identity: string | null;
  record: RunRecord | null;
  readonly notes: string[];
}

/**
 * Path of a file that may be read: the walk found it to be a plain one (a pipe never ends) and it is not above `limit`
 * bytes. Throws Error where it is not.
 */
export function readable(state: VerifyState, file: string, limit: number): string {
  const found = state.files.find((entry) => entry.path === file);
  if (found === undefined) throw new Error(`${file}: missing, or no plain file`);
  if (found.bytes > limit) throw new Error(`${file}: ${found.bytes} bytes; the limit is ${limit}`);
  return path.join(state.root, file);
}

export function readText(state: VerifyState, file: string): string {
  return fs.readFileSync(readable(state, file, JSON_LIMITS.bytes), "utf8");
}

/** SHA-256 of a file within the limits of a bundle. */
export function digestOf(state: VerifyState, file: string): string {
  return sha256File(readable(state, file, BUNDLE_LIMITS.fileBytes));
}

export function payload(state: VerifyState): readonly BagFile[] {
  return state.files.filter((file) => file.path.startsWith("data/"));
}

/** Bytes of a file that must be UTF-8 without loss. */
export function readJson(state: VerifyState, file: string): unknown {
  const bytes = fs.readFileSync(readable(state, file, JSON_LIMITS.bytes));
  return parseStrictJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), file);
}

export function schemaReasons(file: string, schema: z.ZodType, value: unknown): readonly string[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues
    .slice(0, 5)
    .map((issue) => `${file}: ${issue.path.join(".") || "value"}: ${issue.message}`);
}
