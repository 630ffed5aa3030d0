import { describe, expect, test } from "vitest";
import { gqaDecode, mlaPrefill } from "../../oracle/attention.ts";
import { caseError } from "../../oracle/metrics.ts";
import { type FloatDtype, isExactIn } from "../../oracle/tensor.ts";
import { expF32, gqaDecodeTwin, mlaPrefillTwin } from "../../oracle/twin.ts";
import { openGolden, prefillInput, values } from "./golden.ts";

/** Error of the twin and of the eager implementation that the golden files hold, against the float64 reference. */
function levels(file: ReturnType<typeof openGolden>, dtype: FloatDtype, twin: Float32Array) {
  const reference = values(file, "out_f64");
  return {
    twin: caseError(twin, reference),
    eager: caseError(values(file, `out_${dtype}_hf_eager`), reference),
  };
}

describe("the twin is as wrong as eager attention in the same dtype", () => {
  test.each(["f32", "f16", "bf16"] as const)("decode, %s", (dtype) => {
    const file = openGolden("gqa_decode_d512_L1023_h8kv1_bf16");
    const shape = { heads: 8, kvHeads: 1, dim: 512, live: 1023, scale: 1 };
    const twin = gqaDecodeTwin({ q: values(file, "q"), k: values(file, "k"), v: values(file, "v"), ...shape }, dtype);
    expect(isExactIn(twin, dtype)).toBe(true);
    const error = levels(file, dtype, twin);
    expect(error.twin.nmse! / error.eager.nmse!).toBeGreaterThan(0.2);
    // In f32 the twin's sums in index order are three times as wrong as a GPU's sums in tiles.
    expect(error.twin.nmse! / error.eager.nmse!).toBeLessThan(dtype === "f32" ? 20 : 5);
  });

  test.each([
    ["mla_prefill_t77_h4_x16", "f32"],
    ["mla_prefill_t77_h4_x16", "f16"],
    ["mla_prefill_t77_h4_x16", "bf16"],
    ["mla_prefill_ragged_h2_x16", "bf16"],
    ["mla_prefill_ragged_h2_x16", "f16"],
  ] as const)("prefill, %s, %s", (name, dtype) => {
    const file = openGolden(name);
    const twin = mlaPrefillTwin(prefillInput(file), dtype);
    expect(isExactIn(twin, dtype)).toBe(true);
    const error = levels(file, dtype, twin);
    expect(error.twin.nmse! / error.eager.nmse!).toBeGreaterThan(0.2);
    expect(error.twin.nmse! / error.eager.nmse!).toBeLessThan(5);
    expect(error.twin.maxAbs.value / error.eager.maxAbs.value).toBeGreaterThan(0.2);
    expect(error.twin.maxAbs.value / error.eager.maxAbs.value).toBeLessThan(5);
  });
});

test("its exponential is the f32 nearest to exp", () => {
  expect(expF32(0)).toBe(1);
  expect(expF32(Number.NEGATIVE_INFINITY)).toBe(0);
  expect(expF32(-104.5)).toBe(0);
  expect(expF32(-103.5)).toBe(2 ** -149);
  let differing = 0;
  for (let i = 0; i <= 20_000; i++) {
    const x = Math.fround(-i / 190);
    if (expF32(x) !== Math.fround(Math.exp(x))) differing++;
  }
  expect(differing).toBe(0);
});

test("empty rows are 0", () => {
  const none = { q: new Float32Array(8), k: new Float32Array(0), v: new Float32Array(0), heads: 1, kvHeads: 1, dim: 8 };
  expect([...gqaDecodeTwin({ ...none, live: 0, scale: 1 }, "bf16")]).toEqual(new Array(8).fill(0));
  const masked = { ...none, q: Float32Array.of(1, 0), k: Float32Array.of(Number.NEGATIVE_INFINITY, 0), dim: 2 };
  expect([...gqaDecodeTwin({ ...masked, v: Float32Array.of(3, 4), live: 1, scale: 1 }, "f16")]).toEqual([0, 0]);
});

test("one key returns its value, exactly", () => {
  const input = {
    q: Float32Array.of(0.5, 0.25),
    k: Float32Array.of(1, -1),
    v: Float32Array.of(0.375, -2),
    heads: 1,
    kvHeads: 1,
    dim: 2,
    live: 1,
    scale: 3,
  };
  expect([...gqaDecodeTwin(input, "bf16")]).toEqual([0.375, -2]);
  expect([...gqaDecode(input).out]).toEqual([0.375, -2]);
  const prefill = {
    qNope: Float32Array.of(1),
    qRope: Float32Array.of(1),
    kNope: Float32Array.of(1),
    kRope: Float32Array.of(1),
    v: Float32Array.of(0.375),
    heads: 1,
    nope: 1,
    rope: 1,
    value: 1,
    cuSeqlensQ: [0, 1],
    cuSeqlensK: [0, 1],
    qOffset: [0],
    scale: 1,
  };
  expect([...mlaPrefillTwin(prefill, "f16")]).toEqual([...mlaPrefill(prefill).out]);
});
