/** Tensors as plain values: a dtype, a shape and raw little-endian, row-major elements; exact conversion between them. */

export type Dtype = "f64" | "f32" | "f16" | "bf16" | "i32";

/** The dtypes of attention inputs and outputs. */
export type FloatDtype = "f32" | "f16" | "bf16";

/** `f16` and `bf16` elements are held as their 16-bit patterns. */
export interface TensorData {
  readonly f64: Float64Array;
  readonly f32: Float32Array;
  readonly f16: Uint16Array;
  readonly bf16: Uint16Array;
  readonly i32: Int32Array;
}

export type Tensor = {
  readonly [D in Dtype]: { readonly dtype: D; readonly shape: readonly number[]; readonly data: TensorData[D] };
}[Dtype];

export const DTYPE_BYTES: Readonly<Record<Dtype, number>> = { f64: 8, f32: 4, f16: 2, bf16: 2, i32: 4 };

/** IEEE 754 layout of each float dtype: explicit mantissa bits and the exponent of the smallest normal number. */
export const FLOAT_FORMATS: Readonly<
  Record<FloatDtype, { readonly mantissaBits: number; readonly minExponent: number; readonly maxExponent: number }>
> = {
  f32: { mantissaBits: 23, minExponent: -126, maxExponent: 127 },
  f16: { mantissaBits: 10, minExponent: -14, maxExponent: 15 },
  bf16: { mantissaBits: 7, minExponent: -126, maxExponent: 127 },
};

/** Product of a shape; 1 for a scalar. Throws RangeError where an extent is no whole number or the product overflows. */
export function elementCount(shape: readonly number[]): number {
  let count = 1;
  for (const extent of shape) {
    if (!Number.isSafeInteger(extent) || extent < 0) {
      throw new RangeError(`shape [${shape.join(", ")}] holds ${extent}; extents are whole numbers from 0 up`);
    }
    count *= extent;
    if (!Number.isSafeInteger(count)) {
      throw new RangeError(`shape [${shape.join(", ")}] has more than 2^53 elements; use smaller extents`);
    }
  }
  return count;
}

/** A tensor of `dtype` over little-endian `bytes`, which are copied. Throws RangeError if their length does not fit. */
export function tensorFromBytes(dtype: Dtype, shape: readonly number[], bytes: Uint8Array): Tensor {
  const expected = elementCount(shape) * DTYPE_BYTES[dtype];
  if (bytes.byteLength !== expected) {
    throw new RangeError(
      `${dtype} [${shape.join(", ")}] needs ${expected} bytes and ${bytes.byteLength} were given: give exactly as many`,
    );
  }
  // A fresh buffer, because a view needs an aligned offset.
  const buffer = new ArrayBuffer(bytes.byteLength);
  new Uint8Array(buffer).set(bytes);
  switch (dtype) {
    case "f64":
      return { dtype, shape, data: new Float64Array(buffer) };
    case "f32":
      return { dtype, shape, data: new Float32Array(buffer) };
    case "i32":
      return { dtype, shape, data: new Int32Array(buffer) };
    case "f16":
    case "bf16":
      return { dtype, shape, data: new Uint16Array(buffer) };
  }
}

/** The raw little-endian bytes of a tensor, without a copy. */
export function tensorBytes(tensor: Tensor): Uint8Array {
  return new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
}

const word = new Uint32Array(2);
const wordAsF32 = new Float32Array(word.buffer, 0, 1);
const wordAsF64 = new Float64Array(word.buffer);

/** The value of an f16 bit pattern. */
export function f16ToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const mantissa = bits & 0x3ff;
  if (exponent === 0x1f) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  return sign * (1024 + mantissa) * 2 ** (exponent - 25);
}

/** The value of a bf16 bit pattern: the upper half of an f32. */
export function bf16ToNumber(bits: number): number {
  word[0] = bits << 16;
  return wordAsF32[0]!;
}

/** Unbiased binary exponent of a finite nonzero double, -1023 for its subnormals. */
function exponentOf(x: number): number {
  wordAsF64[0] = x;
  return ((word[1]! >>> 20) & 0x7ff) - 1023;
}

/** Rounds 0 <= x < 2^52 to a whole number, ties to even: adding 2^52 leaves no bits for a fraction. */
function roundTiesToEven(x: number): number {
  return x + 2 ** 52 - 2 ** 52;
}

/** Rounds |x| (a double) once, to nearest even, to 16 bits with `mantissaBits` explicit mantissa bits. */
function narrow16(x: number, dtype: "f16" | "bf16"): number {
  const { mantissaBits, minExponent, maxExponent } = FLOAT_FORMATS[dtype];
  const infinity = (maxExponent - minExponent + 2) << mantissaBits;
  if (Number.isNaN(x)) return infinity | (1 << (mantissaBits - 1));
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(x);
  if (magnitude === 0) return sign;
  if (magnitude === Number.POSITIVE_INFINITY) return sign | infinity;
  const exponent = Math.max(exponentOf(magnitude), minExponent);
  if (exponent > maxExponent) return sign | infinity;
  // In units of the last place of this binade. A carry into the next binade, or into infinity, comes out right because
  // exponent and mantissa are adjacent fields.
  const units = roundTiesToEven(magnitude * 2 ** (mantissaBits - exponent));
  return sign | (((exponent - minExponent) << mantissaBits) + units);
}

/** The f16 pattern nearest to a double, ties to even, rounded once; overflow gives infinity. */
export function numberToF16(x: number): number {
  return narrow16(x, "f16");
}

/** The bf16 pattern nearest to a double, ties to even, rounded once; overflow gives infinity. */
export function numberToBf16(x: number): number {
  return narrow16(x, "bf16");
}

/** A double rounded once to the nearest value of `dtype`, ties to even. */
export function roundTo(x: number, dtype: FloatDtype): number {
  if (dtype === "f32") return Math.fround(x);
  return dtype === "f16" ? f16ToNumber(narrow16(x, "f16")) : bf16ToNumber(narrow16(x, "bf16"));
}

/** Every element as a double, exactly. f64 tensors return their own data. */
export function widenToF64(tensor: Tensor): Float64Array {
  switch (tensor.dtype) {
    case "f64":
      return tensor.data;
    case "f32":
    case "i32":
      return Float64Array.from(tensor.data);
    case "f16":
      return Float64Array.from(tensor.data, f16ToNumber);
    case "bf16":
      return Float64Array.from(tensor.data, bf16ToNumber);
  }
}

/** Every element of an f32, f16 or bf16 tensor as f32, exactly. Throws TypeError for f64 and i32, which may not fit. */
export function widenToF32(tensor: Tensor): Float32Array {
  switch (tensor.dtype) {
    case "f32":
      return tensor.data;
    case "f16":
      return Float32Array.from(tensor.data, f16ToNumber);
    case "bf16":
      return Float32Array.from(tensor.data, bf16ToNumber);
    case "f64":
    case "i32":
      throw new TypeError(`a ${tensor.dtype} tensor does not widen to f32; use narrow() to round it`);
  }
}

/** Rounds every value once to `dtype`, ties to even. Throws RangeError if the shape does not fit the values. */
export function narrow(values: ArrayLike<number>, dtype: FloatDtype | "f64", shape: readonly number[]): Tensor {
  if (elementCount(shape) !== values.length) {
    throw new RangeError(
      `[${shape.join(", ")}] has ${elementCount(shape)} elements and ${values.length} values were given`,
    );
  }
  switch (dtype) {
    case "f64":
      return { dtype, shape, data: Float64Array.from(values) };
    case "f32":
      return { dtype, shape, data: Float32Array.from(values) };
    case "f16":
      return { dtype, shape, data: Uint16Array.from(values, numberToF16) };
    case "bf16":
      return { dtype, shape, data: Uint16Array.from(values, numberToBf16) };
  }
}

/** True if every value is exact in `dtype`. NaN counts as exact: it stays NaN. */
export function isExactIn(values: ArrayLike<number>, dtype: FloatDtype): boolean {
  for (let i = 0; i < values.length; i++) {
    if (!Object.is(roundTo(values[i]!, dtype), values[i]!)) return false;
  }
  return true;
}

/** True if every value is exact in f16, bf16 and f32, so that all three see the same inputs. */
export function isX16(values: ArrayLike<number>): boolean {
  return isExactIn(values, "f16") && isExactIn(values, "bf16");
}

/** The same values in another float dtype. Throws RangeError naming the first element that would change. */
export function convertExactly(tensor: Tensor, dtype: FloatDtype): Tensor {
  if (tensor.dtype === dtype) return tensor;
  const values = widenToF64(tensor);
  for (let i = 0; i < values.length; i++) {
    const rounded = roundTo(values[i]!, dtype);
    if (!Object.is(rounded, values[i]!)) {
      throw new RangeError(
        `element ${i} is ${values[i]} and would become ${rounded} in ${dtype}: run this case in ${tensor.dtype}`,
      );
    }
  }
  return narrow(values, dtype, tensor.shape);
}
