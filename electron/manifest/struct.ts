/** Bytes of a kernel's inline arguments: fields at their natural alignment, little-endian, as C lays out a struct. */
import { numberToBf16, numberToF16 } from "../../oracle/tensor.ts";
import { UsageError } from "../runs/usage.ts";
import { numberOf, type Sizes } from "./expression.ts";
import type { FieldType, StructField } from "./manifest.ts";

interface FieldFormat {
  readonly bytes: number;
  /** Inclusive; null for floats. */
  readonly range: readonly [number, number] | null;
  readonly write: (view: DataView, at: number, value: number) => void;
}

const FORMATS: Readonly<Record<FieldType, FieldFormat>> = {
  bool: { bytes: 1, range: [0, 1], write: (view, at, value) => view.setUint8(at, value) },
  i8: { bytes: 1, range: [-128, 127], write: (view, at, value) => view.setInt8(at, value) },
  u8: { bytes: 1, range: [0, 255], write: (view, at, value) => view.setUint8(at, value) },
  i16: { bytes: 2, range: [-32768, 32767], write: (view, at, value) => view.setInt16(at, value, true) },
  u16: { bytes: 2, range: [0, 65535], write: (view, at, value) => view.setUint16(at, value, true) },
  i32: { bytes: 4, range: [-(2 ** 31), 2 ** 31 - 1], write: (view, at, value) => view.setInt32(at, value, true) },
  u32: { bytes: 4, range: [0, 2 ** 32 - 1], write: (view, at, value) => view.setUint32(at, value, true) },
  i64: {
    bytes: 8,
    range: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    write: (view, at, value) => view.setBigInt64(at, BigInt(value), true),
  },
  u64: {
    bytes: 8,
    range: [0, Number.MAX_SAFE_INTEGER],
    write: (view, at, value) => view.setBigUint64(at, BigInt(value), true),
  },
  f16: { bytes: 2, range: null, write: (view, at, value) => view.setUint16(at, numberToF16(value), true) },
  bf16: { bytes: 2, range: null, write: (view, at, value) => view.setUint16(at, numberToBf16(value), true) },
  f32: { bytes: 4, range: null, write: (view, at, value) => view.setFloat32(at, value, true) },
};

/** Packs fields. Throws `UsageError` for a value that its type does not hold. */
export function packStruct(fields: readonly StructField[], sizes: Sizes, what: string): Uint8Array {
  const placed: { readonly at: number; readonly format: FieldFormat; readonly value: number }[] = [];
  let end = 0;
  let alignment = 1;
  fields.forEach((field, index) => {
    const format = FORMATS[field.type];
    alignment = Math.max(alignment, format.bytes);
    end = Math.ceil(end / format.bytes) * format.bytes;
    for (const expression of Array.isArray(field.value) ? field.value : [field.value]) {
      const where = `${what}, field ${field.name ?? index}`;
      const value = numberOf(expression, sizes, where);
      const { range } = format;
      if (range !== null && !(Number.isSafeInteger(value) && value >= range[0] && value <= range[1])) {
        throw new UsageError(`${where}: ${expression} is ${value}; ${field.type} holds ${range[0]} to ${range[1]}.`);
      }
      placed.push({ at: end, format, value });
      end += format.bytes;
    }
  });
  const bytes = new Uint8Array(Math.ceil(end / alignment) * alignment);
  const view = new DataView(bytes.buffer);
  for (const { at, format, value } of placed) format.write(view, at, value);
  return bytes;
}

/** Bytes of a list of values of one type, without gaps. */
export function packList(type: FieldType, values: readonly number[], what: string): Uint8Array {
  return packStruct([{ type, value: [...values] }], {}, what);
}
