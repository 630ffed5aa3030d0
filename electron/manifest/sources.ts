/** Reads a manifest, its source and the files that the source includes. */
import fs from "node:fs";
import path from "node:path";
import type { MetalSource } from "../../native/device.ts";
import { JSON_LIMITS, parseStrictJson, StrictJsonError } from "../evidence/json.ts";
import { UsageError } from "../runs/usage.ts";
import { type Manifest, manifestSchema } from "./manifest.ts";

/** Most files and bytes that one source may include. */
const LIMITS = { files: 2000, bytes: 64 * 1024 * 1024 } as const;

export interface LoadedManifest {
  readonly manifest: Manifest;
  readonly path: string;
  readonly source: MetalSource;
  readonly includes: readonly MetalSource[];
}

/**
 * Reads a manifest and its source. Paths of sources are relative to `root`, by default the manifest's folder, and are
 * shown as the manifest states them. Throws `UsageError` with the file, the place in it and the mend.
 */
export function loadManifest(file: string, root?: string): LoadedManifest {
  const manifest = parseManifest(readText(file, "The manifest", JSON_LIMITS.bytes), file);
  const folder = path.resolve(root ?? path.dirname(file));
  const inFolder = (name: string): string => {
    const whole = path.resolve(folder, name);
    if (whole !== folder && !whole.startsWith(folder + path.sep)) {
      throw new UsageError(`${file}: "${name}" leads out of ${folder}: give --root a folder above it.`);
    }
    return whole;
  };
  const budget = { files: 0, bytes: 0 };
  const source = { path: manifest.source, text: readText(inFolder(manifest.source), "The source", LIMITS.bytes) };
  const includePaths = [".", ...(manifest.includePaths ?? [])].map(inFolder);
  const includes = new Map<string, MetalSource>();
  const collect = (from: string, text: string): void => {
    for (const [, name = ""] of text.matchAll(/^[ \t]*#[ \t]*(?:include|import)[ \t]*"([^"\n]+)"/gm)) {
      const found = [path.dirname(from), ...includePaths]
        .map((place) => path.resolve(place, name))
        .find((candidate) => candidate.startsWith(folder + path.sep) && fs.existsSync(candidate));
      if (found === undefined || includes.has(found) || found === inFolder(manifest.source)) continue;
      const included = readText(found, "The included file", LIMITS.bytes);
      budget.files += 1;
      budget.bytes += included.length;
      if (budget.files > LIMITS.files || budget.bytes > LIMITS.bytes) {
        throw new UsageError(`${manifest.source} includes more than ${LIMITS.files} files or ${LIMITS.bytes} bytes.`);
      }
      includes.set(found, { path: path.relative(folder, found).split(path.sep).join("/"), text: included });
      collect(found, included);
    }
  };
  collect(inFolder(manifest.source), source.text);
  return { manifest, path: file, source, includes: [...includes.values()] };
}

/** A manifest whose files are at hand as texts. Throws `UsageError` where it does not fit or names a file that is not there. */
export function manifestOfTexts(name: string, text: string, files: readonly MetalSource[]): LoadedManifest {
  const manifest = parseManifest(text, name);
  const source = files.find((file) => file.path === manifest.source);
  if (source === undefined) {
    const there = files.map((file) => file.path).join(", ") || "none";
    throw new UsageError(`${name}: the source "${manifest.source}" is none of the texts: ${there}.`);
  }
  return { manifest, path: name, source, includes: files.filter((file) => file !== source) };
}

/** A manifest from its text. Throws `UsageError` with the place that does not fit. */
export function parseManifest(text: string, where: string): Manifest {
  let value: unknown;
  try {
    value = parseStrictJson(text, where);
  } catch (error) {
    throw error instanceof StrictJsonError ? new UsageError(error.message) : error;
  }
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(
    `${where}: ${issue?.path.map(String).join(".") || "the manifest"}: ${issue?.message ?? "does not fit"}. docs/kernel-manifest.md has the schema.`,
  );
}

function readText(file: string, what: string, most: number): string {
  try {
    const stat = fs.statSync(file);
    if (!stat.isFile()) throw new UsageError(`${what} ${file} is no file.`);
    if (stat.size > most) throw new UsageError(`${what} ${file} has ${stat.size} bytes; the limit is ${most}.`);
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`${what} ${file} cannot be read (${code ?? String(error)}): check the path, or give --root.`);
  }
}
