/** Packs the parameter structs of the kernels: 4-byte fields in declaration order, little-endian, no padding. */

export type ParamField =
  | { readonly name: string; readonly type: "u32"; readonly value: number }
  | { readonly name: string; readonly type: "i32"; readonly value: number }
  | { readonly name: string; readonly type: "f32"; readonly value: number };

/** Bytes of a struct of 32-bit fields. Throws RangeError where an integer does not fit or a float is not finite. */
export function packParams(fields: readonly ParamField[]): Uint8Array {
  const bytes = new Uint8Array(4 * fields.length);
  const view = new DataView(bytes.buffer);
  fields.forEach((field, index) => {
    const { name, type, value } = field;
    if (type === "f32") {
      if (!Number.isFinite(Math.fround(value))) throw new RangeError(`${name} is ${value}; it must be finite in f32`);
      view.setFloat32(4 * index, value, true);
      return;
    }
    const [low, high] = type === "u32" ? [0, 0xffff_ffff] : [-0x8000_0000, 0x7fff_ffff];
    if (!Number.isInteger(value) || value < low || value > high) {
      throw new RangeError(`${name} is ${value}; ${type} holds integers from ${low} to ${high}`);
    }
    if (type === "u32") view.setUint32(4 * index, value, true);
    else view.setInt32(4 * index, value, true);
  });
  return bytes;
}
