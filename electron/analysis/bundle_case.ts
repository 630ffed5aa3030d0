/** A case of a bundle: its record, its raw outputs, its inputs' origin. Every byte that is used is held to its digest. */
import fs from "node:fs";
import path from "node:path";
import { openSafetensors } from "../../oracle/safetensors.ts";
import { type FloatDtype, tensorFromBytes, widenToF64 } from "../../oracle/tensor.ts";
import { type Case, outputLayout } from "../cases/case.ts";
import { inputBuffers } from "../cases/inputs.ts";
import { tensorName } from "../cases/layout.ts";
import { MANIFEST, parseManifest, sha256 } from "../evidence/bag.ts";
import { JSON_LIMITS, parseStrictJson, StrictJsonError } from "../evidence/json.ts";
import { type CaseRecord, type ResultRecord, type RunRecord, recordSchema } from "../runs/record.ts";
import { InspectError } from "./messages.ts";

const RECORD = "data/record.json";
const VERIFY = "verify the bundle";

export interface OpenBundle {
  readonly folder: string;
  readonly record: RunRecord;
  /** SHA-256 of the record's bytes, as the manifest has it. */
  readonly recordSha256: string;
}

/** Bytes of a plain file of the bundle. Links are not followed. */
function readFile(folder: string, file: string): Buffer {
  const target = path.join(folder, file);
  try {
    const root = fs.realpathSync(folder);
    if (fs.realpathSync(target) !== path.join(root, file)) {
      throw new InspectError(
        "changed",
        `${file} is a link that leads elsewhere`,
        "do not trust this bundle; verify it",
      );
    }
    return fs.readFileSync(target);
  } catch (error) {
    if (error instanceof InspectError) throw error;
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw new InspectError(
      "io",
      `${target} cannot be read (${code})`,
      "list the runs again; the bundle may have moved",
    );
  }
}

/**
 * Reads the record of a bundle; `known` is given back where nothing changed. Throws `InspectError` where it cannot be read,
 * does not fit its schema, or is not the one that the manifest lists.
 */
export function openBundle(folder: string, known?: OpenBundle): OpenBundle {
  const bytes = readFile(folder, RECORD);
  const digest = sha256(bytes);
  const listed = parseManifest(readFile(folder, MANIFEST).toString("utf8"), MANIFEST).entries.get(RECORD);
  if (listed !== digest) {
    throw new InspectError(
      "changed",
      `${RECORD}: its bytes differ from the manifest of ${path.basename(folder)}`,
      VERIFY,
    );
  }
  if (known?.folder === folder && known.recordSha256 === digest) return known;
  if (bytes.length > JSON_LIMITS.bytes) {
    throw new InspectError("io", `${RECORD} is ${bytes.length} bytes; the limit is ${JSON_LIMITS.bytes}`, VERIFY);
  }
  try {
    const parsed = recordSchema.safeParse(parseStrictJson(bytes.toString("utf8"), RECORD));
    if (parsed.success) return { folder, record: parsed.data, recordSha256: digest };
    const [issue] = parsed.error.issues;
    const words = `${issue?.path.join(".") || "record"}: ${issue?.message ?? "does not fit"}`;
    throw new InspectError(
      "io",
      `${RECORD} does not fit its schema: ${words}`,
      "it may be of another version; verify it",
    );
  } catch (error) {
    if (error instanceof StrictJsonError) throw new InspectError("io", error.message, VERIFY);
    throw error;
  }
}

/** The case of a record. Throws `InspectError` naming what is there. */
export function findCase(record: RunRecord, key: string): CaseRecord {
  const found = record.cases.find((entry) => entry.key === key);
  if (found === undefined) {
    throw new InspectError("usage", `The record has no case "${key}"`, "take a case of the record");
  }
  if (found.inputs.length === 0) {
    throw new InspectError("usage", `${key} was planned and never begun`, "run it again");
  }
  return found;
}

export function findResult(record: RunRecord, key: string, route: string): ResultRecord {
  const found = record.results.find((entry) => entry.case === key && entry.route === route);
  if (found === undefined) {
    const routes = record.results.filter((entry) => entry.case === key).map((entry) => entry.route);
    const there = routes.length === 0 ? "there is none for this case" : `there are ${routes.join(", ")}`;
    throw new InspectError("usage", `${key} has no result of "${route}"; ${there}`, "take a route of the record");
  }
  return found;
}

/** An output of a route: raw bytes, and values widened exactly. */
export interface RouteOutput {
  readonly dtype: FloatDtype;
  readonly bytes: Uint8Array;
  readonly values: Float64Array;
  readonly sha256: string;
}

/**
 * Reads an output of a result; undefined where the route wrote none of that name. Throws `InspectError` (`changed`) where
 * the bytes are not those that the record binds.
 */
export function readOutput(
  bundle: OpenBundle,
  entry: CaseRecord,
  result: ResultRecord,
  name: "out" | "lse",
): RouteOutput | undefined {
  const listed = result.outputs.find((output) => output.name === name);
  if (listed === undefined) return undefined;
  const bytes = readFile(bundle.folder, listed.path);
  const digest = sha256(bytes);
  if (digest !== listed.sha256) {
    const sides = `${listed.path} has the digest ${digest.slice(0, 12)}, the record says ${listed.sha256.slice(0, 12)}`;
    throw new InspectError("changed", `The output was changed after the run: ${sides}`, VERIFY);
  }
  const { rows, width } = outputLayout(entry.shape);
  const count = name === "out" ? rows * width : rows;
  const expected = count * (listed.dtype === "f32" ? 4 : 2);
  // A tensor without elements is one word long.
  if (bytes.length < expected || (count > 0 && bytes.length !== expected)) {
    throw new InspectError("changed", `${listed.path} is ${bytes.length} bytes; its case needs ${expected}`, VERIFY);
  }
  const values = widenToF64(tensorFromBytes(listed.dtype, [count], bytes.subarray(0, expected)));
  return { dtype: listed.dtype, bytes, values, sha256: digest };
}

/** The out of a result, or why there is none. */
export function requireOut(bundle: OpenBundle, entry: CaseRecord, result: ResultRecord): RouteOutput {
  const out = readOutput(bundle, entry, result, "out");
  if (out !== undefined) return out;
  const why = result.error === null ? "" : `: ${result.error}`;
  throw new InspectError(
    "usage",
    `${result.route} gave no output on ${result.case}${why}`,
    "take another route, or re-run it",
  );
}

/** Where files with inputs may be. */
export interface InputPlaces {
  /** The path that the request names. */
  readonly inputs: string | null;
  /** Folder of the golden files. */
  readonly golden: string;
}

/** The argument behind `--inputs` in the command of a run. */
function commandInputs(command: readonly string[]): string | undefined {
  const joined = command.find((word) => word.startsWith("--inputs="));
  if (joined !== undefined) return joined.slice("--inputs=".length);
  const at = command.indexOf("--inputs");
  return at < 0 ? undefined : command[at + 1];
}

/**
 * The case as the run had it. A file is sought where the request says, where the command of the run found it, and among the
 * golden files; its tensors are held to their digests when they are read. Throws `InspectError` (`input`) where it is
 * nowhere.
 */
export function caseOf(record: RunRecord, entry: CaseRecord, places: InputPlaces): Case {
  const { key, shape, source, boundary } = entry;
  const made = { key, alias: key, shape, source, boundary };
  if (source.kind === "generator") return { ...made, path: "" };
  const named = commandInputs(record.command);
  const candidates =
    places.inputs !== null
      ? [path.resolve(places.inputs)]
      : [...(named === undefined ? [] : [path.resolve(named)]), path.join(places.golden, source.file)];
  const found = candidates.find((file) => fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true);
  if (found === undefined) {
    throw new InspectError(
      "input",
      `The inputs of ${key} are in ${source.file}, which is not there (sought: ${candidates.join(", ")})`,
      "name the file that holds them",
    );
  }
  checkTensors(found, entry);
  return { ...made, path: found };
}

/** Throws `InspectError` (`input`) unless the file holds every tensor of the case. */
function checkTensors(file: string, { key, shape, source }: CaseRecord): void {
  if (source.kind === "generator") return;
  const inputs = source.kind === "scores" ? ["scores", "v"] : inputBuffers(shape).map((buffer) => buffer.name);
  const { entries } = openSafetensors(file);
  const missing = inputs.map((name) => tensorName(source.prefix, name)).find((name) => !entries.has(name));
  if (missing !== undefined) {
    throw new InspectError(
      "input",
      `${file} has no tensor "${missing}", which ${key} needs`,
      "name the file of the run",
    );
  }
}
