/**
 * The bundles of the evidence folder: listed when asked for, read once, read again when they change; what was read is kept
 * between two starts. A folder that is no bundle is listed as such. Nothing here verifies: a list says what records say.
 */
import fs from "node:fs/promises";
import path from "node:path";
import type * as z from "zod";
import { tensorFromBytes } from "../../oracle/tensor.ts";
import { type CallOutput, type RunEntry, runIdSchema } from "../contract.ts";
import { MANIFEST, sha256 } from "../evidence/bag.ts";
import { JSON_LIMITS, parseStrictJson } from "../evidence/json.ts";
import { LOG_FILE, type LogLine, logLineSchema } from "../runs/log.ts";
import {
  type Metrics,
  metricsSchema,
  type PipelineReceipt,
  type RunRecord,
  receiptSchema,
  recordSchema,
} from "../runs/record.ts";
import { type RouteCheck, routeCheckSchema } from "../runs/route_check.ts";
import { WorkbenchError } from "./failure.ts";
import { type Indexed, readIndex, writeIndex } from "./history_index.ts";

const RECORD = "data/record.json";
const SUFFIX = ".lockstep";

/** Records are large; the ones looked at last are kept. */
const KEPT_RECORDS = 8;

export class History {
  /** Folder of the bundles. It need not be there. */
  readonly folder: string;
  readonly #known = new Map<string, Indexed>();
  #index: Promise<void> | undefined;
  readonly #records = new Map<string, { readonly stamp: string; readonly record: RunRecord }>();

  readonly #elsewhere: (id: string) => string | undefined;

  /** `elsewhere` gives the folder of a bundle that was opened from outside. */
  constructor(folder: string, elsewhere: (id: string) => string | undefined = () => undefined) {
    this.folder = folder;
    this.#elsewhere = elsewhere;
  }

  /** Every bundle, newest first; what is no bundle comes last. */
  async list(): Promise<readonly RunEntry[]> {
    this.#index ??= readIndex(this.folder).then((bundles) => {
      for (const [id, indexed] of bundles) this.#known.set(id, indexed);
    });
    await this.#index;
    const names = await this.#names();
    const before = new Map(this.#known);
    const entries: RunEntry[] = [];
    for (const name of names) entries.push(await this.#entry(name));
    const own = new Map(names.flatMap((name) => (this.#known.has(name) ? [[name, this.#known.get(name)!]] : [])));
    if ([...own].some(([name, known]) => before.get(name) !== known)) await writeIndex(this.folder, own);
    const time = (entry: RunEntry): string => (entry.state === "bad" ? "" : entry.startedAt);
    return entries.sort((a, b) => (time(a) < time(b) ? 1 : -1));
  }

  /** The entry of one bundle. */
  entry(id: string): Promise<RunEntry> {
    return this.#entry(id);
  }

  async record(id: string): Promise<RunRecord> {
    const folder = await this.bundle(id);
    const stamp = await stampOf(folder);
    const kept = this.#records.get(id);
    if (kept?.stamp === stamp) return kept.record;
    const record = await readJson(folder, RECORD, recordSchema);
    this.#records.delete(id);
    this.#records.set(id, { stamp, record });
    for (const [oldest] of this.#records) {
      if (this.#records.size <= KEPT_RECORDS) break;
      this.#records.delete(oldest);
    }
    return record;
  }

  async metrics(id: string, caseKey: string, route: string): Promise<Metrics> {
    const record = await this.record(id);
    const result = record.results.find((entry) => entry.case === caseKey && entry.route === route);
    if (result === undefined) {
      throw new WorkbenchError(
        `${id} has no result of ${route} on ${caseKey}`,
        "take a case and a route of its record",
      );
    }
    if (result.metricsPath === null) {
      throw new WorkbenchError(`${route} on ${caseKey} has no output, so no metrics`, "see the reason in its result");
    }
    return readJson(await this.bundle(id), result.metricsPath, metricsSchema);
  }

  /** A receipt that a result of the record lists. */
  async receipt(id: string, file: string): Promise<PipelineReceipt> {
    const record = await this.record(id);
    if (!record.results.some((result) => result.receipts.includes(file))) {
      throw new WorkbenchError(`${file} is no receipt of ${id}`, "take a path of the record's results");
    }
    return readJson(await this.bundle(id), file, receiptSchema);
  }

  /** The checker's word that a result of the record names. */
  async check(id: string, file: string): Promise<RouteCheck> {
    const record = await this.record(id);
    if (!record.results.some((result) => result.check === file)) {
      throw new WorkbenchError(`${file} holds no reports of ${id}`, "take a path of the record's results");
    }
    return readJson(await this.bundle(id), file, routeCheckSchema);
  }

  /** The source of a kernel that the record lists. */
  async kernel(id: string, file: string): Promise<string> {
    const record = await this.record(id);
    if (!record.files.some(({ path: listed, role }) => listed === file && role === "kernel")) {
      throw new WorkbenchError(`${file} is no kernel of ${id}`, "take a path of the record's files");
    }
    return readText(await this.bundle(id), file);
  }

  /** The log of a bundle; null where it has none. */
  async log(id: string): Promise<readonly LogLine[] | null> {
    const folder = await this.bundle(id);
    const record = await this.record(id);
    if (!record.files.some((file) => file.role === "log")) return null;
    const text = await readText(folder, LOG_FILE);
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.map((line, index) => {
      const parsed = logLineSchema.safeParse(parseStrictJson(line, `${LOG_FILE}, line ${index + 1}`));
      if (parsed.success) return parsed.data;
      throw new WorkbenchError(`${LOG_FILE}, line ${index + 1} is no line of a log`, "verify the bundle");
    });
  }

  /** An output that the record of a bundle lists. */
  async array(id: string, file: string): Promise<CallOutput<"runs.array">> {
    const record = await this.record(id);
    const output = record.results.flatMap((result) => result.outputs).find((entry) => entry.path === file);
    if (output === undefined) {
      throw new WorkbenchError(`${file} is no output of ${id}`, "take a path of the record's results");
    }
    const bytes = await fs.readFile(await inside(await this.bundle(id), file));
    const { dtype, shape } = output;
    const tensor = tensorFromBytes(dtype, shape, bytes);
    if (tensor.dtype !== "f32" && tensor.dtype !== "f16" && tensor.dtype !== "bf16") {
      throw new Error(`${file} is ${tensor.dtype}; outputs are f32, f16 or bf16.`);
    }
    return { dtype, shape: [...shape], data: tensor.data };
  }

  /** Folder of a bundle. Throws `WorkbenchError` where it is not there. */
  async bundle(id: string): Promise<string> {
    const folder = this.#elsewhere(id) ?? path.join(this.folder, runIdSchema.parse(id));
    const stat = await fs.lstat(folder).catch(() => undefined);
    if (stat?.isDirectory() !== true) {
      throw new WorkbenchError(`${id} is not in ${this.folder}`, "list the runs again; the bundle may have been moved");
    }
    return folder;
  }

  async #names(): Promise<readonly string[]> {
    try {
      const names = await fs.readdir(this.folder);
      return names.filter((name) => name.endsWith(SUFFIX) && !name.startsWith("."));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw new WorkbenchError(
        `${this.folder} cannot be listed: ${error instanceof Error ? error.message : String(error)}`,
        "give another folder with --evidence",
      );
    }
  }

  async #entry(name: string): Promise<RunEntry> {
    try {
      const folder = await this.bundle(name);
      const stamp = await stampOf(folder);
      const known = this.#known.get(name);
      if (known?.stamp === stamp) return known.entry;
      const record = await this.record(name);
      const manifest = await fs.readFile(await inside(folder, MANIFEST));
      const entry = keptEntry(name, record, sha256(manifest));
      this.#known.set(name, { stamp, entry });
      return entry;
    } catch (error) {
      return { state: "bad", id: name, reason: reasonOf(error), mend: "verify it, or move it out of the folder" };
    }
  }
}

/** The entry of a bundle in the list of runs. */
export function keptEntry(id: string, record: RunRecord, identity: string): RunEntry {
  const count = (verdict: string): number => record.results.filter((result) => result.verdict === verdict).length;
  const { device, producer } = record;
  return {
    state: "kept",
    id,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt,
    outcome: record.outcome,
    outcomeReason: record.outcomeReason,
    execution: record.execution,
    device: device?.id ?? producer?.chip ?? "unknown",
    deviceName: device?.name.value ?? producer?.chip ?? "unknown",
    virtualGpu: device?.virtualGpu?.value ?? false,
    suite: record.suite,
    command: record.command,
    cases: record.cases.length,
    planned: record.planned.length,
    passed: count("pass"),
    failed: count("fail"),
    bytes: record.files.reduce((sum, file) => sum + Number(file.bytes), 0),
    identity,
    gates: record.gates.sha256,
    claims: record.claims,
  };
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "a file that every bundle has is missing: the record or the manifest";
  if (error instanceof Error && error.name === "ZodError") return "its name is not that of a bundle";
  return error instanceof Error ? error.message : String(error);
}

/** Changes when the record or the manifest changes; the last time of each is set by the system alone. */
async function stampOf(folder: string): Promise<string> {
  const stats = await Promise.all([RECORD, MANIFEST].map((file) => fs.stat(path.join(folder, file))));
  return stats.map((stat) => `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`).join(" ");
}

/** The real path of a file of a bundle. Throws where a link leads out of it. */
async function inside(folder: string, file: string): Promise<string> {
  const [root, real] = await Promise.all([fs.realpath(folder), fs.realpath(path.join(folder, file))]);
  if (!real.startsWith(root + path.sep)) {
    throw new WorkbenchError(`${file} leads out of its bundle`, "do not trust this bundle; verify it");
  }
  // Reading a named pipe would never end.
  if (!(await fs.stat(real)).isFile()) {
    throw new WorkbenchError(`${file} is no regular file`, "do not trust this bundle; verify it");
  }
  return real;
}

async function readText(folder: string, file: string): Promise<string> {
  const real = await inside(folder, file);
  const { size } = await fs.stat(real);
  if (size > JSON_LIMITS.bytes) {
    throw new WorkbenchError(`${file} is ${size} bytes; the limit is ${JSON_LIMITS.bytes}`, "verify the bundle");
  }
  return fs.readFile(real, "utf8");
}

async function readJson<T>(folder: string, file: string, schema: z.ZodType<T>): Promise<T> {
  const parsed = schema.safeParse(parseStrictJson(await readText(folder, file), file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new WorkbenchError(
    `${file} does not fit its schema at ${issue?.path.join(".") || "its top"}: ${issue?.message ?? "unknown"}`,
    "verify the bundle; it may be of another version",
  );
}
