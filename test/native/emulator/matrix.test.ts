/** simdgroup_matrix against a plain model: products of every type mix, the ownership map, loads and stores. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Device, Flavour } from "../../../native/device.ts";
import { deviceError, testDevice } from "../msl/workbench.ts";
import { bfloatBits, halfBits, runKernel, stream, toBfloat, toHalf } from "./run_kernel.ts";

let device: Device;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

const FLAVOURS: readonly Flavour[] = ["fast", "lockstep"];
const LANE = "uint lane [[thread_index_in_simdgroup]]";

/** How each element type rounds and is laid out. */
const TYPES = {
  float: { round: Math.fround, pack: (v: readonly number[]) => Float32Array.from(v) },
  half: { round: toHalf, pack: (v: readonly number[]) => Uint16Array.from(v, halfBits) },
  bfloat: { round: toBfloat, pack: (v: readonly number[]) => Uint16Array.from(v, bfloatBits) },
} as const;
type TypeName = keyof typeof TYPES;

const tile = (seed: number, type: TypeName): number[] => stream(64, seed).map(TYPES[type].round);
const transposed = (m: readonly number[]): number[] => m.map((_, i) => m[(i % 8) * 8 + Math.floor(i / 8)]!);

/** Sequential accumulation in float, one rounding to the result's type. Products of 12-bit values are exact in a double. */
function product(a: readonly number[], b: readonly number[], c: readonly number[], type: TypeName): number[] {
  return a.map((_, i) => {
    let sum = c[i]!;
    for (let k = 0; k < 8; ++k) sum = Math.fround(sum + a[(i & ~7) + k]! * b[k * 8 + (i & 7)]!);
    return TYPES[type].round(sum);
  });
}

/** The lane's row and first column, as every public kernel states it. */
function owned(lane: number): [number, number] {
  const quad = lane >> 2;
  return [(quad & 4) + ((lane >> 1) & 3), (quad & 2) * 2 + (lane & 1) * 2];
}

const MIXES: readonly (readonly [TypeName, TypeName, TypeName, TypeName])[] = [
  ["float", "float", "float", "float"],
  ["half", "half", "half", "half"],
  ["bfloat", "bfloat", "bfloat", "bfloat"],
  ["float", "half", "half", "float"],
  ["float", "bfloat", "bfloat", "float"],
  ["float", "float", "half", "float"],
  ["float", "float", "bfloat", "float"],
  ["half", "half", "half", "float"],
  ["float", "half", "float", "half"],
];

describe.each(FLAVOURS)("flavour %s", (flavour) => {
  it.each(MIXES)("D %s = A %s x B %s + C %s, rounded once", async (d, a, b, c) => {
    const [left, right, addend] = [tile(1, a), tile(2, b), tile(3, c)];
    const bytes = await runKernel(device, {
      source: `kernel void mixed_types(device float* out [[buffer(0)]], device const ${a}* a [[buffer(1)]],
  device const ${b}* b [[buffer(2)]], device const ${c}* c [[buffer(3)]]) {
  simdgroup_matrix<${a}, 8, 8> A; simdgroup_matrix<${b}, 8, 8> B; simdgroup_matrix<${c}, 8, 8> C;
  simdgroup_matrix<${d}, 8, 8> D, E;
  simdgroup_load(A, a); simdgroup_load(B, b); simdgroup_load(C, c);
  simdgroup_multiply_accumulate(D, A, B, C);
  simdgroup_multiply(E, A, B);
  threadgroup ${d} staged[128];
  simdgroup_store(D, staged); simdgroup_store(E, staged + 64);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < 128; ++i) out[i] = float(staged[i]);
}`,
      kernel: "mixed_types",
      threads: [32, 1, 1],
      inputs: [TYPES[a].pack(left), TYPES[b].pack(right), TYPES[c].pack(addend)],
      outputBytes: 512,
      flavour,
    });
    const zero = addend.map(() => 0);
    expect([...new Float32Array(bytes)]).toEqual([
      ...product(left, right, addend, d),
      ...product(left, right, zero, d),
    ]);
  });

  it("a chain of products keeps its sum in float", async () => {
    const values = tile(5, "float");
    const bytes = await runKernel(device, {
      source: `kernel void chain(device float* out [[buffer(0)]], device const float* a [[buffer(1)]]) {
  simdgroup_float8x8 A, S = make_filled_simdgroup_matrix<float, 8, 8>(0.5f);
  simdgroup_load(A, a);
  for (int i = 0; i < 3; ++i) simdgroup_multiply_accumulate(S, A, A, S);
  simdgroup_store(S, out);
}`,
      kernel: "chain",
      threads: [32, 1, 1],
      inputs: [values.length ? Float32Array.from(values) : new Float32Array()],
      outputBytes: 256,
      flavour,
    });
    let sum = values.map(() => 0.5);
    for (let i = 0; i < 3; ++i) sum = product(values, values, sum, "float");
    expect([...new Float32Array(bytes)]).toEqual(sum);
  });

  it("lanes own the elements that the map says, to read and to write", async () => {
    const values = tile(7, "half");
    const bytes = await runKernel(device, {
      source: `kernel void own(device float* out [[buffer(0)]], device const half* a [[buffer(1)]], ${LANE}) {
  simdgroup_half8x8 A; simdgroup_load(A, a);
  thread auto& e = A.thread_elements();
  out[2 * lane] = float(e[0]); out[2 * lane + 1] = float(e[1]);
  e[0] = half(lane); e[1] = half(lane) + 0.5h;
  simdgroup_float8x8 I(1.0f), P;
  simdgroup_multiply(P, A, I);
  simdgroup_store(P, out + 64);
}`,
      kernel: "own",
      threads: [32, 1, 1],
      inputs: [TYPES.half.pack(values)],
      outputBytes: 512,
      flavour,
    });
    const read: number[] = [];
    const written: number[] = [];
    for (let lane = 0; lane < 32; ++lane) {
      const [row, column] = owned(lane);
      read.push(values[row * 8 + column]!, values[row * 8 + column + 1]!);
      written[row * 8 + column] = lane;
      written[row * 8 + column + 1] = lane + 0.5;
    }
    expect([...new Float32Array(bytes)]).toEqual([...read, ...written]);
  });

  it("fragments and products alternate: scale the rows of a sum between products", async () => {
    const [a, b] = [tile(11, "half"), tile(12, "half")];
    const bytes = await runKernel(device, {
      source: `kernel void online(device float* out [[buffer(0)]], device const half* a [[buffer(1)]],
  device const half* b [[buffer(2)]], ${LANE}) {
  simdgroup_half8x8 A, B; simdgroup_load(A, a); simdgroup_load(B, b);
  simdgroup_float8x8 O[2];
  for (int i = 0; i < 2; ++i) O[i] = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 2; ++i) { thread auto& e = O[i].thread_elements(); e[0] *= 0.5f; e[1] *= 0.5f; }
    for (int i = 0; i < 2; ++i) { simdgroup_multiply_accumulate(O[i], A, B, O[i]); }
    simdgroup_multiply_accumulate(O[1], A, B, O[1]);
  }
  simdgroup_float8x8 copy = O[1];
  thread auto& last = O[0].thread_elements();
  last[0] += 1.0f; last[1] += 1.0f;
  simdgroup_store(O[0], out);
  simdgroup_store(copy, out + 64);
}`,
      kernel: "online",
      threads: [32, 1, 1],
      inputs: [TYPES.half.pack(a), TYPES.half.pack(b)],
      outputBytes: 512,
      flavour,
    });
    let [first, second] = [a.map(() => 1), a.map(() => 1)];
    for (let step = 0; step < 3; ++step) {
      first = product(
        a,
        b,
        first.map((v) => v / 2),
        "float",
      );
      second = product(
        a,
        b,
        second.map((v) => v / 2),
        "float",
      );
      second = product(a, b, second, "float");
    }
    expect([...new Float32Array(bytes)]).toEqual([...first.map((v) => Math.fround(v + 1)), ...second]);
  });

  it("loads and stores go through strides, origins, transposition and all address spaces", async () => {
    const values = stream(16 * 24, 21);
    const bytes = await runKernel(device, {
      source: `kernel void move(device float* out [[buffer(0)]], device const float* a [[buffer(1)]],
  constant float* c [[buffer(2)]], uint i [[thread_index_in_threadgroup]]) {
  threadgroup float t[16 * 24];
  for (uint k = i; k < 16 * 24; k += 32) t[k] = a[k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 M;
  simdgroup_load(M, a, 24, ulong2(3, 5)); simdgroup_store(M, out, 8);
  simdgroup_load(M, t, 24, ulong2(2, 1), true); simdgroup_store(M, out + 64, 8);
  simdgroup_load(M, c + 24, 24, 0, true); simdgroup_store(M, out + 128, 8, ulong2(0, 0), true);
  simdgroup_load(M, t + 7, 24); simdgroup_store(M, out + 192, 10, ulong2(2, 0));
}`,
      kernel: "move",
      threads: [32, 1, 1],
      inputs: [Float32Array.from(values), Float32Array.from(values)],
      outputBytes: (192 + 82) * 4,
      flavour,
    });
    const block = (start: number): number[] =>
      Array.from({ length: 64 }, (_, i) => values[start + Math.floor(i / 8) * 24 + (i % 8)]!);
    const out = [...new Float32Array(bytes)];
    expect(out.slice(0, 64)).toEqual(block(5 * 24 + 3));
    expect(out.slice(64, 128)).toEqual(transposed(block(24 + 2)));
    expect(out.slice(128, 192)).toEqual(block(24));
    for (let row = 0; row < 8; ++row) {
      expect(out.slice(192 + row * 10 + 2, 192 + row * 10 + 10)).toEqual(block(7).slice(row * 8, row * 8 + 8));
    }
    expect(out[192]).toBeNaN();
  });

  it("a matrix that nothing was stored to is NaN", async () => {
    const bytes = await runKernel(device, {
      source: `kernel void undefined_matrix(device float* out [[buffer(0)]], ${LANE}) {
  simdgroup_float8x8 A, B(1.0f), D, E;
  simdgroup_multiply(D, A, B);
  simdgroup_store(D, out);
  out[64 + lane] = E.thread_elements()[0];
}`,
      kernel: "undefined_matrix",
      threads: [32, 1, 1],
      outputBytes: 96 * 4,
      flavour,
    });
    expect([...new Float32Array(bytes)].every(Number.isNaN)).toBe(true);
  });
});

/** A reference that outlives an operation on the matrix. */
const STALE = `kernel void stale(device float* out [[buffer(0)]], ${LANE}) {
  simdgroup_float8x8 A(1.0f), D(3.0f);
  thread auto& e = D.thread_elements();
  simdgroup_multiply(D, A, A);
#ifdef WRITE
  e[0] = 9.0f;
  simdgroup_multiply(D, D, A);
#endif
  out[lane] = e[0];
}`;

describe("a reference to elements that an operation has made stale", () => {
  it("stays good in lockstep", async () => {
    const bytes = await runKernel(device, {
      source: STALE,
      kernel: "stale",
      threads: [32, 1, 1],
      outputBytes: 128,
      flavour: "lockstep",
    });
    const out = [...new Float32Array(bytes)];
    expect(out.every((v, lane) => v === (owned(lane)[0] === owned(lane)[1] ? 1 : 0))).toBe(true);
  });

  it("reads as NaN in fast", async () => {
    const bytes = await runKernel(device, { source: STALE, kernel: "stale", threads: [32, 1, 1], outputBytes: 128 });
    expect([...new Float32Array(bytes)].every(Number.isNaN)).toBe(true);
  });

  it("ends the run in fast if it is written", async () => {
    const run = runKernel(device, {
      source: STALE,
      kernel: "stale",
      threads: [32, 1, 1],
      outputBytes: 128,
      defines: { WRITE: 1 },
    });
    const error = await deviceError(run);
    expect(error.code).toBe("crashed");
    expect(error.message).toMatch(/call thread_elements\(\) again.*thread \d+ of threadgroup 0, 0, 0/);
  });
});
