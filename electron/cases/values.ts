/** Reads tensors in pieces, so that a cache of gigabytes needs no copy in memory, and refuses NaN where it counts. */
import { dtypeOf, readElementBytes, SafetensorsError, type SafetensorsFile } from "../../oracle/safetensors.ts";
import {
  convertExactly,
  type FloatDtype,
  type Tensor,
  tensorBytes,
  tensorFromBytes,
  widenToF32,
} from "../../oracle/tensor.ts";

const PIECE_ELEMENTS = 1 << 20;

const FLOATS: readonly FloatDtype[] = ["f32", "f16", "bf16"];

/** The float dtype of a tensor. Throws `SafetensorsError` for f64, integers and dtypes that no operator takes. */
export function floatDtype(file: SafetensorsFile, name: string): FloatDtype {
  const format = file.entries.get(name)?.format;
  const found = FLOATS.find((candidate) => candidate.toUpperCase() === format);
  if (found !== undefined) return found;
  const actual = (format ?? dtypeOf(file, name)).toLowerCase();
  throw new SafetensorsError(file.path, name, `is ${actual} and must be f32, f16 or bf16: convert it`);
}

/** Shape of a tensor, checked: `undefined` extents may have any size. */
export function shapeOf(
  file: SafetensorsFile,
  name: string,
  expected: readonly (number | undefined)[],
  words: string,
): readonly number[] {
  const shape = file.entries.get(name)?.shape;
  if (shape === undefined)
    throw new SafetensorsError(file.path, name, `is not in the file and must be ${words}: add it`);
  if (shape.length !== expected.length || expected.some((extent, i) => extent !== undefined && extent !== shape[i])) {
    const wanted = expected.map((extent) => extent ?? "any").join(", ");
    throw new SafetensorsError(
      file.path,
      name,
      `has shape [${shape.join(", ")}] and must have [${wanted}], ${words}: correct it`,
    );
  }
  return shape;
}

const tables = new Map<string, Float32Array>();

/** The value of every 16-bit pattern: files hold millions of elements, and there are only 65,536 of these. */
function valueTable(dtype: "f16" | "bf16"): Float32Array {
  const known = tables.get(dtype);
  if (known !== undefined) return known;
  const data = Uint16Array.from({ length: 0x10000 }, (_, bits) => bits);
  const table = widenToF32({ dtype, shape: [data.length], data });
  tables.set(dtype, table);
  return table;
}

function widenPiece(tensor: Tensor): Float32Array {
  if (tensor.dtype !== "f16" && tensor.dtype !== "bf16") return widenToF32(tensor);
  const table = valueTable(tensor.dtype);
  const values = new Float32Array(tensor.data.length);
  for (let i = 0; i < values.length; i++) values[i] = table[tensor.data[i]!]!;
  return values;
}

/** Calls `visit` with consecutive pieces of the first `count` elements, widened exactly to f32. */
export function forEachPiece(
  file: SafetensorsFile,
  name: string,
  count: number,
  visit: (start: number, values: Float32Array) => void,
): void {
  const dtype = floatDtype(file, name);
  for (let start = 0; start < count; start += PIECE_ELEMENTS) {
    const length = Math.min(PIECE_ELEMENTS, count - start);
    const bytes = readElementBytes(file, name, start, length);
    visit(start, widenPiece(tensorFromBytes(dtype, [length], bytes)));
  }
}

/** Little-endian bytes of f32 values in `dtype`; they must be exact in it. */
export function bytesIn(values: Float32Array, dtype: FloatDtype): Uint8Array {
  return tensorBytes(convertExactly({ dtype: "f32", shape: [values.length], data: values }, dtype));
}

/** `[3, 1, 17]` for the flat index of an element. */
export function indexWords(shape: readonly number[], flat: number): string {
  const index: number[] = [];
  let rest = flat;
  for (const extent of [...shape].reverse()) {
    index.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  return `[${index.join(", ")}]`;
}

/**
 * True if every value is exact in f16, bf16 and f32: told from the bits of the f32, because files have millions of values.
 * Exact in bf16: the low 16 bits are zero, so at most 8 significant bits are left, which f16 holds between 2^-14 and 2^16;
 * below, a multiple of 2^-24, its smallest subnormal.
 */
export function isX16(values: Float32Array): boolean {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < words.length; i++) {
    if ((words[i]! & 0xffff) !== 0) return false;
    const exponent = ((words[i]! >>> 23) & 0xff) - 127;
    if (exponent >= -14 && exponent <= 15) continue;
    const value = values[i]!;
    if (value - value !== 0) continue;
    if (exponent > 15 || !Number.isInteger(value * 2 ** 24)) return false;
  }
  return true;
}

/** What the scan of a case's values found. */
export interface ValueFacts {
  /** True if every value seen so far is exact in f16, bf16 and f32. */
  x16: boolean;
}

/**
 * Scans the first `count` elements. NaN is refused, with its place; so are infinities where `finite` (a query or a value
 * row may not hold one, while a key of -inf masks its token). `mend` says what to do about it.
 */
export function scanValues(
  file: SafetensorsFile,
  name: string,
  count: number,
  finite: boolean,
  facts: ValueFacts,
  mend = "correct it",
): void {
  const shape = file.entries.get(name)?.shape ?? [];
  forEachPiece(file, name, count, (start, values) => {
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      if (value - value === 0) continue;
      if (Number.isNaN(value) || finite) {
        const words = Number.isNaN(value) ? "NaN" : String(value);
        throw new SafetensorsError(
          file.path,
          name,
          `holds ${words} at ${indexWords(shape, start + i)}, inside the live range: ${mend}`,
        );
      }
    }
    if (facts.x16) facts.x16 = isX16(values);
  });
}
