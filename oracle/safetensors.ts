/**
 * Strict reader and writer of safetensors files: 8 bytes little-endian header length, a JSON header (name -> dtype,
 * shape, byte range; `__metadata__` holds strings), then raw little-endian row-major data. Everything the header says is
 * checked against the file before any tensor is read, and tensors are read by range, so large files need no memory.
 */
import { closeSync, openSync, readSync, statSync, writeFileSync } from "node:fs";
import * as z from "zod";
import { DTYPE_BYTES, type Dtype, elementCount, type Tensor, tensorBytes, tensorFromBytes } from "./tensor.ts";

/** What is wrong with a file. The message names the file, the tensor, both sides and the mend. */
export class SafetensorsError extends Error {
  override readonly name = "SafetensorsError";
  readonly file: string;
  readonly tensor: string | undefined;
  constructor(file: string, tensor: string | undefined, message: string) {
    super(tensor === undefined ? `${file}: ${message}` : `${file}: tensor "${tensor}": ${message}`);
    this.file = file;
    this.tensor = tensor;
  }
}

/** Bytes of each dtype of the format. Those without a `Dtype` are only measured, so that a file may carry them. */
const FORMAT_DTYPES: Readonly<Record<string, { readonly bytes: number; readonly dtype?: Dtype }>> = {
  F64: { bytes: 8, dtype: "f64" },
  F32: { bytes: 4, dtype: "f32" },
  F16: { bytes: 2, dtype: "f16" },
  BF16: { bytes: 2, dtype: "bf16" },
  I32: { bytes: 4, dtype: "i32" },
  I64: { bytes: 8 },
  I16: { bytes: 2 },
  I8: { bytes: 1 },
  U64: { bytes: 8 },
  U32: { bytes: 4 },
  U16: { bytes: 2 },
  U8: { bytes: 1 },
  BOOL: { bytes: 1 },
  F8_E4M3: { bytes: 1 },
  F8_E5M2: { bytes: 1 },
};

const FORMAT_NAMES: Readonly<Record<Dtype, string>> = { f64: "F64", f32: "F32", f16: "F16", bf16: "BF16", i32: "I32" };

/** Longer headers are refused: a file of any other kind would be read as one of gigabytes. */
const HEADER_LIMIT_BYTES = 100_000_000;

const entrySchema = z.strictObject({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});
const metadataSchema = z.record(z.string(), z.string());

/** A tensor as the header states it. */
export interface SafetensorsEntry {
  readonly name: string;
  /** Dtype in the format's spelling, for example `F32`. */
  readonly format: string;
  readonly shape: readonly number[];
  /** Byte range in the file. */
  readonly begin: number;
  readonly end: number;
}

/** A file whose header was read and checked. */
export interface SafetensorsFile {
  readonly path: string;
  readonly bytes: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly entries: ReadonlyMap<string, SafetensorsEntry>;
}

function readRange(path: string, begin: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  const file = openSync(path, "r");
  try {
    let done = 0;
    while (done < length) {
      // The kernel reads at most 2 GiB at a time.
      const got = readSync(file, bytes, done, Math.min(length - done, 2 ** 30), begin + done);
      if (got === 0) break;
      done += got;
    }
    if (done !== length) {
      throw new SafetensorsError(
        path,
        undefined,
        `ended after ${begin + done} of ${begin + length} bytes: copy it again`,
      );
    }
  } finally {
    closeSync(file);
  }
  return bytes;
}

/** Asked before the file is opened: opening a pipe waits for a writer. */
function fileBytes(path: string): number {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw new SafetensorsError(path, undefined, "is no regular file: give a .safetensors file");
    closeSync(openSync(path, "r"));
    return stat.size;
  } catch (error) {
    if (error instanceof SafetensorsError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new SafetensorsError(path, undefined, `cannot be opened (${reason}): check the path`);
  }
}

/** A name that stands twice in an object of the header, where `JSON.parse` would keep the last. */
function repeatedName(text: string): string | undefined {
  const objects: (Set<string> | undefined)[] = [];
  let last = "";
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === "{" || token === "[") objects.push(token === "{" ? new Set() : undefined);
    else if (token === "}" || token === "]") objects.pop();
    else if (token !== ":") last = token;
    else {
      const names = objects.at(-1);
      const name = JSON.parse(last) as string;
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

function parseHeader(path: string, text: string): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SafetensorsError(path, undefined, `is not a safetensors file: its header is no JSON (${reason})`);
  }
  if (typeof header !== "object" || header === null || Array.isArray(header)) {
    throw new SafetensorsError(path, undefined, "is not a safetensors file: its header is no JSON object");
  }
  const repeated = repeatedName(text);
  if (repeated !== undefined) {
    throw new SafetensorsError(path, undefined, `its header has "${repeated}" twice: write the file again`);
  }
  return header as Record<string, unknown>;
}

function parseEntry(
  path: string,
  name: string,
  value: unknown,
  dataStart: number,
  dataBytes: number,
): SafetensorsEntry {
  const parsed = entrySchema.safeParse(value);
  if (!parsed.success) {
    const what = parsed.error.issues
      .map((issue) => [issue.path.join("."), issue.message].filter(Boolean).join(": "))
      .join("; ");
    throw new SafetensorsError(path, name, `its header entry is wrong (${what}): write the file again`);
  }
  const { dtype, shape, data_offsets } = parsed.data;
  const format = FORMAT_DTYPES[dtype];
  if (format === undefined) {
    const known = Object.keys(FORMAT_DTYPES).join(", ");
    throw new SafetensorsError(path, name, `dtype ${dtype} is unknown; known are ${known}: convert it`);
  }
  const [begin, end] = data_offsets;
  if (end < begin || end > dataBytes) {
    const problem = end < begin ? "ends before it begins" : `ends outside the ${dataBytes} data bytes of the file`;
    throw new SafetensorsError(
      path,
      name,
      `its byte range ${begin} to ${end} ${problem}: the file is truncated or its header wrong, copy or write it again`,
    );
  }
  let needed: number;
  try {
    needed = elementCount(shape) * format.bytes;
  } catch (error) {
    throw new SafetensorsError(path, name, error instanceof Error ? error.message : String(error));
  }
  if (needed !== end - begin) {
    throw new SafetensorsError(
      path,
      name,
      `${dtype} [${shape.join(", ")}] needs ${needed} bytes and its range has ${end - begin}: correct shape or range`,
    );
  }
  return { name, format: dtype, shape, begin: dataStart + begin, end: dataStart + end };
}

/**
 * Reads and checks the header. Throws `SafetensorsError` for anything that is no complete safetensors file: too short, no
 * JSON, unknown dtype, shape and byte range that differ, ranges that overlap, leave gaps or end outside the file.
 */
export function openSafetensors(path: string): SafetensorsFile {
  const bytes = fileBytes(path);
  if (bytes < 8) {
    throw new SafetensorsError(
      path,
      undefined,
      `is not a safetensors file: ${bytes} bytes, and the header length alone has 8`,
    );
  }
  const headerBytes = new DataView(readRange(path, 0, 8).buffer).getBigUint64(0, true);
  if (headerBytes > BigInt(HEADER_LIMIT_BYTES)) {
    throw new SafetensorsError(
      path,
      undefined,
      `is not a safetensors file: its first 8 bytes state a header of ${headerBytes} bytes; the limit is ${HEADER_LIMIT_BYTES}`,
    );
  }
  const dataStart = 8 + Number(headerBytes);
  if (dataStart > bytes) {
    throw new SafetensorsError(
      path,
      undefined,
      `is truncated or no safetensors file: its header needs ${dataStart} bytes and the file has ${bytes}: copy it again`,
    );
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(readRange(path, 8, Number(headerBytes)));
  } catch (error) {
    if (error instanceof SafetensorsError) throw error;
    throw new SafetensorsError(path, undefined, "is not a safetensors file: its header is no UTF-8 text");
  }
  const header = parseHeader(path, text);

  let metadata: Readonly<Record<string, string>> = {};
  const entries: SafetensorsEntry[] = [];
  for (const [name, value] of Object.entries(header)) {
    if (name === "__metadata__") {
      const parsed = metadataSchema.safeParse(value);
      if (!parsed.success) {
        throw new SafetensorsError(
          path,
          undefined,
          "its __metadata__ holds something other than strings: write strings",
        );
      }
      metadata = parsed.data;
    } else {
      entries.push(parseEntry(path, name, value, dataStart, bytes - dataStart));
    }
  }
  checkLayout(path, entries, dataStart, bytes);
  return { path, bytes, metadata, entries: new Map(entries.map((entry) => [entry.name, entry])) };
}

/** Ranges follow each other without gap or overlap up to the end. */
function checkLayout(path: string, entries: readonly SafetensorsEntry[], dataStart: number, bytes: number): void {
  let at = dataStart;
  let before = "the header";
  for (const entry of entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (entry.begin !== at) {
      const kind = entry.begin < at ? "overlaps" : "leaves a gap after";
      throw new SafetensorsError(
        path,
        entry.name,
        `begins at byte ${entry.begin} and ${kind} ${before}, which ends at ${at}: write the file again`,
      );
    }
    at = entry.end;
    before = `tensor "${entry.name}"`;
  }
  if (at !== bytes) {
    throw new SafetensorsError(
      path,
      undefined,
      `its tensors end at byte ${at} and the file has ${bytes}: remove the ${bytes - at} bytes that belong to none`,
    );
  }
}

/** What a caller requires of a tensor. An undefined extent may have any size. */
export interface Expected {
  readonly dtypes?: readonly Dtype[];
  readonly shape?: readonly (number | undefined)[];
}

function entryOf(file: SafetensorsFile, name: string): SafetensorsEntry {
  const entry = file.entries.get(name);
  if (entry === undefined) {
    const names = [...file.entries.keys()];
    const shown = names.slice(0, 12).join(", ") + (names.length > 12 ? `, and ${names.length - 12} more` : "");
    throw new SafetensorsError(file.path, name, `is not in the file, which has: ${shown || "no tensor"}`);
  }
  return entry;
}

/** The dtype of a tensor. Throws `SafetensorsError` where it is missing or of a dtype that no operator takes. */
export function dtypeOf(file: SafetensorsFile, name: string): Dtype {
  const entry = entryOf(file, name);
  const dtype = FORMAT_DTYPES[entry.format]?.dtype;
  if (dtype === undefined) {
    const readable = Object.values(FORMAT_NAMES).join(", ");
    throw new SafetensorsError(file.path, name, `is ${entry.format}; readable are ${readable}: convert it`);
  }
  return dtype;
}

/** Reads one tensor whole. Throws `SafetensorsError` where it is missing or not as `expected`. */
export function readTensor(file: SafetensorsFile, name: string, expected: Expected = {}): Tensor {
  const entry = entryOf(file, name);
  const { dtypes } = expected;
  if (dtypes !== undefined && !dtypes.some((dtype) => FORMAT_NAMES[dtype] === entry.format)) {
    const actual = entry.format.toLowerCase();
    throw new SafetensorsError(file.path, name, `is ${actual} and must be ${dtypes.join(" or ")}: convert it`);
  }
  const dtype = dtypeOf(file, name);
  const want = expected.shape;
  if (
    want !== undefined &&
    (want.length !== entry.shape.length || want.some((extent, i) => extent !== undefined && extent !== entry.shape[i]))
  ) {
    const wanted = want.map((extent) => extent ?? "any").join(", ");
    throw new SafetensorsError(
      file.path,
      name,
      `has shape [${entry.shape.join(", ")}] and must have [${wanted}]: correct the tensor or the shapes it follows from`,
    );
  }
  return tensorFromBytes(dtype, entry.shape, readRange(file.path, entry.begin, entry.end - entry.begin));
}

/** Raw bytes of `count` elements from element `start` on, for tensors too large to hold. */
export function readElementBytes(file: SafetensorsFile, name: string, start: number, count: number): Uint8Array {
  const entry = entryOf(file, name);
  const size = DTYPE_BYTES[dtypeOf(file, name)];
  const total = (entry.end - entry.begin) / size;
  if (
    !(Number.isSafeInteger(start) && Number.isSafeInteger(count) && start >= 0 && count >= 0 && start + count <= total)
  ) {
    throw new RangeError(`elements ${start} to ${start + count} of "${name}" lie outside its ${total} elements`);
  }
  return readRange(file.path, entry.begin + start * size, count * size);
}

/** Every tensor and the metadata of a file. Tensors of dtypes that no operator takes are left out. */
export function readSafetensors(path: string): {
  readonly metadata: Readonly<Record<string, string>>;
  readonly tensors: ReadonlyMap<string, Tensor>;
} {
  const file = openSafetensors(path);
  const readable = [...file.entries.values()].filter((entry) => FORMAT_DTYPES[entry.format]?.dtype !== undefined);
  return {
    metadata: file.metadata,
    tensors: new Map(readable.map((entry) => [entry.name, readTensor(file, entry.name)])),
  };
}

/** The bytes of a safetensors file. Wider dtypes come first, so that every tensor is aligned. */
export function encodeSafetensors(
  tensors: Readonly<Record<string, Tensor>>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const sorted = Object.entries(tensors).toSorted(
    ([nameA, a], [nameB, b]) => DTYPE_BYTES[b.dtype] - DTYPE_BYTES[a.dtype] || (nameA < nameB ? -1 : 1),
  );
  const header: Record<string, unknown> = {};
  if (Object.keys(metadata).length > 0) header.__metadata__ = metadata;
  let at = 0;
  for (const [name, tensor] of sorted) {
    if (name === "__metadata__") throw new RangeError("no tensor can be named __metadata__: choose another name");
    const bytes = tensor.data.byteLength;
    if (elementCount(tensor.shape) * DTYPE_BYTES[tensor.dtype] !== bytes) {
      throw new RangeError(`tensor "${name}": [${tensor.shape.join(", ")}] does not fit its ${bytes} bytes`);
    }
    header[name] = { dtype: FORMAT_NAMES[tensor.dtype], shape: tensor.shape, data_offsets: [at, at + bytes] };
    at += bytes;
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  // Trailing spaces are legal in the header and align the data to 8 bytes.
  const headerBytes = Math.ceil(json.length / 8) * 8;
  const out = new Uint8Array(8 + headerBytes + at);
  new DataView(out.buffer).setBigUint64(0, BigInt(headerBytes), true);
  out.fill(0x20, 8, 8 + headerBytes);
  out.set(json, 8);
  let offset = 8 + headerBytes;
  for (const [, tensor] of sorted) {
    out.set(tensorBytes(tensor), offset);
    offset += tensor.data.byteLength;
  }
  return out;
}

/** Writes a safetensors file. */
export function writeSafetensors(
  path: string,
  tensors: Readonly<Record<string, Tensor>>,
  metadata: Readonly<Record<string, string>> = {},
): void {
  writeFileSync(path, encodeSafetensors(tensors, metadata));
}
