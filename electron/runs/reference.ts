/** The oracle and, for f16 and bf16, the low-precision twin of a case, on the very memory that the kernels read. */
import { createHash } from "node:crypto";
import type { CaseShape, DecodeShape, KernelDtype, PrefillShape } from "../../kernels/route.ts";
import type { Addon, NativeDecodeInput, NativePrefillInput, NativeTensor } from "../../native/addon.ts";
import type { DeviceBuffer } from "../../native/device.ts";
import type { OracleRows } from "./comparison.ts";

export interface Reference {
  readonly oracle: OracleRows;
  /** Output of plain attention in the dtype; undefined for f32. */
  readonly twin: Float64Array | undefined;
  /** SHA-256 of the little-endian float64 output. */
  readonly sha256: string;
  /** Largest finite scale * sum |q_d k_d| of the case. */
  readonly conditioning: number;
  readonly ms: number;
}

type Buffers = ReadonlyMap<string, DeviceBuffer>;

function bufferOf(buffers: Buffers, name: string): DeviceBuffer {
  const buffer = buffers.get(name);
  if (buffer === undefined) throw new Error(`The oracle needs the input "${name}", which was not made.`);
  return buffer;
}

function native(buffers: Buffers, name: string, dtype: KernelDtype): NativeTensor {
  return { memory: bufferOf(buffers, name).memory, dtype };
}

/** Arguments of the native decode oracle for a case in buffers. Throws Error where an input is missing. */
export function decodeInput(shape: DecodeShape, buffers: Buffers): NativeDecodeInput {
  const { heads, kvHeads, dim, live, scale } = shape;
  const tensor = (name: string) => native(buffers, name, "f32");
  return { q: tensor("q"), k: tensor("k"), v: tensor("v"), heads, kvHeads, dim, live, scale };
}

/** Arguments of the native prefill oracle for a case in buffers. Throws Error where an input is missing. */
export function prefillInput(shape: PrefillShape, buffers: Buffers): NativePrefillInput {
  const { heads, nope, rope, value, scale, dtype } = shape;
  const tensor = (name: string) => native(buffers, name, dtype);
  return {
    qNope: tensor("q_nope"),
    qRope: tensor("q_rope"),
    kNope: tensor("k_nope"),
    kRope: tensor("k_rope"),
    v: tensor("v"),
    heads,
    nope,
    rope,
    value,
    cuSeqlensQ: Int32Array.from(shape.cuSeqlensQ),
    cuSeqlensK: Int32Array.from(shape.cuSeqlensK),
    qOffset: Int32Array.from(shape.qOffset),
    scale,
  };
}

/**
 * Computes the reference of a case. `dtype` is that of the judged output; it differs from the shape's only for imported
 * decode outputs in f16 or bf16, whose caches are exact in it.
 */
export async function referenceOf(
  shape: CaseShape,
  dtype: KernelDtype,
  buffers: Buffers,
  addon: Addon,
): Promise<Reference> {
  const start = performance.now();
  let oracle: OracleRows;
  let twin: Float64Array | undefined;
  if (shape.operator === "gqa_decode") {
    const input = decodeInput(shape, buffers);
    oracle = await addon.gqaDecode(input);
    if (dtype !== "f32") twin = Float64Array.from(await addon.gqaDecodeTwin(input, dtype));
  } else {
    const input = prefillInput(shape, buffers);
    oracle = await addon.mlaPrefill(input);
    if (dtype !== "f32") twin = Float64Array.from(await addon.mlaPrefillTwin(input, dtype));
  }
  const bytes = new Uint8Array(oracle.out.buffer, oracle.out.byteOffset, oracle.out.byteLength);
  return {
    oracle,
    twin,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    conditioning: oracle.conditioning.reduce((a, b) => Math.max(a, b), 0),
    ms: performance.now() - start,
  };
}
