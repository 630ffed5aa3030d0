/** Tensors as plain values: a dtype, a shape and raw little-endian, row-major elements. */

export type Dtype = "f64" | "f32" | "f16" | "bf16" | "i32";

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
