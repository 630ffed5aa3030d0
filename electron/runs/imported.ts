/**
 * Outputs that another engine computed for the same inputs, judged by the same oracle and gates. Gates that concern the
 * execution itself do not apply; the evidence reaches `parity` at most.
 */
import fs from "node:fs";
import path from "node:path";
import type { KernelDtype } from "../../kernels/route.ts";
import type { Addon } from "../../native/addon.ts";
import { type DeviceBuffer, POISON_WORD } from "../../native/device.ts";
import { VARIANTS, type VariantName } from "../../oracle/generator.ts";
import {
  dtypeOf,
  openSafetensors,
  readTensor,
  SafetensorsError,
  type SafetensorsFile,
} from "../../oracle/safetensors.ts";
import { tensorBytes } from "../../oracle/tensor.ts";
import { type Case, outputLayout } from "../cases/case.ts";
import { InputPool, inputBuffers, materialise } from "../cases/inputs.ts";
import { BundleError, writeFailure, writePayload } from "../evidence/bundle.ts";
import { parseStrictJson, StrictJsonError } from "../evidence/json.ts";
import { plannedCaseRecord, preparedCaseRecord } from "./case_record.ts";
import type { Emit } from "./events.ts";
import { judge, type RawOutput } from "./judge.ts";
import { writeJudged } from "./judged.ts";
import { outcomeOf } from "./outcome.ts";
import type { Selection } from "./plan.ts";
import { type HostFacts, type Outcome, type Producer, producerSchema, type ResultRecord } from "./record.ts";
import { referenceOf } from "./reference.ts";
import { nearest, UsageError } from "./usage.ts";

const PRODUCER_BYTES = 64 * 1024;

/** Reads the producer's facts. Throws `UsageError` naming the missing or unknown fields. */
export function readProducer(file: string): Producer {
  let text: string;
  try {
    // Asked before the file is opened: opening a pipe waits for a writer, and a device has no end.
    const stat = fs.statSync(file);
    if (!stat.isFile()) throw new UsageError(`${file} is no regular file: give a JSON file.`);
    if (stat.size > PRODUCER_BYTES) {
      throw new UsageError(`${file} has ${stat.size} bytes; the limit is ${PRODUCER_BYTES}: state facts alone.`);
    }
    text = fs.readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} cannot be read (${error instanceof Error ? error.message : String(error)}).`);
  }
  try {
    const parsed = producerSchema.safeParse(parseStrictJson(text, file));
    if (parsed.success) return parsed.data;
    const issues = parsed.error.issues.map((issue) => [issue.path.join("."), issue.message].filter(Boolean).join(": "));
    const fields = Object.keys(producerSchema.shape).join(", ");
    throw new UsageError(`${file}: ${issues.join("; ")}. A producer states ${fields}, each as text.`);
  } catch (error) {
    throw error instanceof StrictJsonError ? new UsageError(error.message) : error;
  }
}

/** One output to judge. */
export interface ImportedItem {
  /** The case in the dtype of the output. */
  readonly case: Case;
  /** What stands in the place of a route: the words after `out_` in the tensor's name. */
  readonly route: string;
  readonly out: string;
  readonly lse: string | undefined;
}

const DTYPES: readonly KernelDtype[] = ["f32", "f16", "bf16"];

/** `out`, `out_f32`, `out_f32_sdpa_math`, `lse_...`: the kind and the label behind it. Float64 references are no outputs. */
function parseOutputName(name: string): { readonly kind: "out" | "lse"; readonly label: string } | undefined {
  const match = /^(out|lse)(?:_(f64|f32|f16|bf16))?(?:_(.+))?$/.exec(name);
  if (match === null || match[2] === "f64") return undefined;
  return { kind: match[1] as "out" | "lse", label: [match[2], match[3]].filter(Boolean).join("_") };
}

interface Found {
  readonly cases: readonly Case[];
  readonly tensor: string;
  readonly kind: "out" | "lse";
  readonly label: string;
}

/**
 * Finds the case that a tensor belongs to by its prefix: alias or key. Without a prefix it belongs to the one case of
 * `named`, whatever its dtypes.
 */
function findOutput(
  tensor: string,
  cases: readonly Case[],
  named: readonly Case[],
  file: SafetensorsFile,
): Found | undefined {
  const dot = tensor.lastIndexOf(".");
  const parsed = parseOutputName(tensor.slice(dot + 1));
  if (parsed === undefined) return undefined;
  // A float64 output is a reference; a float64 lse beside a judged output is refused there.
  if (parsed.kind === "out" && file.entries.get(tensor)?.format === "F64") return undefined;
  const prefix = tensor.slice(0, Math.max(0, dot));
  const isOne = new Set(named.map((entry) => entry.alias)).size === 1;
  if (prefix === "" && isOne) return { cases: named, tensor, ...parsed };
  const found = cases.filter((entry) => entry.alias === prefix || entry.key === prefix);
  if (found.length === 0) {
    const close = nearest(prefix, [...new Set(cases.map((entry) => entry.alias))]);
    throw new UsageError(
      `${file.path}: tensor "${tensor}" belongs to no case. Outputs are named <case>.out, <case>.out_<label> and ` +
        `<case>.lse, with a case's name or key, or without one where --case names a single case.${close === undefined ? "" : ` Nearest: ${close}.`}`,
    );
  }
  return { cases: found, tensor, ...parsed };
}

/** The case in the dtype of an output. Decode inputs must be exact in it, or engine and oracle saw different numbers. */
function caseInDtype(found: Found, dtype: KernelDtype, file: SafetensorsFile): Case {
  const exact = found.cases.find((entry) => entry.shape.dtype === dtype);
  if (exact !== undefined) return exact;
  const [first] = found.cases;
  const { shape, source } = first!;
  if (shape.operator === "gqa_decode") {
    const bits = source.kind === "generator" ? VARIANTS[source.variant as VariantName].bits : undefined;
    const stored = source.kind === "tensors" ? storedDtype(first!) : undefined;
    if (bits === 8 || stored === "f16" || stored === "bf16") {
      const key = first!.key.replace(/\/f32$/, `/${dtype}`);
      return { ...first!, key, shape: { ...shape, dtype }, boundary: false };
    }
  }
  const dtypes = found.cases.map((entry) => entry.shape.dtype).join(", ");
  throw new UsageError(
    `${file.path}: tensor "${found.tensor}" is ${dtype} and the inputs of ${first!.alias} are exact in ${dtypes} only: ` +
      "compute it in one of those.",
  );
}

function storedDtype(entry: Case): string {
  const prefix = entry.source.kind === "tensors" && entry.source.prefix !== "" ? `${entry.source.prefix}.` : "";
  return dtypeOf(openSafetensors(entry.path), `${prefix}k`);
}

/** A label stands in the place of a route's name, and names a folder of the bundle. */
const LABEL = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Shape of an output or lse tensor of a case; throws `SafetensorsError` where the tensor has another, or another dtype. */
function checkOutput(file: SafetensorsFile, found: Pick<Found, "tensor" | "kind">, judged: Case): void {
  const { rows, width, heads } = outputLayout(judged.shape);
  const rowShape = judged.shape.operator === "gqa_decode" ? [rows] : [rows / heads, heads];
  const shape = found.kind === "out" ? [...rowShape, width] : rowShape;
  const { format, shape: actual } = file.entries.get(found.tensor)!;
  if (!DTYPES.some((dtype) => dtype.toUpperCase() === format)) {
    const message = `is ${format.toLowerCase()} and must be f32, f16 or bf16: convert it`;
    throw new SafetensorsError(file.path, found.tensor, message);
  }
  if (actual.join() !== shape.join()) {
    const sizes = `has shape [${actual.join(", ")}] and ${judged.key} has [${shape.join(", ")}]`;
    throw new SafetensorsError(file.path, found.tensor, `${sizes}: correct it`);
  }
}

/** The lse that belongs to an output: the same case and label. */
function lseOf(entry: Found, found: readonly Found[]): Found | undefined {
  const prefix = entry.tensor.slice(0, entry.tensor.lastIndexOf(".") + 1);
  return found.find(
    (other) => other.kind === "lse" && other.label === entry.label && other.tensor.startsWith(`${prefix}lse`),
  );
}

/** Every result must be one of its own, and every lse must belong to an output. */
function checkPairs(file: SafetensorsFile, found: readonly Found[], items: readonly ImportedItem[]): void {
  const seen = new Map<string, string>();
  for (const item of items) {
    const id = `${item.case.key}\n${item.route}`;
    const other = seen.get(id);
    if (other !== undefined) {
      const both = `is output "${item.route}" of ${item.case.key}, as tensor "${other}" is`;
      throw new SafetensorsError(file.path, item.out, `${both}: give each a label of its own`);
    }
    seen.set(id, item.out);
  }
  const used = new Set(items.map((item) => item.lse));
  const orphan = found.find((entry) => entry.kind === "lse" && !used.has(entry.tensor) && !isReference(entry, file));
  if (orphan !== undefined) {
    const wanted = orphan.tensor.replace(/lse(?=[^.]*$)/, "out");
    throw new SafetensorsError(file.path, orphan.tensor, `has no output beside it: add "${wanted}", or leave it out`);
  }
}

/** A float64 lse whose output is float64, or not there, belongs to a reference. */
function isReference(entry: Found, file: SafetensorsFile): boolean {
  return file.entries.get(entry.tensor)?.format === "F64";
}

/** What there is to judge in a file of outputs. Throws `UsageError` and `SafetensorsError`. */
export function planImported(outputs: string, cases: readonly Case[], selection: Selection): readonly ImportedItem[] {
  const file = openSafetensors(outputs);
  const named = cases.filter(
    (entry) => selection.case === undefined || entry.alias === selection.case || entry.key === selection.case,
  );
  const found = [...file.entries.keys()].sort().flatMap((tensor) => findOutput(tensor, cases, named, file) ?? []);
  const all = found
    .filter((entry) => entry.kind === "out")
    .map((entry): ImportedItem => {
      const format = file.entries.get(entry.tensor)!.format.toLowerCase();
      const dtype = DTYPES.find((candidate) => candidate === format);
      if (dtype === undefined) {
        throw new SafetensorsError(file.path, entry.tensor, `is ${format} and must be f32, f16 or bf16: convert it`);
      }
      const judged = caseInDtype(entry, dtype, file);
      checkOutput(file, entry, judged);
      const lse = lseOf(entry, found);
      if (lse !== undefined) checkOutput(file, lse, judged);
      const route = entry.label.toLowerCase() || "imported";
      if (!LABEL.test(route)) {
        const rule =
          "a label has at most 64 letters, digits, dots, dashes and underscores, a letter or digit first: rename it";
        throw new SafetensorsError(file.path, entry.tensor, `has the label "${entry.label}"; ${rule}`);
      }
      return { case: judged, route, out: entry.tensor, lse: lse?.tensor };
    });
  checkPairs(file, found, all);
  const items = all.filter(({ case: judged, route }) => selected(judged, route, selection));
  if (all.length > 0 && items.length === 0) {
    const names = all.map((item) => `${item.case.key} ${item.route}`);
    const shown = names.slice(0, 6).join(", ") + (names.length > 6 ? `, and ${names.length - 6} more` : "");
    throw new UsageError(`${outputs}: no output is left by --operator, --route and --case. It holds ${shown}.`);
  }
  if (items.length === 0) {
    const wanted = "named <case>.out, <case>.out_<label> or, for the one case of --inputs, out";
    throw new UsageError(`${outputs} holds no output to judge: outputs are f32, f16 or bf16 tensors ${wanted}.`);
  }
  return items;
}

function selected(judged: Case, route: string, selection: Selection): boolean {
  const { operator, route: wantedRoute, case: wantedCase } = selection;
  return (
    (operator === undefined || judged.shape.operator === operator) &&
    (wantedRoute === undefined || route.startsWith(wantedRoute)) &&
    (wantedCase === undefined ||
      judged.key.toLowerCase().includes(wantedCase.toLowerCase()) ||
      judged.alias === wantedCase)
  );
}

/** Memory of the addon in the form of a device buffer: the oracle reads it, no kernel does. */
export function memoryBuffer(addon: Addon, bytes: number, label: string): DeviceBuffer {
  const memory = addon.allocate(bytes);
  memory.fill(POISON_WORD);
  return {
    label,
    bytes,
    memory,
    write: (offset, data) => memory.write(offset, data),
    read: (offset, length) => memory.read(offset, length),
    poison: () => memory.fill(POISON_WORD),
    sentinelIntact: () => memory.sentinelIntact(),
    release: () => memory.release(),
  };
}

export interface ImportedOptions {
  readonly addon: Addon;
  readonly items: readonly ImportedItem[];
  readonly outputs: string;
  readonly producer: Producer;
  readonly suite: string | null;
  readonly staging: string;
  readonly host: HostFacts;
  readonly signal: AbortSignal;
  readonly emit: Emit;
}

/** Judges every item. Rejects only if the bundle cannot be written. */
export async function runImported(options: ImportedOptions): Promise<Outcome> {
  const { addon, items, producer, suite, host, signal, emit } = options;
  const cases = [...new Map(items.map((item) => [item.case.key, item.case])).values()];
  emit({
    type: "planned",
    suite,
    execution: "imported",
    device: null,
    producer,
    host,
    planned: items.map((item) => ({ case: item.case.key, route: item.route })),
    cases: cases.map(plannedCaseRecord),
  });
  const file = openSafetensors(options.outputs);
  const pool = new InputPool((bytes, label) => memoryBuffer(addon, bytes, label));
  const results: ResultRecord[] = [];
  try {
    for (const judged of cases) {
      if (signal.aborted) break;
      const ofCase = items.filter((item) => item.case.key === judged.key);
      for (const result of await judgeCase(options, judged, ofCase, file, pool)) {
        results.push(result);
        emit({ type: "result", result });
      }
    }
  } finally {
    pool.release();
  }
  const cancelled = signal.aborted && results.length < items.length;
  const outcome = cancelled ? "cancelled" : outcomeOf(items.length, results);
  emit({ type: "finished", outcome, reason: cancelled ? "Cancelled by you. Finished cases are kept" : null });
  return outcome;
}

async function judgeCase(
  options: ImportedOptions,
  judged: Case,
  items: readonly ImportedItem[],
  file: SafetensorsFile,
  pool: InputPool,
): Promise<readonly ResultRecord[]> {
  const { addon, emit, staging } = options;
  const { key, shape } = judged;
  emit({ type: "progress", case: key, route: null, phase: "inputs", fraction: null });
  const inputs = await materialise(judged, inputBuffers(shape), pool, addon);
  emit({ type: "progress", case: key, route: null, phase: "oracle", fraction: null });
  const reference = await referenceOf(shape, shape.dtype, inputs.buffers, addon);
  emit({ type: "case", case: preparedCaseRecord(judged, inputs, reference) });
  return items.map((item): ResultRecord => {
    const raw = [
      rawOutput(file, item.out, "out"),
      ...(item.lse === undefined ? [] : [rawOutput(file, item.lse, "lse")]),
    ];
    const judgement = judge(key, item.route, shape, raw, reference, inputs.stored, null);
    const write = (target: string, data: Uint8Array | string): void => {
      try {
        writePayload(staging, target, data);
      } catch (error) {
        throw error instanceof BundleError ? error : new BundleError(writeFailure(path.dirname(staging), error));
      }
    };
    const judgedRecord = writeJudged({ key, route: item.route }, raw, judgement, write);
    return { ...judgedRecord, ms: null, timings: [], receipts: [] };
  });
}

function rawOutput(file: SafetensorsFile, tensor: string, name: "out" | "lse"): RawOutput {
  const data = readTensor(file, tensor, { dtypes: ["f32", "f16", "bf16"] });
  return { name, dtype: data.dtype as KernelDtype, shape: data.shape, bytes: tensorBytes(data) };
}
