/**
 * A case becomes buffers on a device: generated natively, streamed from a file, or wrapped from softmax rows. Every tensor
 * is digested, so that a reader of the record can make the same inputs again.
 */
import { createHash } from "node:crypto";
import type { CaseShape, DecodeShape, KernelDtype, PrefillShape, RouteBuffer } from "../../kernels/route.ts";
import type { Addon } from "../../native/addon.ts";
import type { Device, DeviceBuffer } from "../../native/device.ts";
import type { NativeMemory } from "../../native/memory.ts";
import {
  editedKeyRow,
  generateSlice,
  keyEdits,
  TENSOR_IDS,
  VARIANTS,
  type Variant,
  type VariantName,
} from "../../oracle/generator.ts";
import { openSafetensors, readElementBytes, readTensor, type SafetensorsFile } from "../../oracle/safetensors.ts";
import { tensorFromBytes, widenToF64 } from "../../oracle/tensor.ts";
import type { TensorFact } from "../runs/record.ts";
import type { Case } from "./case.ts";
import { storedName } from "./file.ts";
import { tensorName } from "./layout.ts";
import { bytesIn, forEachPiece } from "./values.ts";

/** Float64 results that a file holds for a case. */
export interface StoredReference {
  readonly out: Float64Array;
}

export interface CaseInputs {
  readonly buffers: ReadonlyMap<string, DeviceBuffer>;
  readonly facts: readonly TensorFact[];
  readonly stored: StoredReference | undefined;
}

interface Kept {
  readonly buffer: DeviceBuffer;
  /** What the buffer holds: equal tags mean equal bytes. */
  tag: string;
  fact: TensorFact | undefined;
}

/**
 * Keeps the input buffers of the last case: fresh pages of a cache of gigabytes cost seconds, and neighbouring cases share
 * most of their bytes. One set at a time, so that memory holds K and V once.
 */
export class InputPool {
  readonly #allocate: Device["allocate"];
  readonly #kept = new Map<string, Kept>();

  constructor(allocate: Device["allocate"]) {
    this.#allocate = allocate;
  }

  /** A buffer of exactly `bytes`, poisoned unless it already holds `tag`. */
  take(name: string, bytes: number, tag: string): Kept {
    const kept = this.#kept.get(name);
    if (kept !== undefined && kept.buffer.bytes === bytes) {
      if (kept.tag !== tag) {
        kept.buffer.poison();
        kept.tag = "";
        kept.fact = undefined;
      }
      return kept;
    }
    kept?.buffer.release();
    this.#kept.delete(name);
    const fresh: Kept = { buffer: this.#allocate(bytes, name), tag: "", fact: undefined };
    this.#kept.set(name, fresh);
    return fresh;
  }

  /** Bytes of the buffers that are kept. */
  get bytes(): number {
    return [...this.#kept.values()].reduce((sum, kept) => sum + kept.buffer.bytes, 0);
  }

  /** Drops buffers that the next case does not use, before it allocates its own. */
  keepOnly(wanted: ReadonlyMap<string, number>): void {
    for (const [name, kept] of this.#kept) {
      if (wanted.get(name) === kept.buffer.bytes) continue;
      kept.buffer.release();
      this.#kept.delete(name);
    }
  }

  /** Forgets what the buffers hold: a kernel that failed may have written into them. */
  distrust(): void {
    for (const kept of this.#kept.values()) kept.tag = "";
  }

  release(): void {
    for (const kept of this.#kept.values()) kept.buffer.release();
    this.#kept.clear();
  }
}

/** How one input tensor of a case comes to be. */
interface InputSource {
  readonly name: string;
  readonly dtype: KernelDtype | "i32";
  /** Shape without the poisoned rows. */
  readonly shape: readonly number[];
  readonly tag: string;
  readonly fill: (memory: NativeMemory) => Promise<void> | void;
}

/**
 * Materialises the inputs that `wanted` names (the `input` buffers of a route's plan). Throws Error for a buffer that the
 * operator does not have, and `SafetensorsError` for a file that changed since it was checked.
 */
export async function materialise(
  testCase: Case,
  wanted: readonly RouteBuffer[],
  pool: InputPool,
  addon: Addon,
): Promise<CaseInputs> {
  const sources = new Map(sourcesOf(testCase, addon).map((source) => [source.name, source]));
  pool.keepOnly(new Map(wanted.map((buffer) => [buffer.name, buffer.bytes])));
  const buffers = new Map<string, DeviceBuffer>();
  const facts: TensorFact[] = [];
  for (const buffer of wanted) {
    const source = sources.get(buffer.name);
    if (source === undefined) {
      throw new Error(
        `${testCase.key} has no input "${buffer.name}"; it has ${[...sources.keys()].join(", ")}: correct the route's table.`,
      );
    }
    if (source.dtype !== buffer.dtype) {
      throw new Error(`${buffer.name} is ${source.dtype} in ${testCase.key} and ${buffer.dtype} in the route's table.`);
    }
    const kept = pool.take(buffer.name, buffer.bytes, source.tag);
    if (kept.fact === undefined || kept.tag !== source.tag) {
      await source.fill(kept.buffer.memory);
      kept.tag = source.tag;
      kept.fact = factOf(source, kept.buffer.memory);
    }
    buffers.set(buffer.name, kept.buffer);
    facts.push(kept.fact);
  }
  return { buffers, facts, stored: storedReference(testCase) };
}

const DIGEST_PIECE = 4 << 20;

function elementBytes(dtype: KernelDtype | "i32"): number {
  return dtype === "f16" || dtype === "bf16" ? 2 : 4;
}

function factOf(source: InputSource, memory: NativeMemory): TensorFact {
  const bytes = source.shape.reduce((product, extent) => product * extent, 1) * elementBytes(source.dtype);
  const hash = createHash("sha256");
  for (let offset = 0; offset < bytes; offset += DIGEST_PIECE) {
    hash.update(memory.read(offset, Math.min(DIGEST_PIECE, bytes - offset)));
  }
  const { name, dtype, shape } = source;
  return { name, dtype, shape: [...shape], bytes: String(bytes), sha256: hash.digest("hex") };
}

function sourcesOf(testCase: Case, addon: Addon): readonly InputSource[] {
  const { shape, source } = testCase;
  if (shape.operator === "mla_prefill") {
    return source.kind === "generator" ? generatedPrefillSources(shape, source.seed) : prefillSources(testCase);
  }
  if (source.kind === "generator") return generatedSources(testCase, shape, source, addon);
  return source.kind === "scores" ? scoreSources(testCase, shape, source) : decodeFileSources(testCase, shape);
}

function generatedSources(
  testCase: Case,
  shape: DecodeShape,
  source: Extract<Case["source"], { kind: "generator" }>,
  addon: Addon,
): readonly InputSource[] {
  if (!Object.hasOwn(VARIANTS, source.variant))
    throw new Error(`${testCase.key}: unknown variant "${source.variant}".`);
  const variant: Variant = VARIANTS[source.variant as VariantName];
  const { heads, kvHeads, dim, live } = shape;
  const { seed } = source;
  const { bits } = variant;
  const rowElements = kvHeads * dim;
  const stream = (tensor: number, multiplier: number, count: number) => (memory: NativeMemory) =>
    addon.generate(memory, 0, { seed, tensor, bits, multiplier, start: 0, count });
  const fillQ = stream(TENSOR_IDS.q, variant.qMultiplier, heads * dim);
  const fillK = stream(TENSOR_IDS.k, 1, live * rowElements);
  const base = `${seed}/u${bits}/${kvHeads}x${dim}/${live}`;
  const edits = keyEdits(variant.edit, live, heads / kvHeads);
  return [
    { name: "q", dtype: "f32", shape: [heads, dim], tag: `q/${base}/${heads}/${variant.qMultiplier}`, fill: fillQ },
    {
      name: "k",
      dtype: "f32",
      shape: [live, kvHeads, dim],
      tag: edits.length === 0 ? `k/${base}` : `k/${base}/${variant.edit}/${heads}/${variant.qMultiplier}`,
      fill: async (memory) => {
        await fillK(memory);
        if (edits.length === 0) return;
        const q = generatedQuery(seed, variant, heads * dim);
        for (const edit of edits) {
          const row = editedKeyRow(edit, q, heads, kvHeads, dim);
          memory.write(edit.row * rowElements * 4, new Uint8Array(row.buffer));
        }
      },
    },
    {
      name: "v",
      dtype: "f32",
      shape: [live, kvHeads, dim],
      tag: `v/${base}`,
      fill: stream(TENSOR_IDS.v, 1, live * rowElements),
    },
  ];
}

/** A small generated prefill: 8-bit values, so that every dtype sees the same numbers. Scores have a deviation near 1. */
function generatedPrefillSources(shape: PrefillShape, seed: number): readonly InputSource[] {
  const { heads, nope, rope, value, dtype } = shape;
  const queries = shape.cuSeqlensQ.at(-1)!;
  const keys = shape.cuSeqlensK.at(-1)!;
  const make = (name: string, tensor: number, multiplier: number, extents: readonly number[]): InputSource => ({
    name,
    dtype,
    shape: extents,
    tag: `${name}/${seed}/${dtype}/${multiplier}/${extents.join("x")}`,
    fill: (memory) => {
      const count = extents.reduce((product, extent) => product * extent, 1);
      memory.write(0, bytesIn(generateSlice({ seed, tensor, bits: 8, multiplier, start: 0, count }), dtype));
    },
  });
  return [
    make("q_nope", TENSOR_IDS.q, 2, [queries, heads, nope]),
    make("q_rope", TENSOR_IDS.qRope, 2, [queries, heads, rope]),
    make("k_nope", TENSOR_IDS.k, 1, [keys, heads, nope]),
    make("k_rope", TENSOR_IDS.kRope, 1, [keys, rope]),
    make("v", TENSOR_IDS.v, 1, [keys, heads, value]),
    ...boundsSources(shape),
  ];
}

function boundsSources(shape: PrefillShape): readonly InputSource[] {
  const bounds = (name: string, values: readonly number[]): InputSource => ({
    name,
    dtype: "i32",
    shape: [values.length],
    tag: `${name}/${values.join(",")}`,
    fill: (memory) => memory.write(0, new Uint8Array(Int32Array.from(values).buffer)),
  });
  return [
    bounds("cu_seqlens_q", shape.cuSeqlensQ),
    bounds("cu_seqlens_k", shape.cuSeqlensK),
    bounds("q_offset", shape.qOffset),
  ];
}

function generatedQuery(seed: number, variant: Variant, count: number): Float32Array {
  return generateSlice({
    seed,
    tensor: TENSOR_IDS.q,
    bits: variant.bits,
    multiplier: variant.qMultiplier,
    start: 0,
    count,
  });
}

function f32Bytes(values: Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** f16 and bf16 caches are widened exactly to f32. */
function decodeFileSources(testCase: Case, shape: DecodeShape): readonly InputSource[] {
  const { heads, kvHeads, dim, live } = shape;
  const file = openSafetensors(testCase.path);
  const prefix = testCase.source.kind === "tensors" ? testCase.source.prefix : "";
  const make = (name: string, extents: readonly number[]): InputSource => ({
    name,
    dtype: "f32",
    shape: extents,
    tag: `${testCase.path}/${tensorName(prefix, name)}/${extents.join("x")}`,
    fill: (memory) => {
      const count = extents.reduce((product, extent) => product * extent, 1);
      forEachPiece(file, tensorName(prefix, name), count, (start, values) => memory.write(start * 4, f32Bytes(values)));
    },
  });
  return [make("q", [heads, dim]), make("k", [live, kvHeads, dim]), make("v", [live, kvHeads, dim])];
}

/** The score of row r in key dimension 0 of KV head r, 1 in that query dimension, the same values for every head. */
function scoreSources(
  testCase: Case,
  shape: DecodeShape,
  source: Extract<Case["source"], { kind: "scores" }>,
): readonly InputSource[] {
  const { heads, dim, live } = shape;
  const file = openSafetensors(testCase.path);
  const scores = readTensor(file, tensorName(source.prefix, "scores"), { dtypes: ["f32"] });
  const values = readTensor(file, tensorName(source.prefix, "v"), { dtypes: ["f32"] });
  const tokens = scores.shape[1]!;
  const q = new Float32Array(heads * dim);
  const k = new Float32Array(live * heads * dim);
  const v = new Float32Array(live * heads * dim);
  for (let head = 0; head < heads; head++) {
    const row = source.row ?? head;
    q[head * dim] = 1;
    for (let t = 0; t < live; t++) {
      k[(t * heads + head) * dim] = scores.data[row * tokens + t] as number;
      v.set(values.data.subarray(t * dim, (t + 1) * dim) as Float32Array, (t * heads + head) * dim);
    }
  }
  const make = (name: string, data: Float32Array, extents: readonly number[]): InputSource => ({
    name,
    dtype: "f32",
    shape: extents,
    tag: `${testCase.key}/${name}`,
    fill: (memory) => memory.write(0, f32Bytes(data)),
  });
  return [make("q", q, [heads, dim]), make("k", k, [live, heads, dim]), make("v", v, [live, heads, dim])];
}

/** Rows of the query tensors that a case uses: all of them, or the last ones of every sequence. */
function queryRows(testCase: Case): readonly { readonly from: number; readonly count: number }[] {
  const { shape, source } = testCase;
  if (shape.operator !== "mla_prefill") return [];
  const chunked = source.kind === "tensors" && source.chunk !== undefined;
  return shape.qOffset.map((offset, b) => ({
    from: chunked ? shape.cuSeqlensK[b]! + offset : shape.cuSeqlensQ[b]!,
    count: shape.cuSeqlensQ[b + 1]! - shape.cuSeqlensQ[b]!,
  }));
}

function prefillSources(testCase: Case): readonly InputSource[] {
  const { shape } = testCase;
  if (shape.operator !== "mla_prefill") throw new Error(`${testCase.key} is no prefill case.`);
  const { heads, nope, rope, value, dtype } = shape;
  const queries = shape.cuSeqlensQ.at(-1)!;
  const keys = shape.cuSeqlensK.at(-1)!;
  const file = openSafetensors(testCase.path);
  const prefix = testCase.source.kind === "tensors" ? testCase.source.prefix : "";
  const rows = queryRows(testCase);
  const query = (name: string, width: number): InputSource => ({
    name,
    dtype,
    shape: [queries, heads, width],
    tag: `${testCase.key}/${name}`,
    fill: (memory) => {
      const all = widenedRows(file, tensorName(prefix, name));
      let at = 0;
      for (const { from, count } of rows) {
        const part = all.subarray(from * heads * width, (from + count) * heads * width);
        memory.write(at, bytesIn(part, dtype));
        at += part.length * elementBytes(dtype);
      }
    },
  });
  const key = (name: string, extents: readonly number[]): InputSource => ({
    name,
    dtype,
    shape: extents,
    tag: `${testCase.key}/${name}`,
    fill: (memory) => {
      const count = extents.reduce((product, extent) => product * extent, 1);
      forEachPiece(file, tensorName(prefix, name), count, (start, values) =>
        memory.write(start * elementBytes(dtype), bytesIn(values, dtype)),
      );
    },
  });
  return [
    query("q_nope", nope),
    query("q_rope", rope),
    key("k_nope", [keys, heads, nope]),
    key("k_rope", [keys, rope]),
    key("v", [keys, heads, value]),
    ...boundsSources(shape),
  ];
}

function widenedRows(file: SafetensorsFile, name: string): Float32Array {
  const count = file.entries.get(name)!.shape.reduce((product, extent) => product * extent, 1);
  const all = new Float32Array(count);
  forEachPiece(file, name, count, (start, values) => all.set(values, start));
  return all;
}

/** The float64 output that the file of a case holds, cut to the rows of the case. */
function storedReference(testCase: Case): StoredReference | undefined {
  if (testCase.path === "") return undefined;
  const file = openSafetensors(testCase.path);
  const { source, shape } = testCase;
  const prefix = source.kind === "generator" ? testCase.alias : source.prefix;
  const name = storedName(file, prefix);
  if (name === undefined) return undefined;
  if (shape.operator === "gqa_decode") {
    if (source.kind !== "scores" || source.row === undefined) return { out: widenToF64(readTensor(file, name)) };
    const bytes = readElementBytes(file, name, source.row * shape.dim, shape.dim);
    return { out: widenToF64(tensorFromBytes("f64", [shape.dim], bytes)) };
  }
  const all = widenToF64(readTensor(file, name));
  const rowElements = shape.heads * shape.value;
  const parts = queryRows(testCase).map(({ from, count }) =>
    all.subarray(from * rowElements, (from + count) * rowElements),
  );
  const out = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return { out };
}

/** The input tensors of a shape as buffers, for outputs that were computed elsewhere and have no route here. */
export function inputBuffers(shape: CaseShape): readonly RouteBuffer[] {
  const make = (name: string, dtype: KernelDtype | "i32", extents: readonly number[]): RouteBuffer => {
    const bytes = Math.max(4, extents.reduce((product, extent) => product * extent, 1) * elementBytes(dtype));
    return { name, role: "input", dtype, shape: extents, bytes };
  };
  if (shape.operator === "gqa_decode") {
    const { heads, kvHeads, dim, live } = shape;
    return [
      make("q", "f32", [heads, dim]),
      make("k", "f32", [live, kvHeads, dim]),
      make("v", "f32", [live, kvHeads, dim]),
    ];
  }
  const { heads, nope, rope, value, dtype } = shape;
  const queries = shape.cuSeqlensQ.at(-1)!;
  const keys = shape.cuSeqlensK.at(-1)!;
  return [
    make("q_nope", dtype, [queries, heads, nope]),
    make("q_rope", dtype, [queries, heads, rope]),
    make("k_nope", dtype, [keys, heads, nope]),
    make("k_rope", dtype, [keys, rope]),
    make("v", dtype, [keys, heads, value]),
  ];
}
