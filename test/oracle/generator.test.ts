import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  editedKeyRow,
  generateDecode,
  generateSlice,
  keyEdits,
  raw,
  stream,
  TENSOR_IDS,
  u8,
  u24,
  VARIANTS,
} from "../../oracle/generator.ts";
import { isX16, tensorBytes } from "../../oracle/tensor.ts";
import { goldenJson } from "./golden.ts";

const vectorsSchema = z.looseObject({ vectors: z.array(z.record(z.string(), z.unknown())) });
const digestsSchema = z.looseObject({ seed: z.string(), sha256_float32_le: z.record(z.string(), z.string()) });

const hexOfF32 = (x: number) => Buffer.from(Float32Array.of(x).buffer).reverse().toString("hex");
const sha256 = (data: Float32Array) =>
  createHash("sha256")
    .update(tensorBytes({ dtype: "f32", shape: [data.length], data }))
    .digest("hex");

describe("test vectors", () => {
  const { vectors } = vectorsSchema.parse(goldenJson("generator_vectors.json"));

  test("there are three tensors of three seeds", () => expect(vectors).toHaveLength(9));

  test.each(vectors.map((vector) => [`${vector.seed}, tensor ${vector.tensor}`, vector] as const))(
    "%s",
    (_, vector) => {
      const seed = Number(vector.seed);
      const tensor = Number(vector.tensor);
      const keys = stream(seed, tensor);
      expect(keys.k1).toBe(Number(vector.k1));
      expect(keys.k2).toBe(Number(vector.k2));
      const first = Array.from({ length: 16 }, (_, i) => raw(keys, i));
      expect(first.map((x) => x.toString(16).padStart(8, "0"))).toEqual(vector.raw_u32_first16);
      expect(first.map((x) => hexOfF32(u24(x)))).toEqual(vector.u24_float32_hex_first16);
      expect(first.map((x) => hexOfF32(u8(x)))).toEqual(vector.u8_float32_hex_first16);
      expect(hexOfF32(u24(raw(keys, 268435455)))).toBe(vector.u24_float32_hex_at_268435455);
      const slice = generateSlice({ seed, tensor, bits: 24, multiplier: 1, start: 0, count: 2 ** 20 });
      expect(sha256(slice)).toBe(vector.sha256_first_1048576_float32_le);
    },
  );
});

test("digests of generated tensors", () => {
  const digests = digestsSchema.parse(goldenJson("gqa_decode_d512_long_f64.digests.json"));
  const seed = Number(digests.seed);
  let checked = 0;
  for (const [name, digest] of Object.entries(digests.sha256_float32_le)) {
    const match = /^u(8|24)\.(k|v)\.L(\d+)$/.exec(name);
    if (match === null || Number(match[3]) > 127) continue;
    const slice = generateSlice({
      seed,
      tensor: match[2] === "k" ? TENSOR_IDS.k : TENSOR_IDS.v,
      bits: match[1] === "8" ? 8 : 24,
      multiplier: 1,
      start: 0,
      count: Number(match[3]) * 4 * 512,
    });
    expect(sha256(slice), name).toBe(digest);
    checked++;
  }
  expect(checked).toBeGreaterThanOrEqual(10);
});

test("a slice is a window of the stream, and a shorter K a prefix of a longer one", () => {
  const options = { seed: 7, tensor: 1, bits: 24, multiplier: 0.5 } as const;
  const all = generateSlice({ ...options, start: 0, count: 100 });
  expect(generateSlice({ ...options, start: 40, count: 10 })).toEqual(all.slice(40, 50));
});

describe("variants", () => {
  const shape = { seed: 0x5eed0001, heads: 32, kvHeads: 4, dim: 16, live: 70 };

  test("the multiplier applies to q alone", () => {
    const spread = generateDecode({ ...shape, variant: "spread" });
    const peaky = generateDecode({ ...shape, variant: "peaky" });
    expect(spread.k).toEqual(peaky.k);
    expect([...spread.q]).toEqual([...peaky.q].map((x) => x / 8));
  });

  test("spread8 is exact in f16 and bf16, spread is not", () => {
    const eight = generateDecode({ ...shape, variant: "spread8" });
    expect([eight.q, eight.k, eight.v].every(isX16)).toBe(true);
    expect(isX16(generateDecode({ ...shape, variant: "spread" }).k)).toBe(false);
  });

  test("tail4 and head4 replace one row", () => {
    expect(keyEdits(VARIANTS.tail4.edit, 70, 8)).toEqual([{ row: 69, queryInGroup: 0 }]);
    expect(keyEdits(VARIANTS.head4.edit, 70, 8)).toEqual([{ row: 0, queryInGroup: 0 }]);
    expect(keyEdits(VARIANTS.head4.edit, 0, 8)).toEqual([]);
    const plain = generateDecode({ ...shape, variant: "spread" });
    const tail = generateDecode({ ...shape, variant: "tail4" });
    expect(tail.k.slice(0, 69 * 64)).toEqual(plain.k.slice(0, 69 * 64));
    // KV head 2 of the last row is 4 times query head 16.
    expect([...tail.k.slice(69 * 64 + 32, 69 * 64 + 48)]).toEqual([...plain.q.slice(256, 272)].map((x) => 4 * x));
    expect(tail.v).toEqual(plain.v);
  });

  test("edges32 replaces first and last row of each partition, by the ceil rule", () => {
    // ceil(70 / 32) = 3 rows each: 24 partitions, the last of a single row.
    const edits = keyEdits(VARIANTS.edges32.edit, 70, 8);
    expect(edits).toHaveLength(48);
    expect(edits.slice(0, 4).map((edit) => edit.row)).toEqual([0, 2, 3, 5]);
    expect(edits.at(-1)).toEqual({ row: 69, queryInGroup: 7 });
    expect(edits.at(-2)).toEqual({ row: 69, queryInGroup: 7 });
    const { q } = generateDecode({ ...shape, variant: "edges32" });
    const row = editedKeyRow({ row: 3, queryInGroup: 1 }, q, 32, 4, 16);
    expect(row[16]).toBe(4 * q[(8 + 1) * 16]!);
  });
});
