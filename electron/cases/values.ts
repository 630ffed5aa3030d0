/** Reads tensors in pieces, so that a cache of gigabytes needs no copy in memory, and refuses NaN where it counts. */
import { dtypeOf, readElementBytes, SafetensorsError, type SafetensorsFile } from "../../oracle/safetensors.ts";
import {
  convertExactly,
  type FloatDtype,
  isExactIn,
  tensorBytes,
  tensorFromBytes,
  widenToF32,
} from "../../oracle/tensor.ts";

const PIECE_ELEMENTS = 1 << 20;

const FLOATS: readonly FloatDtype[] = ["f32", "f16", "bf16"];

/** The float dtype of a tensor. Throws `SafetensorsError` for f64 and integers. */
export function floatDtype(file: SafetensorsFile, name: string): FloatDtype {
  const dtype = dtypeOf(file, name);
  const found = FLOATS.find((candidate) => candidate === dtype);
  if (found === undefined) {
    throw new SafetensorsError(file.path, name, `is ${dtype} and must be f32, f16 or bf16: convert it`);
  }
  return found;
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
    visit(start, widenToF32(tensorFromBytes(dtype, [length], bytes)));
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

/** What the scan of a case's values found. */
export interface ValueFacts {
  /** True if every value seen so far is exact in f16, bf16 and f32. */
  x16: boolean;
}

/**
 * Scans the first `count` elements. NaN is refused, with its place; so are infinities where `finite` (a query or a value
 * row may not hold one, while a key of -inf masks its token).
 */
export function scanValues(
  file: SafetensorsFile,
  name: string,
  count: number,
  finite: boolean,
  facts: ValueFacts,
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
          `holds ${words} at ${indexWords(shape, start + i)}, inside the live range: correct it, or lower "live"`,
        );
      }
    }
    if (facts.x16) facts.x16 = isExactIn(values, "f16") && isExactIn(values, "bf16");
  });
}
