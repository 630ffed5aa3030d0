/** Barriers, atomics, threadgroup memory and the lockstep flavour. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Device, Flavour } from "../../../native/device.ts";
import { deviceError, testDevice } from "../msl/workbench.ts";
import { runKernel } from "./run_kernel.ts";

let device: Device;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

const FLAVOURS: readonly Flavour[] = ["fast", "lockstep"];
const INDEX = "uint i [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]";

describe.each(FLAVOURS)("flavour %s", (flavour) => {
  it("1,024 threads meet at barriers", async () => {
    const bytes = await runKernel(device, {
      source: `kernel void meet(device uint* out [[buffer(0)]], ${INDEX}) {
  threadgroup uint t[1024];
  uint x = i;
  for (uint k = 0; k < 10; ++k) {
    t[i] = x;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x = t[(i + 333) % 1024];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = x;
}`,
      kernel: "meet",
      threads: [32, 8, 4],
      outputBytes: 4096,
      flavour,
    });
    expect([...new Uint32Array(bytes)]).toEqual(Array.from({ length: 1024 }, (_, i) => (i + 3330) % 1024));
  });

  it("atomics count exactly, over threadgroups and workers", async () => {
    const groups = 50;
    const bytes = await runKernel(device, {
      source: `kernel void count(device atomic_uint* out [[buffer(0)]], device uint* zero [[buffer(1)]],
  uint g [[thread_position_in_grid]], ${INDEX}) {
  threadgroup atomic_int local; threadgroup atomic_float sum;
  if (i == 0) { atomic_store_explicit(&local, 0, memory_order_relaxed); atomic_store_explicit(&sum, 0.0f, memory_order_relaxed); }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&local, 2, memory_order_relaxed);
  atomic_fetch_add_explicit(&sum, 0.5f, memory_order_relaxed);
  atomic_fetch_max_explicit(out + 1, g, memory_order_relaxed);
  atomic_fetch_or_explicit(out + 2, 1u << lane, memory_order_relaxed);
  atomic_fetch_xor_explicit(out + 3, g, memory_order_relaxed);
  uint expected = atomic_load_explicit(out + 4, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(out + 4, &expected, expected + 3, memory_order_relaxed, memory_order_relaxed)) {}
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) {
    atomic_fetch_add_explicit(out, uint(atomic_load_explicit(&local, memory_order_relaxed)), memory_order_relaxed);
    atomic_fetch_add_explicit(out + 5, uint(atomic_exchange_explicit(&sum, 1.0f, memory_order_relaxed) * 2), memory_order_relaxed);
    atomic_fetch_sub_explicit(out + 6, 5u, memory_order_relaxed);
    atomic_fetch_add_explicit((device atomic<ulong>*)(out + 8), 1ul << 33, memory_order_relaxed);
  }
}
kernel void clear(device uint* out [[buffer(0)]], uint g [[thread_position_in_grid]]) { out[g] = 0; }`,
      kernel: "count",
      threads: [64, 1, 1],
      threadgroups: [groups, 1, 1],
      inputs: [new Uint32Array(1)],
      outputBytes: 40,
      flavour,
      submit: { workers: 2 },
    });
    // The output came poisoned with the word 0x7fed7fed, which every operation started from.
    const word = 0x7fed7fed;
    const out = new Uint32Array(bytes);
    const threads = 64 * groups;
    let xor = word;
    for (let g = 0; g < threads; ++g) xor ^= g;
    expect(out[0]).toBe((word + threads * 2) >>> 0);
    expect(out[1]).toBe(word);
    expect(out[2]).toBe(0xffffffff);
    expect(out[3]).toBe(xor >>> 0);
    expect(out[4]).toBe((word + threads * 3) >>> 0);
    expect(out[5]).toBe((word + threads) >>> 0);
    expect(out[6]).toBe((word - 5 * groups) >>> 0);
    expect(out[8]).toBe(word);
    expect(out[9]).toBe((word + 2 * groups) >>> 0);
  });

  it("threadgroup memory is NaN until it is written, in every threadgroup, static and dynamic", async () => {
    const bytes = await runKernel(device, {
      source: `kernel void stale(device float* out [[buffer(0)]], threadgroup float* d [[threadgroup(0)]],
  threadgroup half* e [[threadgroup(1)]], uint g [[thread_position_in_grid]], ${INDEX}) {
  threadgroup float s[32];
  out[g] = s[i] + (isnan(d[i]) && isnan(e[i]) && isnan(e[i + 32]) ? 0.0f : 1.0f);
  if (!isnan(s[i])) out[g] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s[i] = 1; d[i] = 1; e[i] = 1; e[i + 32] = 1;
}`,
      kernel: "stale",
      threads: [32, 1, 1],
      threadgroups: [3, 1, 1],
      threadgroupMemory: [
        { index: 0, bytes: 128 },
        { index: 1, bytes: 128 },
      ],
      outputBytes: 3 * 128,
      flavour,
      submit: { workers: 1 },
    });
    expect([...new Float32Array(bytes)].every(Number.isNaN)).toBe(true);
  });

  it("built-in values of a three-dimensional dispatch", async () => {
    const bytes = await runKernel(device, {
      source: `kernel void ids(device uint* out [[buffer(0)]], uint3 g [[thread_position_in_grid]],
  ushort3 t [[thread_position_in_threadgroup]], uint2 tg [[threadgroup_position_in_grid]], uint3 grid [[threads_per_grid]],
  uint3 groups [[threadgroups_per_grid]], ushort2 size [[threads_per_threadgroup]], ushort i [[thread_index_in_threadgroup]],
  ushort lane [[thread_index_in_simdgroup]], ushort sg [[simdgroup_index_in_threadgroup]],
  uint width [[threads_per_simdgroup]], uint sgs [[simdgroups_per_threadgroup]], uint quad [[thread_index_in_quadgroup]]) {
  device uint* o = out + 20 * (g.x + grid.x * (g.y + grid.y * g.z));
  const uint v[20] = {g.x, g.y, g.z, t.x, t.y, t.z, tg.x, tg.y, grid.x, grid.y, grid.z, groups.x, groups.y, groups.z,
    size.x, size.y, i, lane + 100 * sg, width + 100 * sgs, quad};
  for (uint k = 0; k < 20; ++k) o[k] = v[k];
}`,
      kernel: "ids",
      threads: [5, 4, 2],
      threadgroups: [3, 2, 2],
      outputBytes: 20 * 4 * (15 * 8 * 4),
      flavour,
    });
    const expected: number[] = [];
    for (let z = 0; z < 4; ++z) {
      for (let y = 0; y < 8; ++y) {
        for (let x = 0; x < 15; ++x) {
          const [tx, ty, tz] = [x % 5, y % 4, z % 2];
          const i = tx + 5 * (ty + 4 * tz);
          expected.push(x, y, z, tx, ty, tz, Math.floor(x / 5), Math.floor(y / 4), 15, 8, 4, 3, 2, 2, 5, 4);
          expected.push(i, (i % 32) + 100 * Math.floor(i / 32), 232, i % 4);
        }
      }
    }
    expect([...new Uint32Array(bytes)]).toEqual(expected);
  });

  it("a barrier that not all threads reach is reported with both places", async () => {
    const run = runKernel(device, {
      source: `kernel void part(device float* out [[buffer(0)]], ${INDEX}) {
  if (i < 48) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  } else {
    threadgroup_barrier(mem_flags::mem_device);
  }
  out[i] = 1;
}`,
      kernel: "part",
      threads: [64, 1, 1],
      outputBytes: 256,
      flavour,
    });
    const error = await deviceError(run);
    expect(error.code).toBe("crashed");
    expect(error.message).toMatch(
      /^Kernel "part": threadgroup barrier not reached by all threads: \d+ of 64 threads wait at/,
    );
    expect(error.message).toMatch(/test\.metal:[35] while thread \d+ is at the barrier at .*test\.metal:[35]/);
  });
});

/** Lanes of one simdgroup exchange through threadgroup memory without any barrier: right only where they run together. */
const EXCHANGE = `kernel void exchange(device float* out [[buffer(0)]], ${INDEX}) {
  threadgroup float t[32];
  t[lane] = float(lane);
  const float a = t[(lane + 1) % 32];
  t[lane] = a * 2;
  out[i] = a + 1000 * t[(lane + 31) % 32];
}`;

describe("lanes that exchange without a barrier", () => {
  const exchange = (flavour: Flavour): Promise<ArrayBuffer> =>
    runKernel(device, { source: EXCHANGE, kernel: "exchange", threads: [32, 1, 1], outputBytes: 128, flavour });
  const expected = Array.from({ length: 32 }, (_, lane) => ((lane + 1) % 32) + 2000 * lane);

  it("are right in lockstep", async () => {
    expect([...new Float32Array(await exchange("lockstep"))]).toEqual(expected);
  });

  it("are wrong in fast, which is how the difference is found", async () => {
    expect([...new Float32Array(await exchange("fast"))]).not.toEqual(expected);
  });

  it("are right in lockstep through dynamic memory, atomics, matrices and divergence", async () => {
    const bytes = await runKernel(device, {
      source: `kernel void many(device float* out [[buffer(0)]], threadgroup float* t [[threadgroup(0)]], ${INDEX}) {
  t[lane] = 1; t[lane + 32] = float(lane);
  simdgroup_float8x8 A; simdgroup_load(A, t);
  simdgroup_store(A, t + 64);
  float r = t[64 + (lane + 7) % 32] + t[96 + (lane + 7) % 32];
  if (lane < 16) { t[lane] = 5; r += 100 * t[15 - lane]; } else { t[lane] = 7; r += 100 * t[47 - lane]; }
  threadgroup atomic_uint* n = (threadgroup atomic_uint*)(t + 128);
  if (lane == 0) atomic_store_explicit(n, 0u, memory_order_relaxed);
  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);
  out[i] = r + 1000 * float(atomic_load_explicit(n, memory_order_relaxed));
}`,
      kernel: "many",
      threads: [32, 1, 1],
      threadgroupMemory: [{ index: 0, bytes: 132 * 4 }],
      outputBytes: 128,
      flavour: "lockstep",
    });
    expect([...new Float32Array(bytes)]).toEqual(
      Array.from({ length: 32 }, (_, lane) => 1 + ((lane + 7) % 32) + (lane < 16 ? 500 : 700) + 32_000),
    );
  });
});
