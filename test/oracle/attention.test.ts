import { describe, expect, test } from "vitest";
import {
  type AttentionResult,
  gqaDecode,
  mlaPrefill,
  type PrefillInput,
  softmaxRows,
  visibleKeys,
} from "../../oracle/attention.ts";
import { generateDecode, generateSlice, type VariantName } from "../../oracle/generator.ts";
import { readTensor, type SafetensorsFile } from "../../oracle/safetensors.ts";
import { largest, openGolden, prefillInput, softmaxCases, tolerance, values, worstDifference } from "./golden.ts";

/** A generated prefill of two sequences, the second in two chunks, for the tests below. */
function smallPrefill(): PrefillInput {
  const slice = (tensor: number, count: number) =>
    generateSlice({ seed: 11, tensor, bits: 24, multiplier: 1, start: 0, count });
  return {
    qNope: slice(0, 6 * 2 * 16),
    qRope: slice(3, 6 * 2 * 8),
    kNope: slice(1, 9 * 2 * 16),
    kRope: slice(4, 9 * 8),
    v: slice(2, 9 * 2 * 16),
    heads: 2,
    nope: 16,
    rope: 8,
    value: 16,
    cuSeqlensQ: [0, 4, 6],
    cuSeqlensK: [0, 4, 9],
    qOffset: [0, 3],
    scale: 0.25,
  };
}

function expectRows(
  result: AttentionResult,
  file: SafetensorsFile,
  prefix: string,
  suffix: string,
  valueSize: number,
): void {
  const allowed = tolerance(result.conditioning);
  const stored = (name: string) => values(file, `${prefix}${name}${suffix}`);
  const has = (name: string) => file.entries.has(`${prefix}${name}${suffix}`);
  expect(worstDifference(result.out, stored("out")) / valueSize).toBeLessThanOrEqual(allowed);
  const scoreSize = (i: number) => Math.max(1, result.conditioning[i]!);
  if (has("lse")) expect(worstDifference(result.lse, stored("lse"), scoreSize)).toBeLessThanOrEqual(1e-13);
  if (has("m")) expect(worstDifference(result.m, stored("m"), scoreSize)).toBeLessThanOrEqual(1e-13);
  if (has("s")) {
    expect(worstDifference(result.s, stored("s"), (i) => Math.max(1, result.s[i]!))).toBeLessThanOrEqual(allowed);
  }
}

describe("golden files", () => {
  test.each(["gqa_decode_d512_L127_h32kv4_gemma4_f32", "gqa_decode_d512_L1023_h8kv1_bf16", "gqa_merge_L13_d17"])(
    "%s",
    (name) => {
      const file = openGolden(name);
      const [heads, dim] = file.entries.get("q")!.shape as [number, number];
      const [live, kvHeads] = file.entries.get("k")!.shape as [number, number];
      const v = values(file, "v");
      const result = gqaDecode({ q: values(file, "q"), k: values(file, "k"), v, heads, kvHeads, dim, live, scale: 1 });
      expectRows(result, file, "", "_f64", largest(v));
    },
  );

  test.each([
    "mla_prefill_t77_h4_f32",
    "mla_prefill_t77_h4_x16",
    "mla_prefill_ragged_h3_f32",
    "mla_prefill_ragged_h2_x16",
  ])("%s", (name) => {
    const file = openGolden(name);
    const input = prefillInput(file);
    expectRows(mlaPrefill(input), file, "", "_f64", largest(input.v));
  });

  const long = openGolden("gqa_decode_d512_long_f64");
  const short = (JSON.parse(long.metadata.cases!) as string[]).filter(
    (name) => Number(/^L(\d+)/.exec(name)![1]) < 8000,
  );

  test.each(short)("gqa_decode_d512_long_f64 %s", (name) => {
    const [length, variant] = name.split(".") as [string, VariantName];
    const shape = { heads: 32, kvHeads: 4, dim: 512, live: Number(length.slice(1)) };
    const inputs = generateDecode({ seed: Number(long.metadata.seed), variant, ...shape });
    expectRows(gqaDecode({ ...inputs, ...shape, scale: 1 }), long, `${name}.`, "", 1);
  });

  const stress = openGolden("attention_stress");
  const stressCases = Object.keys(JSON.parse(stress.metadata.notes!) as Record<string, string>);

  test.each(stressCases.filter((name) => name.startsWith("gqa.")))("attention_stress %s", (name) => {
    const read = (tensor: string) => values(stress, `${name}.${tensor}`);
    const v = read("v");
    const shape = { heads: 8, kvHeads: 1, dim: 512, live: 37, scale: Number(stress.metadata.gqa_scale) };
    expectRows(gqaDecode({ q: read("q"), k: read("k"), v, ...shape }), stress, `${name}.`, "", largest(v));
  });

  test.each(stressCases.filter((name) => name.startsWith("mla.")))("attention_stress %s", (name) => {
    const read = (tensor: string) => values(stress, `${name}.${tensor}`);
    const cuSeqlens = readTensor(stress, `${name}.cu_seqlens`).data;
    const v = read("v");
    const result = mlaPrefill({
      qNope: read("q_nope"),
      qRope: read("q_rope"),
      kNope: read("k_nope"),
      kRope: read("k_rope"),
      v,
      heads: 2,
      nope: 128,
      rope: 64,
      value: 128,
      cuSeqlensQ: cuSeqlens,
      cuSeqlensK: cuSeqlens,
      qOffset: new Int32Array(cuSeqlens.length - 1),
      scale: 0.07216878364870322,
    });
    expectRows(result, stress, `${name}.`, "", largest(v));
  });

  const softmax = openGolden("softmax_stress");

  test.each(softmaxCases(softmax).map((row) => [row.name, row] as const))("softmax_stress %s", (name, row) => {
    const result = softmaxRows(row.rows, row.v, row.width);
    const read = (tensor: string) => values(softmax, `${name}.${tensor}`);
    expect(worstDifference(result.out, read("out")) / largest(row.v)).toBeLessThanOrEqual(1e-13);
    expect(worstDifference(result.m, read("m"))).toBe(0);
    expect(worstDifference(result.s, read("s"), (i) => Math.max(1, result.s[i]!))).toBeLessThanOrEqual(1e-13);
    const lse = read("lse");
    expect(worstDifference(result.lse, lse, (i) => Math.max(1, Math.abs(lse[i]!)))).toBeLessThanOrEqual(1e-13);
  });
});

test("there are 37 softmax and 12 attention stress cases", () => {
  expect(softmaxCases(openGolden("softmax_stress"))).toHaveLength(37);
  expect(Object.keys(JSON.parse(openGolden("attention_stress").metadata.notes!) as object)).toHaveLength(12);
});

test("a score fed through one key dimension gives the same softmax", () => {
  for (const { rows, v, n, live } of softmaxCases(openGolden("softmax_stress"))) {
    const expected = softmaxRows(rows, v, 32);
    for (const [r, scores] of rows.entries()) {
      const q = new Float64Array(32);
      q[0] = 1;
      const k = new Float64Array(n * 32).fill(0);
      for (let j = 0; j < live[r]!; j++) k[j * 32] = scores[j]!;
      const result = gqaDecode({ q, k, v, heads: 1, kvHeads: 1, dim: 32, live: live[r]!, scale: 1 });
      expect(result.out).toEqual(expected.out.slice(r * 32, r * 32 + 32));
      expect(result.s[0]).toBe(expected.s[r]);
    }
  }
});

describe("prefill", () => {
  test("the last rows as a chunk against all keys give the same rows", () => {
    const file = openGolden("mla_prefill_t77_h4_f32");
    const whole = prefillInput(file);
    const first = 60;
    const chunk: PrefillInput = {
      ...whole,
      qNope: whole.qNope.slice(first * 4 * 128),
      qRope: whole.qRope.slice(first * 4 * 64),
      cuSeqlensQ: [0, 77 - first],
      qOffset: [first],
    };
    const all = mlaPrefill(whole);
    const result = mlaPrefill(chunk);
    expect(result.out).toEqual(all.out.slice(first * 4 * 128));
    expect(result.lse).toEqual(all.lse.slice(first * 4));
  });

  test("a row sees keys up to its position and none of another sequence", () => {
    const input = smallPrefill();
    const before = mlaPrefill(input);
    const v = input.v.slice();
    v.fill(1e6, 7 * 32, 8 * 32);
    const after = mlaPrefill({ ...input, v });
    // Key 7 is position 3 of the second sequence: seen by both its query rows (positions 3 and 4) and by nothing else.
    expect(after.out.slice(0, 4 * 32)).toEqual(before.out.slice(0, 4 * 32));
    expect(after.out[4 * 32]).not.toBe(before.out[4 * 32]);
    expect(visibleKeys(3, 0, 5)).toBe(4);
    expect(visibleKeys(3, 4, 5)).toBe(5);
    expect(visibleKeys(-2, 0, 5)).toBe(0);
  });

  test("sequences without keys give zero rows, sequences without queries none", () => {
    const input = { ...smallPrefill(), cuSeqlensQ: [0, 4, 4, 6], cuSeqlensK: [0, 4, 9, 9], qOffset: [0, 0, 0] };
    const result = mlaPrefill(input);
    expect(result.lse.slice(8)).toEqual(new Float64Array(4).fill(Number.NEGATIVE_INFINITY));
    expect(largest(result.out.slice(4 * 32))).toBe(0);
    expect(largest(result.s.slice(8))).toBe(0);
  });

  test("wrong bounds are refused by entry", () => {
    const input = smallPrefill();
    expect(() => mlaPrefill({ ...input, cuSeqlensQ: [0, 4, 3] })).toThrow(/cu_seqlens_q\[2\] is 3 after 4/);
    expect(() => mlaPrefill({ ...input, cuSeqlensK: [1, 4, 9] })).toThrow(/cu_seqlens_k\[0\] is 1/);
    expect(() => mlaPrefill({ ...input, qOffset: [0] })).toThrow(/B sequences need/);
    expect(() => mlaPrefill({ ...input, cuSeqlensK: [0, 4, 10] })).toThrow(/k_nope holds 288 values and .* 320/);
  });
});

describe("decode", () => {
  const shape = { heads: 4, kvHeads: 2, dim: 8, live: 5 };
  const inputs = generateDecode({ seed: 3, variant: "spread", ...shape });

  test("query heads of a group read their own KV head", () => {
    const v = inputs.v.slice();
    for (let t = 0; t < 5; t++) v.fill(100, (t * 2 + 1) * 8, (t * 2 + 2) * 8);
    const result = gqaDecode({ ...inputs, v, ...shape, scale: 1 });
    expect(largest(result.out.slice(0, 16))).toBeLessThan(1);
    expect(worstDifference(result.out.slice(16), new Float64Array(16).fill(100))).toBeLessThan(1e-12);
  });

  test("no live token gives zeros, and rows behind the live ones are no part of the case", () => {
    const empty = gqaDecode({ ...inputs, ...shape, live: 0, scale: 1 });
    expect([...empty.lse]).toEqual(new Array(4).fill(Number.NEGATIVE_INFINITY));
    expect(largest(empty.out)).toBe(0);
    const poisoned = { k: inputs.k.slice().fill(Number.NaN, 4 * 16), v: inputs.v.slice().fill(Number.NaN, 4 * 16) };
    const four = gqaDecode({ ...inputs, ...poisoned, ...shape, live: 4, scale: 1 });
    expect(four).toEqual(gqaDecode({ ...inputs, ...shape, live: 4, scale: 1 }));
  });

  test("conditioning and absolute are the sizes of the summed terms", () => {
    const q = Float64Array.of(2, -1);
    const k = Float64Array.of(1, 1, 3, -1);
    const v = Float64Array.of(-4, 4, 2, 2);
    const result = gqaDecode({ q, k, v, heads: 1, kvHeads: 1, dim: 2, live: 2, scale: -0.5 });
    expect(result.conditioning[0]).toBe(0.5 * 7);
    expect(result.m[0]).toBe(-0.5);
    const weight = 1 / (1 + Math.exp(-3));
    expect(result.absolute[0]).toBeCloseTo(4 * weight + 2 * (1 - weight), 14);
    expect(result.out[0]).toBeCloseTo(-4 * weight + 2 * (1 - weight), 14);
  });

  test("NaN and +inf scores, and heads that do not divide, are refused", () => {
    const k = inputs.k.slice();
    k[3 * 16] = Number.NaN;
    expect(() => gqaDecode({ ...inputs, k, ...shape, scale: 1 })).toThrow(/row 0, key 3: the score is NaN/);
    expect(() => gqaDecode({ ...inputs, ...shape, heads: 3, scale: 1 })).toThrow(/3 query heads do not divide among 2/);
    expect(() => gqaDecode({ ...inputs, ...shape, live: 6, scale: 1 })).toThrow(
      /k holds 80 values and the shape needs 96/,
    );
  });
});
