/**
 * `lockstep verify`: fail-closed and offline. Every check runs; one that cannot run counts as broken. The identity of a
 * bundle is the digest of its manifest.
 */
import type * as z from "zod";
import { ACCEPTANCE_SCHEMAS } from "../accept/record.ts";
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
import { routeCheckSchema } from "../runs/route_check.ts";
import { validationLogSchema } from "../validation/report.ts";
import { BAGIT_TXT, BUNDLE_LIMITS, MANIFEST, parseManifest, sha256, TAG_FILES, TAG_MANIFEST, walk } from "./bag.ts";
import { roleOf } from "./bundle.ts";
import { acceptanceReasons } from "./verify_acceptance.ts";
import { checkerReasons, logReasons, reportReasons } from "./verify_derived.ts";
import { deviceReasons, validationReasons } from "./verify_device.ts";
import { referenceReasons } from "./verify_references.ts";
import { digestOf, payload, RECORD, readJson, readText, schemaReasons, type VerifyState } from "./verify_state.ts";
import { verdictReasons } from "./verify_verdicts.ts";

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

interface Check {
  readonly id: string;
  readonly title: string;
  readonly run: (state: VerifyState) => readonly string[];
}

const TOP_LEVEL = [...TAG_FILES, TAG_MANIFEST];

/** Schema of every JSON payload file, by role. `gates.json` has a digest instead. */
const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  device: profileSchema,
  host: hostSchema,
  producer: producerSchema,
  dispatch: decisionSchema,
  receipt: receiptSchema,
  check: routeCheckSchema,
  metrics: metricsSchema,
  validation: validationLogSchema,
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
          const schema = file === RECORD ? recordSchema : (ACCEPTANCE_SCHEMAS[file] ?? SCHEMAS[role ?? ""]);
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
    id: "device",
    title: "device and validation say what their own words give",
    run: (state) => [...deviceReasons(state), ...validationReasons(state)],
  },
  {
    id: "verdicts",
    title: "verdicts, outcome and claims follow from the gates",
    run: (state) => verdictReasons(state),
  },
  {
    id: "derived",
    title: "log, report and acceptance say what the record says",
    run: (state) => [...logReasons(state), ...reportReasons(state), ...acceptanceReasons(state)],
  },
];

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
  const state: VerifyState = {
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
