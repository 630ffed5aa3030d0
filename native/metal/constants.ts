/** Function constants: from the numbers of a descriptor to the bytes that Metal reads, with problems in words of their own. */
import type { FunctionConstant, PipelineDescriptor } from "../device.ts";
import { bindConstants } from "../msl/transform.ts";
import type { MetalConstant, MetalLibraryFunction } from "./binding.ts";

interface TypeRow {
  /** Raw MTLDataType (MTLArgument.h). */
  readonly raw: number;
  readonly name: string;
  readonly bytes: number;
  readonly write: (view: DataView, value: number) => void;
}

/** The types of which a single number is a value. Vectors of two to four follow each of them by raw value. */
const SCALARS: readonly TypeRow[] = [
  { raw: 3, name: "float", bytes: 4, write: (view, value) => view.setFloat32(0, value, true) },
  { raw: 16, name: "half", bytes: 2, write: (view, value) => view.setUint16(0, halfBits(value), true) },
  { raw: 29, name: "int", bytes: 4, write: (view, value) => view.setInt32(0, value, true) },
  { raw: 33, name: "uint", bytes: 4, write: (view, value) => view.setUint32(0, value, true) },
  { raw: 37, name: "short", bytes: 2, write: (view, value) => view.setInt16(0, value, true) },
  { raw: 41, name: "ushort", bytes: 2, write: (view, value) => view.setUint16(0, value, true) },
  { raw: 45, name: "char", bytes: 1, write: (view, value) => view.setInt8(0, value) },
  { raw: 49, name: "uchar", bytes: 1, write: (view, value) => view.setUint8(0, value) },
  { raw: 53, name: "bool", bytes: 1, write: (view, value) => view.setUint8(0, value === 0 ? 0 : 1) },
  { raw: 81, name: "long", bytes: 8, write: (view, value) => view.setBigInt64(0, BigInt(value), true) },
  { raw: 85, name: "ulong", bytes: 8, write: (view, value) => view.setBigUint64(0, BigInt(value), true) },
  { raw: 121, name: "bfloat", bytes: 2, write: (view, value) => view.setUint16(0, bfloatBits(value), true) },
];

export type EncodedConstants =
  | {
      readonly ok: true;
      readonly constants: readonly MetalConstant[];
      /** What Metal calls required and nobody has set, as a sentence with its mend. Metal has the last word on it. */
      readonly missing: string | undefined;
    }
  | { readonly ok: false; readonly problem: string };

/** Name of a raw MTLDataType in MSL: `uint`, `half4`; `MTLDataType 7` for what no constant can be set to here. */
export function typeName(raw: number): string {
  const row = SCALARS.find((one) => raw >= one.raw && raw <= one.raw + 3);
  if (row === undefined) return `MTLDataType ${raw}`;
  return raw === row.raw ? row.name : `${row.name}${raw - row.raw + 1}`;
}

/** Every function constant of a library, each once, by index. */
export function libraryConstants(functions: readonly MetalLibraryFunction[]): readonly FunctionConstant[] {
  const found = new Map<number, FunctionConstant>();
  for (const { constants } of functions) {
    for (const { name, index, type } of constants) found.set(index, { name, index, type: typeName(type) });
  }
  return [...found.values()].sort((a, b) => a.index - b.index);
}

/**
 * The values for one function, in the order of their indices. Values of constants that other functions of the library use
 * are checked and left out.
 * @param library `libraryConstants` of the whole library
 */
export function encodeConstants(
  entry: MetalLibraryFunction,
  library: readonly FunctionConstant[],
  given: NonNullable<PipelineDescriptor["constants"]>,
): EncodedConstants {
  const { values, problem } = bindConstants(library, given);
  if (problem !== undefined) return { ok: false, problem: `${entry.name}: ${problem}.` };
  const constants: MetalConstant[] = [];
  const missing: string[] = [];
  for (const { name, index, type, required } of [...entry.constants].sort((a, b) => a.index - b.index)) {
    const value = values.get(name);
    if (value === undefined) {
      if (required) missing.push(`'${name}' (index ${index}, ${typeName(type)})`);
      continue;
    }
    const row = SCALARS.find((one) => one.raw === type);
    if (row === undefined) {
      const why = `function constant '${name}' has type ${typeName(type)}; only single numbers and booleans can be set`;
      return { ok: false, problem: `${entry.name}: ${why}.` };
    }
    const wide = wideProblem(row.name, name, Number(value));
    if (wide !== undefined) return { ok: false, problem: `${entry.name}: ${wide}.` };
    const bytes = new Uint8Array(row.bytes);
    row.write(new DataView(bytes.buffer), Number(value));
    constants.push({ index, type, bytes });
  }
  if (missing.length === 0) return { ok: true, constants, missing: undefined };
  const words = `${entry.name} uses function constants without a value: ${missing.join(", ")}. Set them in \`constants\`.`;
  return { ok: true, constants, missing: words };
}

/** 64-bit integers: a JavaScript number has to hold the value exactly. */
function wideProblem(type: string, name: string, value: number): string | undefined {
  if (type !== "long" && type !== "ulong") return undefined;
  if (Number.isSafeInteger(value) && (type === "long" || value >= 0)) return undefined;
  const least = type === "long" ? Number.MIN_SAFE_INTEGER : 0;
  return `function constant '${name}' is ${value}; its type ${type} takes whole numbers from ${least} to ${Number.MAX_SAFE_INTEGER} here`;
}

/** Bits of the nearest half, ties to even; too large a value becomes infinity. */
function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  // Units of the last place: 2^-24 below 2^-14, else 10 bits below the exponent. The quotient is exact.
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude)));
  const unit = 2 ** (exponent - 10);
  const steps = roundToEven(magnitude / unit);
  const bits = steps + (exponent + 14) * 1024;
  return sign | Math.min(bits, 0x7c00);
}

/** Bits of the nearest bfloat, ties to even, by way of f32 as MSL's own conversion of a float. */
function bfloatBits(value: number): number {
  const bits = new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

function roundToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}
