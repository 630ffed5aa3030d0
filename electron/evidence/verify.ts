/**
 * `lockstep verify`: fail-closed and offline. Every check runs; one that cannot run counts as broken. The identity of a
 * bundle is the digest of its manifest.
 */
import fs from "node:fs";
import path from "node:path";
import type * as z from "zod";
import { gatesDigest } from "../gates/digest.ts";
import { verdictOf } from "../gates/evaluate.ts";
import { GATES, type GateId } from "../gates/gates.ts";
import { LOG_FILE, LOG_LINE_BYTES, type LogLine, logLineSchema } from "../runs/log.ts";
import { outcomeOf } from "../runs/outcome.ts";
import {
  BUNDLE_PATH,
  decisionSchema,
  hostSchema,
  metricsSchema,
  producerSchema,
  profileSchema,
  type RunRecord,
  receiptSchema,
  recordSchema,
} from "../runs/record.ts";
import { checkErrors, routeCheckSchema } from "../runs/route_check.ts";
import {
  BAGIT_TXT,
  type BagFile,
  BUNDLE_LIMITS,
  MANIFEST,
  parseManifest,
  sha256,
  sha256File,
  TAG_FILES,
  TAG_MANIFEST,
  walk,
} from "./bag.ts";
import { roleOf } from "./bundle.ts";
import { JSON_LIMITS, parseStrictJson, stableJson } from "./json.ts";
import { claimsOf } from "./level.ts";
import { REPORT_VERSION, reportFiles } from "./report.ts";

export interface CheckResult {
  readonly id: string;
  readonly title: string;
  /** Empty where the check held. */
  readonly reasons: readonly string[];
}

export interface Verification {
  readonly result: "valid" | "invalid";
  readonly checks: readonly CheckResult[];
  /** SHA-256 of the manifest; null where there is none. */
  readonly identity: string | null;
  /** Facts that are no fault: an unknown set of gates, for example. */
  readonly notes: readonly string[];
  readonly record: RunRecord | null;
}

/** How far a verification has come. */
export interface VerifyProgress {
  /** The check that runs, from 1. */
  readonly step: number;
  readonly steps: number;
  readonly title: string;
  /** Bytes of the payload that were read against their digests. */
  readonly bytes: number;
  readonly totalBytes: number;
}

/** What earlier checks found; later ones build on it. */
interface State {
  readonly root: string;
  /** Called for each file that was read whole. */
  readonly onBytes: (bytes: number) => void;
  files: readonly BagFile[];
  manifest: ReadonlyMap<string, string>;
  identity: string | null;
  record: RunRecord | null;
  readonly notes: string[];
}

interface Check {
  readonly id: string;
  readonly title: string;
  readonly run: (state: State) => readonly string[];
}

const TOP_LEVEL = [...TAG_FILES, TAG_MANIFEST];
const RECORD = "data/record.json";

/**
 * Path of a file that may be read: the walk found it to be a plain one (a pipe never ends) and it is not above `limit`
 * bytes. Throws Error where it is not.
 */
function readable(state: State, file: string, limit: number): string {
  const found = state.files.find((entry) => entry.path === file);
  if (found === undefined) throw new Error(`${file}: missing, or no plain file`);
  if (found.bytes > limit) throw new Error(`${file}: ${found.bytes} bytes; the limit is ${limit}`);
  return path.join(state.root, file);
}

function readText(state: State, file: string): string {
  return fs.readFileSync(readable(state, file, JSON_LIMITS.bytes), "utf8");
}

/** SHA-256 of a file within the limits of a bundle. */
function digestOf(state: State, file: string): string {
  return sha256File(readable(state, file, BUNDLE_LIMITS.fileBytes));
}

function payload(state: State): readonly BagFile[] {
  return state.files.filter((file) => file.path.startsWith("data/"));
}

/** Bytes of a file that must be UTF-8 without loss. */
function readJson(state: State, file: string): unknown {
  const bytes = fs.readFileSync(readable(state, file, JSON_LIMITS.bytes));
  return parseStrictJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), file);
}

function schemaReasons(file: string, schema: z.ZodType, value: unknown): readonly string[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues
    .slice(0, 5)
    .map((issue) => `${file}: ${issue.path.join(".") || "value"}: ${issue.message}`);
}

/** Schema of every JSON payload file, by role. `gates.json` has a digest instead. */
const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  device: profileSchema,
  host: hostSchema,
  producer: producerSchema,
  dispatch: decisionSchema,
  receipt: receiptSchema,
  check: routeCheckSchema,
  metrics: metricsSchema,
};

const CHECKS: readonly Check[] = [
  {
    id: "files",
    title: "plain files with lower-case names, within the limits",
    run: (state) => {
      const { files, refused } = walk(state.root);
      state.files = files;
      const reasons = [...refused];
      const total = files.reduce((sum, file) => sum + file.bytes, 0);
      if (files.length > BUNDLE_LIMITS.entries)
        reasons.push(`${files.length} files; the limit is ${BUNDLE_LIMITS.entries}`);
      if (total > BUNDLE_LIMITS.totalBytes) reasons.push(`${total} bytes; the limit is ${BUNDLE_LIMITS.totalBytes}`);
      for (const file of files) {
        if (file.bytes > BUNDLE_LIMITS.fileBytes) {
          reasons.push(`${file.path}: ${file.bytes} bytes; the limit is ${BUNDLE_LIMITS.fileBytes}`);
        }
        if (!file.path.startsWith("data/")) {
          if (!TOP_LEVEL.includes(file.path)) reasons.push(`${file.path}: does not belong into a bundle`);
        } else if (!BUNDLE_PATH.test(file.path)) {
          reasons.push(`${file.path}: not a lower-case path`);
        }
      }
      for (const file of TOP_LEVEL) {
        if (!files.some((found) => found.path === file)) reasons.push(`${file}: missing`);
      }
      return reasons;
    },
  },
  {
    id: "bagit",
    title: "bagit.txt is exactly that of BagIt 1.0",
    run: (state) =>
      readText(state, "bagit.txt") === BAGIT_TXT ? [] : ["bagit.txt: other than the two lines of BagIt 1.0"],
  },
  {
    id: "complete",
    title: "files and manifest list each other",
    run: (state) => {
      const text = readText(state, MANIFEST);
      state.identity = sha256(text);
      const { entries, errors } = parseManifest(text, MANIFEST);
      state.manifest = entries;
      const present = new Set(payload(state).map((file) => file.path));
      return [
        ...errors,
        ...[...entries.keys()].filter((file) => !present.has(file)).map((file) => `${file}: listed and missing`),
        ...[...present].filter((file) => !entries.has(file)).map((file) => `${file}: present and not listed`),
      ];
    },
  },
  {
    id: "digests",
    title: "every payload file has the digest of the manifest",
    run: (state) =>
      payload(state)
        .filter((file) => state.manifest.has(file.path))
        .filter((file) => {
          const digest = digestOf(state, file.path);
          state.onBytes(file.bytes);
          return digest !== state.manifest.get(file.path);
        })
        .map((file) => `${file.path}: its bytes differ from the manifest`),
  },
  {
    id: "tags",
    title: "the tag manifest binds bag-info.txt, bagit.txt and the manifest",
    run: (state) => {
      const { entries, errors } = parseManifest(readText(state, TAG_MANIFEST), TAG_MANIFEST);
      const reasons = [...errors];
      for (const file of TAG_FILES) {
        const listed = entries.get(file);
        if (listed === undefined) reasons.push(`${TAG_MANIFEST}: ${file} is not listed`);
        else if (listed !== digestOf(state, file)) reasons.push(`${file}: its bytes differ from the tag manifest`);
      }
      for (const file of entries.keys()) {
        if (!TAG_FILES.some((tag) => tag === file)) reasons.push(`${TAG_MANIFEST}: ${file} is no tag file`);
      }
      return reasons;
    },
  },
  {
    id: "oxum",
    title: "Payload-Oxum counts bytes and files",
    run: (state) => {
      const files = payload(state);
      const actual = `${files.reduce((sum, file) => sum + file.bytes, 0)}.${files.length}`;
      const stated = /^Payload-Oxum: (\d+\.\d+)$/m.exec(readText(state, "bag-info.txt"))?.[1];
      return stated === actual
        ? []
        : [`bag-info.txt: Payload-Oxum is ${stated ?? "missing"}, the payload is ${actual}`];
    },
  },
  {
    id: "json",
    title: "every JSON file is strict and fits its schema",
    run: (state) => {
      const reasons: string[] = [];
      for (const { path: file } of payload(state)) {
        if (!file.endsWith(".json")) continue;
        try {
          const value = readJson(state, file);
          const role = roleOf(file);
          const schema = file === RECORD ? recordSchema : SCHEMAS[role ?? ""];
          if (schema !== undefined) reasons.push(...schemaReasons(file, schema, value));
          if (file === RECORD) {
            const parsed = recordSchema.safeParse(value);
            if (parsed.success) state.record = parsed.data;
          }
        } catch (error) {
          reasons.push(error instanceof Error ? error.message : String(error));
        }
      }
      if (state.record === null && reasons.length === 0) reasons.push(`${RECORD}: missing`);
      return reasons;
    },
  },
  { id: "references", title: "record and files refer to each other", run: (state) => referenceReasons(state) },
  { id: "checks", title: "the checker's gate says what its reports say", run: (state) => checkerReasons(state) },
  {
    id: "verdicts",
    title: "verdicts, outcome and claims follow from the gates",
    run: (state) => verdictReasons(state),
  },
  {
    id: "derived",
    title: "log and report say what the record says",
    run: (state) => [...logReasons(state), ...reportReasons(state)],
  },
];

/** A result's gate on the checker must count what the file of reports holds, for the same route. */
function checkerReasons(state: State): readonly string[] {
  const { record } = state;
  if (record === null) return ["no record to check"];
  return record.results.flatMap(({ case: key, route, check: file, gates }) => {
    const gate = gates.find(({ id }) => id === "checker");
    if (file === undefined || gate === undefined) return [];
    const name = `${key}, ${route}`;
    try {
      const check = routeCheckSchema.parse(readJson(state, file));
      if (check.route !== route) return [`${file}: of ${check.route}, named by ${name}`];
      const whole = check.result.complete && check.result.dropped === 0;
      const errors = whole ? checkErrors(check.result) : null;
      return gate.value === errors ? [] : [`${name}: gate "checker" is ${gate.value}; ${file} has ${errors} errors`];
    } catch (error) {
      return [`${file}: ${error instanceof Error ? error.message.split("\n", 1)[0] : String(error)}`];
    }
  });
}

/** Lines of the log, each strict JSON. Throws Error for what is none. */
function readLog(state: State): readonly LogLine[] {
  const bytes = fs.readFileSync(readable(state, LOG_FILE, JSON_LIMITS.bytes));
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  if (!text.endsWith("\n")) throw new Error(`${LOG_FILE}: the last line does not end`);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line, index) => {
      const where = `${LOG_FILE}, line ${index + 1}`;
      if (line.length > LOG_LINE_BYTES)
        throw new Error(`${where}: ${line.length} bytes; the limit is ${LOG_LINE_BYTES}`);
      const parsed = logLineSchema.safeParse(parseStrictJson(line, where));
      if (!parsed.success) throw new Error(schemaReasons(where, logLineSchema, JSON.parse(line))[0] ?? where);
      return parsed.data;
    });
}

/** Verdicts and the outcome stand in both; a log must not tell another story than its record. */
function logReasons(state: State): readonly string[] {
  const { record } = state;
  if (record === null) return ["no record to check"];
  // Bundles of earlier versions have no log.
  if (!state.files.some((file) => file.path === LOG_FILE)) return [];
  let lines: readonly LogLine[];
  try {
    lines = readLog(state);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  const reasons: string[] = [];
  const said = lines.flatMap((line) => (line.type === "result" ? [line] : []));
  if (said.length !== record.results.length) {
    reasons.push(`${LOG_FILE}: ${said.length} results, the record has ${record.results.length}`);
  }
  for (const [index, result] of record.results.entries()) {
    const line = said[index];
    const same =
      line !== undefined &&
      line.case === result.case &&
      line.route === result.route &&
      line.verdict === result.verdict &&
      line.state === result.state;
    if (!same) {
      reasons.push(`${LOG_FILE}: result ${index + 1} is not ${result.case}, ${result.route}, ${result.verdict}`);
      break;
    }
  }
  const last = lines.at(-1);
  if (last?.type !== "ended" || last.outcome !== record.outcome) {
    reasons.push(`${LOG_FILE}: its last line does not end as "${record.outcome}"`);
  }
  if (lines.some((line, index) => index > 0 && line.at < lines[index - 1]!.at)) {
    reasons.push(`${LOG_FILE}: its times run backwards`);
  }
  return reasons;
}

/** A report is written again from the record and compared. One of another version of the writers is noted, not judged. */
function reportReasons(state: State): readonly string[] {
  const { record } = state;
  if (record === null || !record.files.some((file) => file.role === "report")) return [];
  return reportFiles(record).flatMap(({ path: file, text }) => {
    if (!state.files.some((found) => found.path === file))
      return [`${file}: missing, and other parts of a report are there`];
    const found = readText(state, file);
    if (found === text) return [];
    if (!found.includes(REPORT_VERSION)) {
      state.notes.push(`${file} is of another version and was not compared with the record: read the record.`);
      return [];
    }
    return [`${file}: not what the record gives`];
  });
}

function referenceReasons(state: State): readonly string[] {
  const { record } = state;
  if (record === null) return ["no record to check"];
  const reasons: string[] = [];
  const listed = new Map(record.files.map((file) => [file.path, file]));
  if (listed.size !== record.files.length) reasons.push(`${RECORD}: a file is listed twice`);
  for (const file of payload(state)) {
    if (file.path === RECORD) continue;
    const entry = listed.get(file.path);
    if (entry === undefined) reasons.push(`${file.path}: not in the record`);
    else {
      if (entry.bytes !== String(file.bytes))
        reasons.push(`${file.path}: ${file.bytes} bytes, the record says ${entry.bytes}`);
      if (entry.sha256 !== state.manifest.get(file.path))
        reasons.push(`${file.path}: record and manifest differ in the digest`);
      if (entry.role !== roleOf(file.path)) reasons.push(`${file.path}: its role is not "${entry.role}"`);
    }
  }
  const present = new Set(payload(state).map((file) => file.path));
  for (const file of listed.keys()) if (!present.has(file)) reasons.push(`${file}: in the record and missing`);

  for (const file of ["data/command.txt", "data/gates/gates.json", "data/env/host.json"]) {
    if (!listed.has(file)) reasons.push(`${file}: every bundle has one`);
  }
  if (listed.get("data/gates/gates.json")?.sha256 !== record.gates.sha256)
    reasons.push("data/gates/gates.json: not the gates that the record names");
  if (record.gates.sha256 !== gatesDigest())
    state.notes.push("The gates of this bundle are not those of this program.");
  reasons.push(...environmentReasons(state, record, listed));

  const cases = new Set(record.cases.map((entry) => entry.key));
  if (cases.size !== record.cases.length) reasons.push(`${RECORD}: a case stands twice`);
  const planned = new Set(record.planned.map((entry) => `${entry.case}\n${entry.route}`));
  const seen = new Set<string>();
  for (const result of record.results) {
    const name = `${result.case}, ${result.route}`;
    const id = `${result.case}\n${result.route}`;
    if (seen.has(id)) reasons.push(`${name}: two results`);
    seen.add(id);
    if (!cases.has(result.case)) reasons.push(`${name}: its case is not in the record`);
    if (!planned.has(id)) reasons.push(`${name}: was not planned`);
    for (const output of result.outputs) {
      if (listed.get(output.path)?.sha256 !== output.sha256)
        reasons.push(`${output.path}: not the output that ${name} names`);
    }
    const named = [...result.receipts, result.metricsPath ?? [], result.check ?? []].flat();
    for (const file of named) {
      if (!listed.has(file)) reasons.push(`${file}: named by ${name} and missing`);
    }
  }
  return reasons;
}

/** `env/*.json` repeat what the record says, so that each can be read alone; they must not differ. */
function environmentReasons(
  state: State,
  record: RunRecord,
  listed: ReadonlyMap<string, RunRecord["files"][number]>,
): readonly string[] {
  const parts = [
    ["data/env/host.json", record.host],
    ["data/env/device.json", record.device],
    ["data/env/producer.json", record.producer],
  ] as const;
  return parts.flatMap(([file, facts]) => {
    if (facts === null) return listed.has(file) ? [`${file}: the record has no such facts`] : [];
    if (!listed.has(file)) return [`${file}: missing`];
    return readText(state, file) === stableJson(facts) ? [] : [`${file}: differs from the record`];
  });
}

/** Gates that every result must list, whatever its case. Leaving a gate out must not turn a failure into a pass. */
const ALWAYS: readonly GateId[] = ["finite"];
const WHERE_RUN: readonly GateId[] = ["launched", "coverage", "lse", "sentinels", "repeat", "resources"];
const RATIOS: readonly GateId[] = ["max_abs", "nmse_case", "nmse_head", "nmse_row"];

function missingGates(record: RunRecord, result: RunRecord["results"][number]): readonly GateId[] {
  const listed = new Set<GateId>(result.gates.map((gate) => gate.id));
  const stored = record.cases.find((entry) => entry.key === result.case)?.oracle?.storedReference === true;
  // Ratios stand in for nothing but an all-zero or an all-subnormal reference.
  const ratios = listed.has("subnormal") || (listed.has("exact_zero") && !RATIOS.some((id) => listed.has(id)));
  const wanted = [
    ...ALWAYS,
    ...(record.execution === "imported" ? [] : WHERE_RUN),
    ...(ratios ? [] : RATIOS),
    ...(stored ? (["oracle_agreement"] as const) : []),
  ];
  return wanted.filter((id) => !listed.has(id));
}

/** Routes of an emulated run that no result compares with the flavour lockstep. */
function routesWithoutLockstep(record: RunRecord): readonly string[] {
  if (record.execution !== "emulated" || record.outcome !== "passed") return [];
  const routes = new Map<string, boolean>();
  for (const result of record.results) {
    const operator = result.case.split("/")[0] ?? "";
    const id = `${operator} ${result.route}`;
    const compared = result.gates.some((gate) => gate.id === "lockstep");
    routes.set(id, compared || routes.get(id) === true);
  }
  return [...routes].filter(([, compared]) => !compared).map(([id]) => id);
}

const GATE_IDS = new Set<GateId>(GATES.map((gate) => gate.id));

function verdictReasons(state: State): readonly string[] {
  const { record } = state;
  if (record === null) return ["no record to check"];
  const reasons: string[] = [];
  for (const result of record.results) {
    const name = `${result.case}, ${result.route}`;
    for (const gate of result.gates) {
      if (!GATE_IDS.has(gate.id)) reasons.push(`${name}: unknown gate ${gate.id}`);
      const beyond = gate.value !== null && gate.limit !== null && !(gate.value <= gate.limit);
      if (gate.verdict === "pass" && beyond)
        reasons.push(`${name}: ${gate.id} is ${gate.value}, limit ${gate.limit}, and says pass`);
    }
    for (const id of missingGates(record, result)) reasons.push(`${name}: the gate ${id} is left out`);
    if (new Set(result.gates.map((gate) => gate.id)).size !== result.gates.length)
      reasons.push(`${name}: a gate stands twice`);
    const verdict = verdictOf(result.gates);
    if (verdict !== result.verdict)
      reasons.push(`${name}: the gates give ${verdict}, the record says ${result.verdict}`);
    if (result.verdict === "pass" && result.outputs.length === 0) reasons.push(`${name}: passed without an output`);
  }
  for (const id of routesWithoutLockstep(record)) reasons.push(`${id}: never compared with the flavour lockstep`);
  const outcome = outcomeOf(record.planned.length, record.results);
  const stopped = record.outcome === "cancelled" || record.outcome === "crashed" || record.outcome === "timed_out";
  if (record.outcome !== outcome && !(stopped && outcome !== "passed")) {
    reasons.push(`${RECORD}: the results give "${outcome}", the record says "${record.outcome}"`);
  }
  if (stableJson(claimsOf(record)) !== stableJson(record.claims)) {
    reasons.push(`${RECORD}: the claims do not follow from the results`);
  }
  if (record.planned.length === 0) reasons.push(`${RECORD}: nothing was planned`);
  return reasons;
}

/**
 * Verifies the bundle in `folder`. Never throws for what is wrong with a bundle: that is in the result. `onProgress` is
 * called as each check begins and as each file was read.
 */
export function verifyBundle(
  folder: string,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
): Verification {
  let bytes = 0;
  let step = 0;
  const say = (): void => {
    const totalBytes = payload(state).reduce((sum, file) => sum + file.bytes, 0);
    onProgress({ step, steps: CHECKS.length, title: CHECKS[step - 1]!.title, bytes, totalBytes });
  };
  const state: State = {
    root: folder,
    onBytes: (read) => {
      bytes += read;
      say();
    },
    files: [],
    manifest: new Map(),
    identity: null,
    record: null,
    notes: [],
  };
  const checks = CHECKS.map((check): CheckResult => {
    step += 1;
    say();
    try {
      return { id: check.id, title: check.title, reasons: check.run(state) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { id: check.id, title: check.title, reasons: [`could not be checked: ${reason}`] };
    }
  });
  const valid = checks.every((check) => check.reasons.length === 0);
  return {
    result: valid ? "valid" : "invalid",
    checks,
    identity: state.identity,
    notes: state.notes,
    record: state.record,
  };
}
