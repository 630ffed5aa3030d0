/** Byte sizes of buffers, with every product checked. */
import type { KernelDtype, RouteBuffer } from "./route.ts";

/** Bytes of an element of a kernel buffer. */
export const ELEMENT_BYTES: Readonly<Record<RouteBuffer["dtype"], number>> = { f32: 4, f16: 2, bf16: 2, i32: 4 };

/** The MSL scalar type of a dtype; bfloat needs MSL 3.1. */
export const MSL_TYPE: Readonly<Record<KernelDtype, string>> = { f32: "float", f16: "half", bf16: "bfloat" };

/** Metal's limit for static plus dynamic threadgroup memory on every Apple family (native/chips.json). */
export const THREADGROUP_BYTES_LIMIT = 32_768;

/**
 * Largest buffer that a route plans with: 16 GiB. A device may offer less and then
 * refuses the allocation itself.
 */
export const MAX_BUFFER_BYTES = 2 ** 34;

/** Largest grid index of the kernels: rows and tokens are 32-bit unsigned and must leave room for one block more. */
export const MAX_ROWS = 2 ** 31 - 1;

/** Product of non-negative integers. Throws RangeError where a factor is not one or the product is not exact. */
export function checkedProduct(label: string, factors: readonly number[]): number {
  let product = 1;
  for (const factor of factors) {
    if (!Number.isSafeInteger(factor) || factor < 0) {
      throw new RangeError(`${label}: ${factor} is not a non-negative integer (factors ${factors.join(" x ")})`);
    }
    product *= factor;
    if (!Number.isSafeInteger(product)) {
      throw new RangeError(`${label}: ${factors.join(" x ")} overflows; the largest exact product is 2^53 - 1`);
    }
  }
  return product;
}

/** Sum of non-negative integers, checked as `checkedProduct` is. */
export function checkedSum(label: string, terms: readonly number[]): number {
  let sum = 0;
  for (const term of terms) {
    sum += term;
    if (!Number.isSafeInteger(sum)) throw new RangeError(`${label}: ${terms.join(" + ")} overflows`);
  }
  return sum;
}

export function ceilDiv(dividend: number, divisor: number): number {
  return Math.ceil(dividend / divisor);
}

/**
 * A contiguous buffer. A tensor without elements still gets one 4-byte word, since Metal refuses a length of 0; no
 * kernel reads it. Throws RangeError above `MAX_BUFFER_BYTES`.
 */
export function routeBuffer(
  name: string,
  role: RouteBuffer["role"],
  dtype: RouteBuffer["dtype"],
  shape: readonly number[],
): RouteBuffer {
  const bytes = checkedProduct(`buffer ${name}`, [...shape, ELEMENT_BYTES[dtype]]);
  if (bytes > MAX_BUFFER_BYTES) {
    throw new RangeError(
      `buffer ${name} is ${bytes.toLocaleString("en-US")} bytes; the limit is ` +
        `${MAX_BUFFER_BYTES.toLocaleString("en-US")}: use a smaller case`,
    );
  }
  return { name, role, dtype, shape, bytes: Math.max(bytes, 4) };
}

/** Sum of the scratch bytes of a route. */
export function scratchBytes(buffers: readonly RouteBuffer[]): number {
  return checkedSum(
    "scratch",
    buffers.filter((buffer) => buffer.role === "scratch").map((buffer) => buffer.bytes),
  );
}
