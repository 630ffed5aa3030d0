import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import type { NativeAttentionResult, NativePrefillInput, NativeTensor } from "../../../native/addon.ts";
import type { SharedNativeMemory } from "../../../native/memory.ts";
import { type AttentionResult, gqaDecode, mlaPrefill, type PrefillInput } from "../../../oracle/attention.ts";
import {
  editedKeyRow,
  generateDecode,
  generateSlice,
  keyEdits,
  VARIANTS,
  type Variant,
  type VariantName,
} from "../../../oracle/generator.ts";
import { caseError } from "../../../oracle/metrics.ts";
import { ceilBounds, merge, partition } from "../../../oracle/online.ts";
import { readTensor } from "../../../oracle/safetensors.ts";
import { narrow, tensorBytes, widenToF64 } from "../../../oracle/tensor.ts";
import {
  goldenJson,
  largest,
  openGolden,
  prefillInput,
  softmaxCases,
  tolerance,
  values,
  worstDifference,
} from "../../oracle/golden.ts";
import { addon, nativeF32, toNative } from "../addon/addon.ts";

/** The native result against the definition: 1e-13 relative to max |v| and the conditioning of the scores. */
function expectTwins(native: NativeAttentionResult, reference: AttentionResult, valueSize: number): void {
  const allowed = tolerance(reference.conditioning);
  const size = Math.max(valueSize, Number.MIN_VALUE);
  const scoreSize = (i: number) => Math.max(1, reference.conditioning[i]!);
  expect(worstDifference(native.out, reference.out) / size).toBeLessThanOrEqual(allowed);
  expect(worstDifference(native.absolute, reference.absolute) / size).toBeLessThanOrEqual(allowed);
  expect(worstDifference(native.m, reference.m, scoreSize)).toBeLessThanOrEqual(1e-13);
  expect(worstDifference(native.lse, reference.lse, scoreSize)).toBeLessThanOrEqual(1e-13);
  expect(worstDifference(native.s, reference.s, (i) => Math.max(1, reference.s[i]!))).toBeLessThanOrEqual(allowed);
  expect(worstDifference(native.conditioning, reference.conditioning, scoreSize)).toBeLessThanOrEqual(1e-13);
}

function nativePrefill(input: PrefillInput, dtype: "f32" | "f16" | "bf16" = "f32"): NativePrefillInput {
  const tensor = (data: Float64Array | Float32Array) => toNative(narrow(data, dtype, [data.length]));
  return {
    ...input,
    qNope: tensor(input.qNope),
    qRope: tensor(input.qRope),
    kNope: tensor(input.kNope),
    kRope: tensor(input.kRope),
    v: tensor(input.v),
    cuSeqlensQ: Int32Array.from(input.cuSeqlensQ),
    cuSeqlensK: Int32Array.from(input.cuSeqlensK),
    qOffset: Int32Array.from(input.qOffset),
  };
}

describe("decode agrees with the definition", () => {
  test.each([
    { heads: 1, kvHeads: 1, dim: 1, live: 1 },
    { heads: 4, kvHeads: 2, dim: 17, live: 13 },
    { heads: 3, kvHeads: 1, dim: 33, live: 70 },
    { heads: 9, kvHeads: 1, dim: 64, live: 129 },
    { heads: 20, kvHeads: 1, dim: 40, live: 65 },
    { heads: 32, kvHeads: 4, dim: 96, live: 500 },
    { heads: 8, kvHeads: 8, dim: 128, live: 64 },
    { heads: 4, kvHeads: 2, dim: 17, live: 0 },
  ])("$heads / $kvHeads / $dim, $live tokens", async (shape) => {
    const inputs = generateDecode({ seed: 99, variant: "peaky", ...shape });
    for (const scale of [1, -0.3]) {
      const reference = gqaDecode({ ...inputs, ...shape, scale });
      const native = { q: nativeF32(inputs.q), k: nativeF32(inputs.k), v: nativeF32(inputs.v), ...shape, scale };
      for (const instructionSet of addon.instructionSets) {
        expectTwins(await addon.gqaDecode({ ...native, instructionSet }), reference, 1);
      }
    }
  });

  test.each(["f16", "bf16"] as const)("%s inputs, subnormals included", async (dtype) => {
    const shape = { heads: 8, kvHeads: 2, dim: 48, live: 90, scale: 0.5 };
    const inputs = generateDecode({ seed: 4, variant: "spread8", ...shape });
    inputs.k[5] = dtype === "f16" ? 2 ** -24 : 2 ** -130;
    inputs.v[5] = dtype === "f16" ? -(2 ** -20) : -(2 ** -133);
    inputs.v[0] = dtype === "f16" ? 65504 : 2 ** 100;
    const tensor = (data: Float32Array) => narrow(data, dtype, [data.length]);
    const native = await addon.gqaDecode({
      q: toNative(tensor(inputs.q)),
      k: toNative(tensor(inputs.k)),
      v: toNative(tensor(inputs.v)),
      ...shape,
    });
    const widened = {
      q: widenToF64(tensor(inputs.q)),
      k: widenToF64(tensor(inputs.k)),
      v: widenToF64(tensor(inputs.v)),
    };
    expectTwins(native, gqaDecode({ ...widened, ...shape }), largest(widened.v));
  });

  test("every softmax stress case, through one key dimension", async () => {
    for (const { rows, v, n, live } of softmaxCases(openGolden("softmax_stress"))) {
      for (const [r, scores] of rows.entries()) {
        const q = new Float32Array(32);
        q[0] = 1;
        // Rows behind the live ones hold NaN, which must not be read.
        const k = new Float32Array(n * 32).fill(Number.NaN);
        for (let j = 0; j < live[r]!; j++) {
          k.fill(0, j * 32, (j + 1) * 32);
          k[j * 32] = scores[j]!;
        }
        const input = { heads: 1, kvHeads: 1, dim: 32, live: live[r]!, scale: 1 };
        const f32 = Float32Array.from(v);
        const native = await addon.gqaDecode({ q: nativeF32(q), k: nativeF32(k), v: nativeF32(f32), ...input });
        expectTwins(native, gqaDecode({ q, k, v: f32, ...input }), largest(v));
      }
    }
  });

  test("the number of threads does not change a bit", async () => {
    const shape = { heads: 8, kvHeads: 2, dim: 32, live: 5000, scale: 1 };
    const inputs = generateDecode({ seed: 5, variant: "mid", ...shape });
    const native = { q: nativeF32(inputs.q), k: nativeF32(inputs.k), v: nativeF32(inputs.v), ...shape };
    const one = await addon.gqaDecode({ ...native, threads: 1 });
    expect(await addon.gqaDecode({ ...native, threads: 3 })).toEqual(one);
    expect(await addon.gqaDecode(native)).toEqual(one);
    expectTwins(one, gqaDecode({ ...inputs, ...shape }), 1);
  });
});

describe("prefill agrees with the definition", () => {
  const slice = (tensor: number, count: number) =>
    generateSlice({ seed: 21, tensor, bits: 8, multiplier: 1, start: 0, count });
  const generated = (q: number, k: number, heads: number, nope: number, rope: number, value: number) => ({
    qNope: slice(0, q * heads * nope),
    qRope: slice(3, q * heads * rope),
    kNope: slice(1, k * heads * nope),
    kRope: slice(4, k * rope),
    v: slice(2, k * heads * value),
    heads,
    nope,
    rope,
    value,
  });
  const inputs: readonly (readonly [string, PrefillInput])[] = [
    [
      "odd widths, ragged, chunked, an empty sequence and one without keys",
      {
        ...generated(90, 150, 3, 24, 7, 19),
        cuSeqlensQ: [0, 1, 71, 71, 90],
        cuSeqlensK: [0, 1, 140, 150, 150],
        qOffset: [0, 69, 0, 0],
        scale: 0.4,
      },
    ],
    [
      "positions before the first key and behind the last",
      { ...generated(9, 5, 1, 16, 16, 16), cuSeqlensQ: [0, 9], cuSeqlensK: [0, 5], qOffset: [-2], scale: 1 },
    ],
    [
      "no rope part",
      { ...generated(70, 70, 2, 32, 0, 32), cuSeqlensQ: [0, 70], cuSeqlensK: [0, 70], qOffset: [0], scale: 0.2 },
    ],
    [
      "no tokens at all",
      { ...generated(0, 0, 2, 16, 16, 16), cuSeqlensQ: [0, 0], cuSeqlensK: [0, 0], qOffset: [0], scale: 0.2 },
    ],
  ];

  test.each(inputs)("%s", async (_, input) => {
    const reference = mlaPrefill(input);
    for (const dtype of ["f32", "f16", "bf16"] as const) {
      const native = nativePrefill(input, dtype);
      for (const instructionSet of addon.instructionSets) {
        expectTwins(await addon.mlaPrefill({ ...native, instructionSet }), reference, 1);
      }
    }
  });

  test.each([
    "mla_prefill_t77_h4_f32",
    "mla_prefill_t77_h4_x16",
    "mla_prefill_ragged_h3_f32",
    "mla_prefill_ragged_h2_x16",
  ])("golden file %s", async (name) => {
    const file = openGolden(name);
    const input = prefillInput(file);
    const native = await addon.mlaPrefill(nativePrefill(input));
    expect(worstDifference(native.out, values(file, "out_f64")) / largest(input.v)).toBeLessThanOrEqual(1e-13);
    expect(worstDifference(native.lse, values(file, "lse_f64"))).toBeLessThanOrEqual(1e-13);
    expectTwins(native, mlaPrefill(input), largest(input.v));
  });

  const stress = openGolden("attention_stress");
  const stressCases = Object.keys(JSON.parse(stress.metadata.notes!) as Record<string, string>);

  test.each(stressCases)("attention_stress %s", async (name) => {
    const read = (tensor: string) => toNative(readTensor(stress, `${name}.${tensor}`));
    const valueSize = largest(values(stress, `${name}.v`));
    let native: NativeAttentionResult;
    if (name.startsWith("gqa.")) {
      const shape = { heads: 8, kvHeads: 1, dim: 512, live: 37, scale: 1 };
      native = await addon.gqaDecode({ q: read("q"), k: read("k"), v: read("v"), ...shape });
    } else {
      const cuSeqlens = Int32Array.from(readTensor(stress, `${name}.cu_seqlens`).data);
      native = await addon.mlaPrefill({
        qNope: read("q_nope"),
        qRope: read("q_rope"),
        kNope: read("k_nope"),
        kRope: read("k_rope"),
        v: read("v"),
        heads: 2,
        nope: 128,
        rope: 64,
        value: 128,
        cuSeqlensQ: cuSeqlens,
        cuSeqlensK: cuSeqlens,
        qOffset: new Int32Array(cuSeqlens.length - 1),
        scale: 0.07216878364870322,
      });
    }
    expect(worstDifference(native.out, values(stress, `${name}.out`)) / valueSize).toBeLessThanOrEqual(
      tolerance(native.conditioning),
    );
  });
});

describe("long decode", () => {
  const LIVE = 8193;
  const shape = { heads: 32, kvHeads: 4, dim: 512 };
  const long = openGolden("gqa_decode_d512_long_f64");
  const seed = Number(long.metadata.seed);
  const names = (JSON.parse(long.metadata.cases!) as string[]).filter((name) => /^L(8191|8192|8193)\./.test(name));
  const memory: Record<"q" | "k" | "v", SharedNativeMemory> = {
    q: addon.allocate(32 * 512 * 4),
    k: addon.allocate(LIVE * 2048 * 4),
    v: addon.allocate(LIVE * 2048 * 4),
  };
  const tensor = (name: "q" | "k" | "v"): NativeTensor => ({ memory: memory[name], dtype: "f32" });
  let filled = 0;

  async function fill(variant: Variant, live: number): Promise<void> {
    const slice = (name: "q" | "k" | "v", index: number, multiplier: number, count: number) =>
      addon.generate(memory[name], 0, { seed, tensor: index, bits: variant.bits, multiplier, start: 0, count });
    await slice("q", 0, variant.qMultiplier, 32 * 512);
    if (filled !== variant.bits) {
      await slice("k", 1, 1, LIVE * 2048);
      await slice("v", 2, 1, LIVE * 2048);
      filled = variant.bits;
    }
    const q = generateSlice({
      seed,
      tensor: 0,
      bits: variant.bits,
      multiplier: variant.qMultiplier,
      start: 0,
      count: 32 * 512,
    });
    for (const edit of keyEdits(variant.edit, live, 8)) {
      const data = editedKeyRow(edit, q, 32, 4, 512);
      memory.k.write(edit.row * 2048 * 4, tensorBytes({ dtype: "f32", shape: [data.length], data }));
    }
    if (variant.edit !== "none") filled = 0;
  }

  beforeAll(() => expect(names).toHaveLength(14));
  afterAll(() => {
    for (const each of Object.values(memory)) each.release();
  });

  test.each(names)("%s", async (name) => {
    const [length, variant] = name.split(".") as [string, VariantName];
    const live = Number(length.slice(1));
    await fill(VARIANTS[variant], live);
    const result = await addon.gqaDecode({ q: tensor("q"), k: tensor("k"), v: tensor("v"), ...shape, live, scale: 1 });
    expect(worstDifference(result.out, values(long, `${name}.out`))).toBeLessThanOrEqual(1e-13);
    expect(worstDifference(result.lse, values(long, `${name}.lse`))).toBeLessThanOrEqual(1e-12);
    if (!long.entries.has(`${name}.part_P32.m`)) return;
    // The stored partitions merge to the row's m and s.
    const m = values(long, `${name}.part_P32.m`);
    const s = values(long, `${name}.part_P32.s`);
    for (let h = 0; h < 32; h++) {
      const states = Array.from({ length: 32 }, (_, p) => {
        const at = p * 32 + h;
        return { m: m[at]!, s: s[at]!, o: new Float64Array(0) };
      });
      const merged = merge(states);
      expect(Math.abs(merged.m - result.m[h]!)).toBeLessThanOrEqual(1e-12);
      expect(Math.abs(merged.s / result.s[h]! - 1)).toBeLessThanOrEqual(1e-12);
    }
  });

  test("m and s of each of 32 partitions of L8193.edges32, by the definition", () => {
    const { q, k } = generateDecode({ seed, variant: "edges32", ...shape, live: LIVE });
    const m = values(long, "L8193.edges32.part_P32.m");
    const s = values(long, "L8193.edges32.part_P32.s");
    for (const h of [0, 9, 18, 27]) {
      const scores = new Float64Array(LIVE);
      for (let t = 0; t < LIVE; t++) {
        const key = (t * 4 + Math.floor(h / 8)) * 512;
        let dot = 0;
        for (let d = 0; d < 512; d++) dot += q[h * 512 + d]! * k[key + d]!;
        scores[t] = dot;
      }
      for (const [p, state] of partition(scores, new Float64Array(0), 0, ceilBounds(LIVE, 32)).entries()) {
        expect(Math.abs(state.m - m[p * 32 + h]!)).toBeLessThanOrEqual(1e-12);
        expect(Math.abs(state.s / s[p * 32 + h]! - 1)).toBeLessThanOrEqual(1e-12);
      }
    }
  });

  test("a dropped last token at 8192 is as wrong as the golden figures say, and passes loose gates", async () => {
    const checks = z
      .record(z.string(), z.looseObject({ deliberate_mistakes: z.record(z.string(), z.unknown()).optional() }))
      .parse(goldenJson("checks.json"));
    const figures = z.looseObject({ nmse: z.number(), corr: z.number(), max_abs: z.number() });
    for (const variant of ["spread", "tail4"] as const) {
      await fill(VARIANTS[variant], 8192);
      const dropped = await addon.gqaDecode({
        q: tensor("q"),
        k: tensor("k"),
        v: tensor("v"),
        ...shape,
        live: 8191,
        scale: 1,
      });
      const expected = figures.parse(
        checks[`gqa_decode_d512_long_f64:L8192.${variant}`]?.deliberate_mistakes?.last_token_dropped,
      );
      const error = caseError(dropped.out, values(long, `L8192.${variant}.out`));
      expect(error.nmse! / expected.nmse).toBeCloseTo(1, 9);
      expect(error.correlation).toBeCloseTo(expected.corr, 9);
      expect(error.maxAbs.value).toBeCloseTo(expected.max_abs, 9);
      const passesLooseGate = error.nmse! <= 1e-4 && error.correlation! >= 0.9999;
      expect(passesLooseGate).toBe(variant === "spread");
    }
  });
});

describe("refusals", () => {
  const shape = { heads: 2, kvHeads: 1, dim: 4, live: 3, scale: 1 };
  const inputs = generateDecode({ seed: 1, variant: "spread", ...shape });
  const native = () => ({ q: nativeF32(inputs.q), k: nativeF32(inputs.k), v: nativeF32(inputs.v), ...shape });

  test("a NaN score rejects with row and key", async () => {
    const k = inputs.k.slice();
    k[9] = Number.NaN;
    await expect(addon.gqaDecode({ ...native(), k: nativeF32(k) })).rejects.toThrow(/row 0, key 2: the score is NaN/);
    k[9] = Number.POSITIVE_INFINITY;
    await expect(addon.gqaDecode({ ...native(), k: nativeF32(k) })).rejects.toThrow(/NaN or \+inf/);
  });

  test("an instruction set that the CPU lacks rejects with those it has", async () => {
    expect(addon.instructionSets.at(-1)).toBe("portable");
    const missing = { ...native(), instructionSet: "sve" as "avx2" };
    await expect(addon.gqaDecode(missing)).rejects.toThrow(/no "sve" kernels for this CPU; it runs .*portable/);
  });

  test("shapes that the memory does not hold, heads that do not divide, wrong dtypes", () => {
    expect(() => addon.gqaDecode({ ...native(), live: 4 })).toThrow(/k has 48 bytes and its shape needs 4 x 4/);
    expect(() => addon.gqaDecode({ ...native(), heads: 3, kvHeads: 2 })).toThrow(/3 query heads do not divide among 2/);
    expect(() => addon.gqaDecode({ ...native(), live: -1 })).toThrow(/live is -1/);
    expect(() => addon.gqaDecode({ ...native(), scale: Number.NaN })).toThrow(/scale must be finite/);
    const f64 = { ...native().q, dtype: "f64" as "f32" };
    expect(() => addon.gqaDecode({ ...native(), q: f64 })).toThrow(/q.dtype is "f64"/);
    const released = native().q;
    released.memory.release();
    expect(() => addon.gqaDecode({ ...native(), q: released })).toThrow(/q was released/);
  });

  test("sequence bounds", () => {
    const zeros = new Float32Array(64);
    const input = nativePrefill({
      qNope: zeros,
      qRope: zeros,
      kNope: zeros,
      kRope: zeros,
      v: zeros,
      heads: 1,
      nope: 4,
      rope: 4,
      value: 4,
      cuSeqlensQ: [0, 2],
      cuSeqlensK: [0, 2],
      qOffset: [0],
      scale: 1,
    });
    expect(() => addon.mlaPrefill({ ...input, cuSeqlensQ: Int32Array.of(0, 2, 1) })).toThrow(/cuSeqlensQ\[2\] is 1/);
    expect(() => addon.mlaPrefill({ ...input, cuSeqlensK: Int32Array.of(1, 2) })).toThrow(/must start with 0/);
    expect(() => addon.mlaPrefill({ ...input, qOffset: Int32Array.of() })).toThrow(/B sequences need/);
    expect(() => addon.mlaPrefill({ ...input, cuSeqlensK: Int32Array.of(0, 17) })).toThrow(/kNope has 256 bytes/);
  });
});
