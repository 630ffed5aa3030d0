import { describe, expect, test } from "vitest";
import type { PrefillInput } from "../../../oracle/attention.ts";
import { generateDecode, generateSlice } from "../../../oracle/generator.ts";
import { narrow, widenToF32 } from "../../../oracle/tensor.ts";
import { gqaDecodeTwin, mlaPrefillTwin } from "../../../oracle/twin.ts";
import { openGolden, prefillInput } from "../../oracle/golden.ts";
import { addon, toNative } from "../addon/addon.ts";

const DTYPES = ["f32", "f16", "bf16"] as const;

const bits = (values: Float32Array) => new Uint32Array(values.buffer, values.byteOffset, values.length);

describe("the native twin gives the bits of the definition", () => {
  test.each(DTYPES)("decode, %s", async (dtype) => {
    for (const variant of ["spread8", "peaky"] as const) {
      const shape = { heads: 6, kvHeads: 2, dim: 40, live: 333, scale: 0.7 };
      const inputs = generateDecode({ seed: 8, variant, ...shape });
      const tensor = (data: Float32Array) => narrow(data, dtype, [data.length]);
      const [q, k, v] = [tensor(inputs.q), tensor(inputs.k), tensor(inputs.v)];
      const native = await addon.gqaDecodeTwin({ q: toNative(q), k: toNative(k), v: toNative(v), ...shape }, dtype);
      const expected = gqaDecodeTwin({ q: widenToF32(q), k: widenToF32(k), v: widenToF32(v), ...shape }, dtype);
      expect(bits(native)).toEqual(bits(expected));
    }
  });

  test("values that overflow, vanish or are subnormal in f16", async () => {
    const shape = { heads: 1, kvHeads: 1, dim: 4, live: 4, scale: 1 };
    const q = Float32Array.of(1, 0, 0, 0);
    const k = Float32Array.of(0, 0, 0, 0, -17, 0, 0, 0, Number.NEGATIVE_INFINITY, 0, 0, 0, -80, 0, 0, 0);
    const v = Float32Array.of(65504, 2 ** -24, -1, 0, 1, 2 ** -24, 3, -0, 5, 5, 5, 5, -65504, 2 ** -15, 1, 1);
    for (const dtype of DTYPES) {
      const tensor = (data: Float32Array) => toNative(narrow(data, "f32", [data.length]));
      const native = await addon.gqaDecodeTwin({ q: tensor(q), k: tensor(k), v: tensor(v), ...shape }, dtype);
      expect(bits(native)).toEqual(bits(gqaDecodeTwin({ q, k, v, ...shape }, dtype)));
    }
  });

  const slice = (tensor: number, count: number) =>
    generateSlice({ seed: 2, tensor, bits: 8, multiplier: 1, start: 0, count });
  const ragged: PrefillInput = {
    qNope: slice(0, 50 * 2 * 24),
    qRope: slice(3, 50 * 2 * 8),
    kNope: slice(1, 80 * 2 * 24),
    kRope: slice(4, 80 * 8),
    v: slice(2, 80 * 2 * 16),
    heads: 2,
    nope: 24,
    rope: 8,
    value: 16,
    cuSeqlensQ: [0, 3, 43, 50],
    cuSeqlensK: [0, 3, 80, 80],
    qOffset: [0, 37, 0],
    scale: 0.3,
  };

  test.each([
    ["ragged and chunked", ragged],
    ["mla_prefill_t77_h4_x16", prefillInput(openGolden("mla_prefill_t77_h4_x16"))],
  ] as const)("prefill, %s", async (_, input) => {
    for (const dtype of DTYPES) {
      const tensor = (data: Float32Array | Float64Array) => toNative(narrow(data, dtype, [data.length]));
      const native = await addon.mlaPrefillTwin(
        {
          ...input,
          qNope: tensor(input.qNope),
          qRope: tensor(input.qRope),
          kNope: tensor(input.kNope),
          kRope: tensor(input.kRope),
          v: tensor(input.v),
          cuSeqlensQ: Int32Array.from(input.cuSeqlensQ),
          cuSeqlensK: Int32Array.from(input.cuSeqlensK),
          qOffset: Int32Array.from(input.qOffset),
        },
        dtype,
      );
      expect(bits(native)).toEqual(bits(mlaPrefillTwin(input, dtype)));
    }
  });
});
