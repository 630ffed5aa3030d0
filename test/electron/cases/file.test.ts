/** Files that users bring: every layout is taken, and everything that is wrong is refused with words that say where. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesFromFile } from "../../../electron/cases/file.ts";
import { encodeSafetensors, writeSafetensors } from "../../../oracle/safetensors.ts";
import { type FloatDtype, narrow, type Tensor } from "../../../oracle/tensor.ts";

const GOLDEN = path.resolve(import.meta.dirname, "../../golden");

let folder: string;

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-test-"));
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function ramp(dtype: FloatDtype, shape: readonly number[], step = 1 / 64): Tensor {
  const count = shape.reduce((product, extent) => product * extent, 1);
  return narrow(
    Float64Array.from({ length: count }, (_, index) => ((index % 31) - 15) * step),
    dtype,
    shape,
  );
}

function i32(values: readonly number[]): Tensor {
  return { dtype: "i32", shape: [values.length], data: Int32Array.from(values) };
}

type Tensors = Record<string, Tensor>;

function prefill(change: Tensors = {}, dtype: FloatDtype = "f32"): Tensors {
  const [tokens, heads] = [6, 2];
  return {
    q_nope: ramp(dtype, [tokens, heads, 16]),
    q_rope: ramp(dtype, [tokens, heads, 16]),
    k_nope: ramp(dtype, [tokens, heads, 16]),
    k_rope: ramp(dtype, [tokens, 16]),
    v: ramp(dtype, [tokens, heads, 16]),
    cu_seqlens: i32([0, 2, 2, 6]),
    ...change,
  };
}

function decode(change: Tensors = {}, [heads, kvHeads] = [4, 2]): Tensors {
  return {
    q: ramp("f32", [heads, 32]),
    k: ramp("f32", [5, kvHeads, 32]),
    v: ramp("f32", [5, kvHeads, 32]),
    ...change,
  };
}

let counter = 0;

function write(tensors: Tensors, metadata: Record<string, string> = { scale: "0.25" }): string {
  const file = path.join(folder, `case${counter++}.safetensors`);
  writeSafetensors(file, tensors, metadata);
  return file;
}

function writeBytes(bytes: Uint8Array): string {
  const file = path.join(folder, `case${counter++}.safetensors`);
  fs.writeFileSync(file, bytes);
  return file;
}

function refusal(tensors: Tensors, metadata?: Record<string, string>): string {
  const file = write(tensors, metadata);
  try {
    casesFromFile(file);
  } catch (error) {
    return (error as Error).message.replace(`${file}: `, "");
  }
  return "taken";
}

function withValue(tensor: Tensor, index: number, value: number): Tensor {
  const data = tensor.data.slice();
  data[index] = value;
  return { ...tensor, data } as Tensor;
}

describe("layouts", () => {
  it("takes every golden file that holds cases", () => {
    const keys = [
      "mla_prefill_t77_h4_f32",
      "mla_prefill_t77_h4_x16",
      "mla_prefill_ragged_h3_f32",
      "gqa_decode_d512_L127_h32kv4_gemma4_f32",
      "gqa_decode_d512_L1023_h8kv1_bf16",
      "gqa_merge_L13_d17",
    ].flatMap((stem) => casesFromFile(path.join(GOLDEN, `${stem}.safetensors`)).map((entry) => entry.key));
    expect(keys).toMatchInlineSnapshot(`
      [
        "mla_prefill/h4n128r64v128/T77/mla_prefill_t77_h4_f32/f32",
        "mla_prefill/h4n128r64v128/T77/mla_prefill_t77_h4_x16/f32",
        "mla_prefill/h4n128r64v128/T77/mla_prefill_t77_h4_x16/f16",
        "mla_prefill/h4n128r64v128/T77/mla_prefill_t77_h4_x16/bf16",
        "mla_prefill/h3n128r64v128/T270/mla_prefill_ragged_h3_f32/f32",
        "gqa_decode/h32kv4d512/L127/gqa_decode_d512_l127_h32kv4_gemma4_f32/f32",
        "gqa_decode/h8kv1d512/L1023/gqa_decode_d512_l1023_h8kv1_bf16/f32",
        "gqa_decode/h4kv2d17/L13/gqa_merge_l13_d17/f32",
      ]
    `);
  });

  it("takes the generated and the stress files", () => {
    const count = (stem: string) => casesFromFile(path.join(GOLDEN, `${stem}.safetensors`)).length;
    expect(count("gqa_decode_d512_long_f64")).toBe(36);
    expect(count("attention_stress")).toBe(12);
    // 35 cases, and 8 rows in each of the two whose rows differ in length.
    expect(count("softmax_stress")).toBe(35 + 16);
  });

  it("takes single, ragged and chunked prefill of any width", () => {
    const single = prefill();
    delete single.cu_seqlens;
    expect(casesFromFile(write(single))[0]?.shape).toMatchObject({ cuSeqlensQ: [0, 6], qOffset: [0] });
    expect(casesFromFile(write(prefill()))[0]?.shape).toMatchObject({ cuSeqlensQ: [0, 2, 2, 6], qOffset: [0, 0, 0] });
    const chunked = prefill({
      q_nope: ramp("f32", [3, 2, 16]),
      q_rope: ramp("f32", [3, 2, 16]),
      cu_seqlens_q: i32([0, 1, 1, 3]),
      cu_seqlens_k: i32([0, 2, 2, 6]),
      q_offset: i32([1, 0, 1]),
    });
    delete chunked.cu_seqlens;
    const [entry] = casesFromFile(write(chunked));
    expect(entry?.shape).toMatchObject({ cuSeqlensQ: [0, 1, 1, 3], cuSeqlensK: [0, 2, 2, 6], qOffset: [1, 0, 1] });
    expect(entry?.key).toMatch(/^mla_prefill\/h2n16r16v16\/T3of6\/case\d+\/f32$/);
  });

  it("runs values that are exact in f16, bf16 and f32 once per dtype, others as stored", () => {
    const dtypes = (tensors: Tensors) => casesFromFile(write(tensors)).map((entry) => entry.shape.dtype);
    expect(dtypes(prefill())).toEqual(["f32", "f16", "bf16"]);
    expect(dtypes(prefill({}, "bf16"))).toEqual(["f32", "f16", "bf16"]);
    expect(dtypes(prefill({ v: ramp("f32", [6, 2, 16], 1 / 3) }))).toEqual(["f32"]);
    // 257 is exact in f16 and not in bf16.
    const f16 = prefill({}, "f16");
    expect(dtypes({ ...f16, v: ramp("f16", [6, 2, 16], 257 / 64) })).toEqual(["f16"]);
  });

  it("takes rows beyond live, infinite keys, and NaN where nothing is live", () => {
    const k = withValue(withValue(ramp("f32", [5, 2, 32]), 0, Number.NEGATIVE_INFINITY), 4 * 64, Number.NaN);
    const [entry] = casesFromFile(write(decode({ k }), { scale: "1", live: "4" }));
    expect(entry?.shape).toMatchObject({ live: 4, capacity: 8 });
  });
});

describe("refused", () => {
  it("what is no safetensors file", () => {
    const good = encodeSafetensors(decode(), { scale: "1" });
    expect(() => casesFromFile(writeBytes(Buffer.from("GGUF, not this")))).toThrow("is not a safetensors file");
    expect(() => casesFromFile(writeBytes(new Uint8Array(3)))).toThrow("3 bytes");
    expect(() => casesFromFile(writeBytes(good.subarray(0, good.length - 64)))).toThrow("truncated");
    expect(() => casesFromFile(path.join(folder, "absent.safetensors"))).toThrow("cannot be opened");
  });

  it("overlapping ranges", () => {
    const header = JSON.stringify({
      __metadata__: { scale: "1" },
      q: { dtype: "F32", shape: [1, 2], data_offsets: [0, 8] },
      k: { dtype: "F32", shape: [1, 1, 2], data_offsets: [4, 12] },
    });
    const bytes = new Uint8Array(8 + header.length + 12);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(header.length), true);
    bytes.set(Buffer.from(header), 8);
    expect(() => casesFromFile(writeBytes(bytes))).toThrow('overlaps tensor "q"');
  });

  it("files without a case, a scale or a head", () => {
    expect(refusal({ weights: ramp("f32", [2, 2]) })).toContain("holds no case (no kind in its metadata)");
    expect(refusal(decode(), {})).toBe('metadata "scale" is missing: add the factor of q . k');
    expect(refusal(decode(), { scale: "abc" })).toBe('the scale is "abc" and must be a finite number: correct it');
  });

  it("wrong dtypes and shapes", () => {
    expect(refusal(decode({ q: i32([1]) }))).toContain('tensor "q": has shape [1] and must have [any, any]');
    expect(refusal(decode({ v: narrow(new Float64Array(320), "f64", [5, 2, 32]) }))).toContain(
      'tensor "v": is f64 and must be f32, f16 or bf16',
    );
    expect(refusal(decode({ v: ramp("f32", [4, 2, 32]) }))).toContain(
      'tensor "v": has shape [4, 2, 32] and must have [5, 2, 32], the shape of k',
    );
    expect(refusal(prefill({ v: ramp("f16", [6, 2, 16]) }))).toContain('tensor "v": is f16 and q_nope is f32');
    expect(refusal({ ...decode(), out_f64: narrow(new Float64Array(4), "f64", [4]) })).toContain(
      "the shape of the output",
    );
    const missing = prefill();
    delete missing.k_rope;
    expect(refusal(missing)).toContain('tensor "k_rope": is not in the file');
  });

  it("head counts that do not divide or do not agree", () => {
    expect(refusal(decode({}, [4, 3]))).toContain("has 4 query heads and k has 3 KV heads, which do not divide");
    expect(refusal(decode(), { scale: "1", kv_heads: "4" })).toContain(
      'metadata "kv_heads" is 4 and the tensors have 2',
    );
  });

  it("NaN inside the live range, with its place", () => {
    const k = withValue(ramp("f32", [5, 2, 32]), 2 * 64 + 32 + 7, Number.NaN);
    expect(refusal(decode({ k }))).toContain('tensor "k": holds NaN at [2, 1, 7], inside the live range');
    const q = withValue(ramp("f32", [4, 32]), 33, Number.POSITIVE_INFINITY);
    expect(refusal(decode({ q }))).toContain('tensor "q": holds Infinity at [1, 1]');
    const qRope = withValue(ramp("f32", [6, 2, 16]), 5, Number.NaN);
    expect(refusal(prefill({ q_rope: qRope }))).toContain('tensor "q_rope": holds NaN at [0, 0, 5]');
    const scores = withValue(ramp("f32", [2, 8]), 9, Number.NaN);
    const rows = { "x.scores": scores, "x.v": ramp("f32", [8, 32]) };
    expect(refusal(rows)).toContain('tensor "x.scores": holds NaN at [1, 1]');
    expect(refusal({ ...rows, "x.live": i32([8, 1]) })).toBe("taken");
  });

  it("no token at all, and more live than rows", () => {
    expect(refusal(decode(), { scale: "1", live: "0" })).toContain("has no live token at all");
    expect(refusal(decode(), { scale: "1", live: "6" })).toContain('has 5 rows and metadata "live" is 6');
    const none = prefill({
      q_nope: ramp("f32", [0, 2, 16]),
      q_rope: ramp("f32", [0, 2, 16]),
      cu_seqlens: i32([0, 0]),
    });
    expect(refusal(none)).toContain("has no token or no head at all");
  });

  it("sequence bounds that decrease, do not start at 0 or do not end at the last row", () => {
    const bounds = (values: readonly number[]) => refusal(prefill({ cu_seqlens: i32(values) }));
    expect(bounds([0, 4, 3, 6])).toContain('tensor "cu_seqlens": decreases from 4 to 3 at entry 2');
    expect(bounds([1, 6])).toContain("starts at 1 and must start at 0");
    expect(bounds([0, 5])).toContain("ends at 5 and there are 6 query tokens");
    expect(bounds([0])).toContain("has 1 entries; B sequences need B + 1");
    expect(refusal(prefill({ cu_seqlens: ramp("f32", [2]) }))).toContain('tensor "cu_seqlens": is f32 and must be i32');
  });

  it("chunks whose queries have no keys, or bounds without a partner", () => {
    const chunk = { cu_seqlens_q: i32([0, 6]), cu_seqlens_k: i32([0, 6]) };
    expect(refusal(prefill({ ...chunk, q_offset: i32([1]) }))).toContain(
      "sequence 0 has 6 query tokens from position 1 on and 6 keys",
    );
    expect(refusal(prefill({ ...chunk, q_offset: i32([-1]) }))).toContain("from position -1 on");
    expect(refusal(prefill({ ...chunk, q_offset: i32([0, 0]) }))).toContain("has 2 entries and there are 1 sequences");
    expect(refusal(prefill({ cu_seqlens_q: i32([0, 6]) }))).toContain(
      'tensor "cu_seqlens_k": is missing beside its partner',
    );
  });

  it("a pipe, without waiting for its writer", () => {
    const pipe = path.join(folder, "pipe.safetensors");
    execFileSync("mkfifo", [pipe]);
    expect(() => casesFromFile(pipe)).toThrow("is no regular file");
  });

  it("integers of another width, by the dtype that is needed", () => {
    const bytes = encodeSafetensors(prefill());
    const text = new TextDecoder("latin1").decode(bytes);
    const wide = text.replace('"dtype":"I32","shape":[4]', '"dtype":"I64","shape":[2]');
    expect(wide).not.toBe(text);
    const file = writeBytes(Uint8Array.from(wide, (letter) => letter.charCodeAt(0)));
    expect(() => casesFromFile(file)).toThrow('tensor "cu_seqlens": is i64 and must be i32');
  });

  it("cases whose keys would be one", () => {
    const named = (prefix: string) =>
      Object.fromEntries(Object.entries(decode()).map(([name, tensor]) => [`${prefix}.${name}`, tensor]));
    expect(refusal({ ...named("x"), ...named("X") })).toMatch(/^its cases case\d+\.X and case\d+\.x have one key, /);
  });

  it("a stored output that is no float64 or holds no numbers", () => {
    expect(refusal(decode({ out_f64: ramp("f32", [4, 32]) }))).toContain('tensor "out_f64": is f32 and must be f64');
    const stored = narrow(new Float64Array(128), "f64", [4, 32]);
    expect(refusal(decode({ out_f64: withValue(stored, 33, Number.NaN) }))).toContain("holds NaN at [1, 1]");
  });

  it("NaN, with a mend that fits the tensor", () => {
    const { q_nope: q } = prefill();
    expect(refusal(prefill({ q_nope: withValue(q!, 3, Number.NaN) }))).toMatch(/holds NaN at .* range: correct it$/);
    expect(refusal(decode({ k: withValue(decode().k!, 3, Number.NaN) }))).toMatch(/correct it, or lower "live"$/);
  });
});
