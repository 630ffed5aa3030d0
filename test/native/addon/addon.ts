/** The addon that `node build/bootstrap.mjs` built, and tensors in its memory. */
import { fileURLToPath } from "node:url";
import { loadAddon, type NativeTensor } from "../../../native/addon.ts";
import type { Tensor } from "../../../oracle/tensor.ts";
import { tensorBytes } from "../../../oracle/tensor.ts";

export const ADDON_PATH = fileURLToPath(new URL("../../../out/lockstep.node", import.meta.url));

export const addon = loadAddon(ADDON_PATH);

/** Copies a tensor into native memory. */
export function toNative(tensor: Tensor): NativeTensor {
  if (tensor.dtype === "f64" || tensor.dtype === "i32") throw new TypeError(`no native ${tensor.dtype} tensors`);
  const bytes = tensorBytes(tensor);
  const memory = addon.allocate(Math.max(1, bytes.length));
  memory.write(0, bytes);
  return { memory, dtype: tensor.dtype };
}

/** A tensor of f32 values in native memory. */
export function nativeF32(data: Float32Array): NativeTensor {
  return toNative({ dtype: "f32", shape: [data.length], data });
}
