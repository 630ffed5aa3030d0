/**
 * What a tensor file holds: which cases, under which prefix, with which tensors. Layouts are those of
 * `test/golden/README.md`; the operator follows from the tensors' names, the scale from the metadata.
 */
import { SafetensorsError, type SafetensorsFile } from "../../oracle/safetensors.ts";

export type LayoutKind = "prefill" | "decode" | "scores" | "generated";

/** One case of a file: its kind and the prefix of its tensors (`gqa.q_zero`, empty for a single-case file). */
export interface LayoutEntry {
  readonly kind: LayoutKind;
  readonly prefix: string;
}

/** Full name of a tensor of a case. */
export function tensorName(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

/** The tensor whose presence tells a layout. Sought in this order, so that `q_nope` is not taken for decode. */
const TELLTALES: readonly { readonly kind: LayoutKind; readonly name: string }[] = [
  { kind: "prefill", name: "q_nope" },
  { kind: "decode", name: "q" },
  { kind: "scores", name: "scores" },
];

/** Every case of a file, sorted by prefix. Throws `SafetensorsError` where there is none. */
export function layoutOf(file: SafetensorsFile): readonly LayoutEntry[] {
  const entries: LayoutEntry[] = [];
  for (const name of [...file.entries.keys()].sort()) {
    for (const telltale of TELLTALES) {
      if (name === telltale.name) entries.push({ kind: telltale.kind, prefix: "" });
      else if (name.endsWith(`.${telltale.name}`)) {
        entries.push({ kind: telltale.kind, prefix: name.slice(0, -telltale.name.length - 1) });
      }
    }
  }
  if (file.metadata.kind === "gqa_decode_generated") {
    for (const prefix of stringList(file, "cases")) entries.push({ kind: "generated", prefix });
  }
  if (entries.length === 0) {
    const kind = file.metadata.kind === undefined ? "no kind" : `the kind "${file.metadata.kind}"`;
    throw new SafetensorsError(
      file.path,
      undefined,
      `holds no case (${kind} in its metadata): a case needs q_nope, q_rope, k_nope, k_rope and v (mla_prefill), ` +
        "q, k and v (gqa_decode), or scores and v",
    );
  }
  return entries;
}

/** A list of strings that the metadata holds as JSON. */
function stringList(file: SafetensorsFile, key: string): readonly string[] {
  const value: unknown = parseMetadata(file, key);
  if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) {
    throw new SafetensorsError(file.path, undefined, `metadata "${key}" must be a JSON list of strings: correct it`);
  }
  return value as readonly string[];
}

function parseMetadata(file: SafetensorsFile, key: string): unknown {
  const text = file.metadata[key];
  if (text === undefined) throw new SafetensorsError(file.path, undefined, `metadata "${key}" is missing: add it`);
  try {
    return JSON.parse(text);
  } catch {
    throw new SafetensorsError(file.path, undefined, `metadata "${key}" is no JSON: correct it`);
  }
}

/** The softmax scale of a case: its own, the one in its note, or the file's. Throws where none is given. */
export function scaleOf(file: SafetensorsFile, entry: LayoutEntry): number {
  const { metadata } = file;
  const candidates = [
    metadata[tensorName(entry.prefix, "scale")],
    noteScale(metadata.notes, entry.prefix),
    entry.kind === "decode" ? metadata.gqa_scale : metadata.mla_scale,
    metadata.scale,
  ];
  const text = candidates.find((candidate) => candidate !== undefined);
  if (text === undefined) {
    const wanted = entry.prefix === "" ? '"scale"' : `"scale" or "${entry.prefix}.scale"`;
    throw new SafetensorsError(file.path, undefined, `metadata ${wanted} is missing: add the factor of q . k`);
  }
  const scale = Number(text);
  if (text.trim() === "" || !Number.isFinite(scale)) {
    throw new SafetensorsError(file.path, undefined, `the scale is "${text}" and must be a finite number: correct it`);
  }
  return scale;
}

function noteScale(notes: string | undefined, prefix: string): string | undefined {
  if (notes === undefined || prefix === "") return undefined;
  try {
    const note = (JSON.parse(notes) as Record<string, unknown>)[prefix];
    return typeof note === "string" ? /\bscale ([0-9.e+-]+)$/.exec(note)?.[1] : undefined;
  } catch {
    return undefined;
  }
}

/** A whole number in the metadata, or undefined where it is not given. */
export function integerOf(file: SafetensorsFile, key: string): number | undefined {
  const text = file.metadata[key];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^(0x[0-9a-f]+|\d+)$/i.test(text.trim()) || !Number.isSafeInteger(value)) {
    throw new SafetensorsError(file.path, undefined, `metadata "${key}" is "${text}" and must be a whole number`);
  }
  return value;
}
