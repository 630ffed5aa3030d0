import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  encodeSafetensors,
  openSafetensors,
  readElementBytes,
  readSafetensors,
  readTensor,
  SafetensorsError,
  writeSafetensors,
} from "../../oracle/safetensors.ts";
import { narrow, type Tensor } from "../../oracle/tensor.ts";
import { goldenPath } from "./golden.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockstep-safetensors-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function write(bytes: Uint8Array): string {
  const file = path.join(folder, `${files++}.safetensors`);
  writeFileSync(file, bytes);
  return file;
}

/** A file with this header and `dataBytes` zero bytes of data. */
function withHeader(header: unknown, dataBytes: number): string {
  const json = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const bytes = new Uint8Array(8 + json.length + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  return write(bytes);
}

const entry = (begin: number, end: number, shape: readonly number[] = [(end - begin) / 4], dtype = "F32") => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

describe("round trip", () => {
  const tensors: Record<string, Tensor> = {
    f64: narrow([1.5, -2], "f64", [2]),
    f32: narrow([1, 2, 3], "f32", [3, 1]),
    f16: narrow([0.5], "f16", [1, 1]),
    bf16: narrow([0.5, -0.25, 8], "bf16", [3]),
    i32: { dtype: "i32", shape: [2], data: Int32Array.of(0, -7) },
    empty: narrow([], "f32", [0, 4]),
    scalar: narrow([7], "f32", []),
  };

  test("what is written is read, bit for bit", () => {
    const file = path.join(folder, "round.safetensors");
    writeSafetensors(file, tensors, { kind: "test", scale: "0.125" });
    const read = readSafetensors(file);
    expect(read.metadata).toEqual({ kind: "test", scale: "0.125" });
    expect(Object.fromEntries(read.tensors)).toEqual(tensors);
  });

  test("a golden file survives reading and writing", () => {
    const { metadata, tensors: golden } = readSafetensors(goldenPath("gqa_merge_L13_d17.safetensors"));
    const copy = write(encodeSafetensors(Object.fromEntries(golden), metadata));
    expect(readSafetensors(copy)).toEqual({ metadata, tensors: golden });
  });

  test("a slice is read by range", () => {
    const file = openSafetensors(write(encodeSafetensors(tensors)));
    const bytes = readElementBytes(file, "f32", 1, 2);
    expect([...new Float32Array(bytes.buffer, bytes.byteOffset, 2)]).toEqual([2, 3]);
    expect(() => readElementBytes(file, "f32", 2, 2)).toThrow(/elements 2 to 4 of "f32" lie outside its 3/);
  });

  test("a shape that does not fit its data is not written", () => {
    const bad = { x: { dtype: "f32", shape: [3], data: new Float32Array(2) } } as const;
    expect(() => encodeSafetensors(bad)).toThrow(/\[3\] does not fit its 8 bytes/);
  });
});

describe("malformed files are refused with the file, the tensor, both numbers and the mend", () => {
  const cases: readonly (readonly [string, () => string, RegExp])[] = [
    ["missing", () => path.join(folder, "none.safetensors"), /cannot be opened .*ENOENT.*: check the path/],
    ["too short", () => write(new Uint8Array(5)), /5 bytes, and the header length alone has 8/],
    ["empty", () => write(new Uint8Array(0)), /0 bytes/],
    [
      "another kind of file",
      () => write(new TextEncoder().encode("%PDF-1.7 something else entirely")),
      /not a safetensors file.*header of \d+ bytes; the limit is 100000000/,
    ],
    ["header cut off", () => write(withLength(500, "{}")), /header needs 508 bytes and the file has 10: copy it again/],
    ["header no JSON", () => withHeader("{nonsense}", 0), /header is no JSON/],
    ["header no object", () => withHeader("[1]", 0), /header is no JSON object/],
    ["header no UTF-8", () => write(withLength(2, new Uint8Array([0xff, 0xfe]))), /no UTF-8/],
    ["entry without dtype", () => withHeader({ x: { shape: [1], data_offsets: [0, 4] } }, 4), /"x".*dtype/],
    ["entry with more fields", () => withHeader({ x: { ...entry(0, 4), extra: 1 } }, 4), /"x".*extra/],
    ["negative extent", () => withHeader({ x: entry(0, 4, [-1]) }, 4), /"x".*shape/],
    ["fractional extent", () => withHeader({ x: entry(0, 4, [1.5]) }, 4), /"x".*shape/],
    ["unknown dtype", () => withHeader({ x: entry(0, 4, [1], "F31") }, 4), /"x": dtype F31 is unknown; known are F64/],
    [
      "shape and range differ",
      () => withHeader({ x: entry(0, 8, [3]) }, 8),
      /"x": F32 \[3\] needs 12 bytes and its range has 8: correct shape or range/,
    ],
    ["huge shape", () => withHeader({ x: entry(0, 8, [2 ** 40, 2 ** 40]) }, 8), /"x".*more than 2\^53/],
    ["truncated", () => withHeader({ x: entry(0, 8) }, 4), /"x".* 0 to 8 ends outside the 4 data bytes/],
    ["range backwards", () => withHeader({ x: entry(8, 4, [1]) }, 8), /"x".* 8 to 4 ends before it begins/],
    [
      "overlap",
      () => withHeader({ x: entry(0, 8), y: entry(4, 12) }, 12),
      /"y": begins at byte \d+ and overlaps tensor "x"/,
    ],
    ["gap", () => withHeader({ x: entry(0, 4), y: entry(8, 12) }, 12), /"y".*leaves a gap after tensor "x"/],
    ["gap at the start", () => withHeader({ x: entry(4, 8) }, 8), /"x".*leaves a gap after the header/],
    ["bytes behind", () => withHeader({ x: entry(0, 4) }, 10), /the file has \d+: remove the 6 bytes/],
    ["metadata no strings", () => withHeader({ __metadata__: { scale: 1 } }, 0), /__metadata__ .*: write strings/],
    [
      "a name twice",
      () =>
        withHeader(
          '{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}',
          8,
        ),
      /its header has "x" twice/,
    ],
    [
      "a key of the metadata twice",
      () => withHeader('{"__metadata__":{"scale":"1","scale":"2"}}', 0),
      /its header has "scale" twice/,
    ],
    ["a folder", () => aFolder(), /no regular file/],
  ];

  function withLength(length: number, header: string | Uint8Array): Uint8Array {
    const body = typeof header === "string" ? new TextEncoder().encode(header) : header;
    const bytes = new Uint8Array(8 + body.length);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
    bytes.set(body, 8);
    return bytes;
  }

  function aFolder(): string {
    const name = path.join(folder, "folder.safetensors");
    mkdirSync(name, { recursive: true });
    return name;
  }

  test.each(cases)("%s", (_, make, message) => {
    const file = make();
    const attempt = () => openSafetensors(file);
    expect(attempt).toThrow(SafetensorsError);
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(expect.objectContaining({ file }));
  });

  test("a real file cut anywhere", () => {
    const whole = readFileSync(goldenPath("gqa_merge_L13_d17.safetensors"));
    for (const length of [0, 7, 8, 100, 4456, 4457, 40_000, whole.length - 1]) {
      expect(() => openSafetensors(write(whole.subarray(0, length)))).toThrow(SafetensorsError);
    }
  });
});

describe("tensors that are not as required", () => {
  const file = openSafetensors(write(encodeSafetensors({ q: narrow([1, 2, 3, 4], "f16", [2, 2]) })));

  test("missing", () => expect(() => readTensor(file, "k")).toThrow(/tensor "k": is not in the file, which has: q/));
  test("dtype", () => {
    expect(() => readTensor(file, "q", { dtypes: ["f32", "bf16"] })).toThrow(/is f16 and must be f32 or bf16/);
  });
  test("shape", () => {
    expect(readTensor(file, "q", { shape: [2, undefined] }).shape).toEqual([2, 2]);
    expect(() => readTensor(file, "q", { shape: [undefined, 3] })).toThrow(
      /has shape \[2, 2\] and must have \[any, 3\]/,
    );
    expect(() => readTensor(file, "q", { shape: [4] })).toThrow(/must have \[4\]/);
  });
  test("a dtype that no operator takes may be in the file but is not read", () => {
    const other = openSafetensors(withHeader({ ids: entry(0, 8, [1], "I64") }, 8));
    expect(() => readTensor(other, "ids")).toThrow(/is I64; readable are F64, F32, F16, BF16, I32: convert it/);
    expect(readSafetensors(other.path).tensors.size).toBe(0);
  });
});
