/** Memory of the Metal device: sizes, sentinels, heaps and residency, and what is said where Metal gives none. */
import { expect, test } from "vitest";
import type { MetalConnection } from "../../../native/metal/binding.ts";
import { build, connect, scalePipeline, scaling, settled, word } from "./stand_in/bench.ts";
import { withStandIn } from "./stand_in/hooks.ts";
import type { StandIn } from "./stand_in/open.ts";

const MIB = 2 ** 20;

let standIn: StandIn;
let connection: MetalConnection;

withStandIn(async (opened) => {
  standIn = opened;
  connection = await connect(opened);
});

test.each([1, 3, 16, 255, 256, 4096, 65_537])("%i bytes: exact, filled, read and written within", (bytes) => {
  const memory = connection.allocate(bytes, "exact");
  expect(memory.bytes).toBe(bytes);
  memory.fill(0x01020304);
  expect(memory.read(0, Math.min(bytes, 4))).toEqual(Uint8Array.of(4, 3, 2, 1).slice(0, bytes));
  memory.write(bytes - 1, Uint8Array.of(77));
  expect(memory.read(bytes - 1, 1)).toEqual(Uint8Array.of(77));
  expect(memory.sentinelIntact()).toBe(true);
  expect(() => memory.write(bytes, Uint8Array.of(1))).toThrow(RangeError);
  expect(() => memory.read(bytes - 1, 2)).toThrow(RangeError);
  memory.release();
  expect(() => memory.read(0, 1)).toThrow("released");
});

const POKE = `#include <metal_stdlib>
using namespace metal;
kernel void poke(device uchar* data [[buffer(0)]], constant int& at [[buffer(1)]]) { data[at] = 9; }
`;

test("a kernel that writes one byte before or behind a buffer breaks its sentinel, and only that", async () => {
  const built = await build(connection, POKE, "poke");
  if (!built.ok) throw new Error(built.error.words);
  const poke = async (bytes: number, at: number): Promise<boolean> => {
    const memory = connection.allocate(bytes, "poked");
    const beside = connection.allocate(bytes, "beside");
    const dispatch = {
      label: "poke",
      pipeline: built.pipeline,
      threadgroups: [1, 1, 1],
      threadsPerThreadgroup: [1, 1, 1],
      bindings: [
        { index: 0, memory, offset: 0 },
        { index: 1, bytes: word(at) },
      ],
      threadgroupMemory: [],
    } as const;
    expect(await connection.submit([dispatch], { counters: false }).done).toMatchObject({ ok: true });
    expect(beside.sentinelIntact()).toBe(true);
    const intact = memory.sentinelIntact();
    memory.release();
    beside.release();
    return intact;
  };
  for (const bytes of [5, 240, 256]) {
    expect(await poke(bytes, bytes - 1)).toBe(true);
    expect(await poke(bytes, bytes)).toBe(false);
    expect(await poke(bytes, bytes + 15)).toBe(false);
    expect(await poke(bytes, -1)).toBe(false);
    expect(await poke(bytes, -256)).toBe(false);
  }
});

test("16 MiB and more come out of a heap of their own, resident from macOS 15 on", async () => {
  const before = { heaps: standIn.count("heap buffers"), requests: standIn.count("residency requests") };
  const small = connection.allocate(16 * MIB - 1, "small");
  expect(standIn.count("heap buffers")).toBe(before.heaps);
  const large = connection.allocate(16 * MIB, "large");
  expect(standIn.count("heap buffers")).toBe(before.heaps + 1);
  expect(standIn.count("residency requests")).toBe(before.requests + 1);
  expect(connection.allocatedBytes()).toBeGreaterThan(32 * MIB);
  const pipeline = await scalePipeline(connection);
  large.fill(0);
  large.write(16 * MIB - 4, new Uint8Array(Float32Array.of(21).buffer));
  const dispatch = scaling(pipeline, large, { n: 4 * MIB });
  const few = {
    ...dispatch,
    bindings: [{ index: 0, memory: large, offset: 16 * MIB - 128 }, ...dispatch.bindings.slice(1)],
  };
  const one = { ...few, threadgroups: [1, 1, 1] as const };
  expect(await connection.submit([one], { counters: false }).done).toMatchObject({ ok: true });
  expect(new Float32Array(large.read(16 * MIB - 4, 4).slice().buffer)[0]).toBe(42);
  expect(large.sentinelIntact()).toBe(true);
  large.release();
  small.release();
  // Metal's thread may hold the submission a moment longer than its promise.
  await expect.poll(() => connection.allocatedBytes()).toBe(0);
});

test("a macOS without residency sets, and one whose Metal gives none", async () => {
  for (const scenario of [{ os: "14.7.0" }, { "fail.residency": "too many sets" }]) {
    standIn.set(scenario);
    const requests = standIn.count("residency requests");
    const other = await connect(standIn);
    const large = other.allocate(20 * MIB, "large");
    large.fill(7);
    expect(large.sentinelIntact()).toBe(true);
    expect(standIn.count("residency requests")).toBe(requests);
    large.release();
    other.close();
  }
});

test("a GPU that is no chip of a Mac: neither heaps nor residency sets, which end processes there", async () => {
  standIn.set({ families: "1005" });
  const before = { heaps: standIn.count("heap buffers"), requests: standIn.count("residency requests") };
  const other = await connect(standIn);
  const large = other.allocate(20 * MIB, "large");
  large.fill(7);
  expect(large.sentinelIntact()).toBe(true);
  expect(standIn.count("heap buffers")).toBe(before.heaps);
  expect(standIn.count("residency requests")).toBe(before.requests);
  large.release();
  other.close();
});

test("a process that captures: no residency sets, which documents of macOS 26 were not replayed with", async () => {
  const requests = standIn.count("residency requests");
  process.env.MTL_CAPTURE_ENABLED = "1";
  try {
    const other = await connect(standIn);
    const large = other.allocate(20 * MIB, "large");
    expect(standIn.count("residency requests")).toBe(requests);
    large.release();
    other.close();
  } finally {
    delete process.env.MTL_CAPTURE_ENABLED;
  }
});

test("where there is no heap, a buffer of its own", () => {
  standIn.set({ "fail.heap": 1 });
  const before = standIn.count("buffers");
  const large = connection.allocate(17 * MIB, "large");
  expect(standIn.count("buffers")).toBe(before + 1);
  large.release();
  expect(connection.allocatedBytes()).toBe(0);
});

test("no memory: both sides in the words", () => {
  standIn.set({ "fail.buffer": 1, working_set: 1000 });
  const words = 'GPU memory "keys" of 4096 bytes: Metal gave none, with 0 bytes allocated before';
  expect(() => connection.allocate(4096, "keys")).toThrow(words);
  expect(() => connection.allocate(20 * MIB, "keys")).toThrow("release buffers or use a shorter case");
  standIn.set({ max_buffer: 100_000 });
  expect(() => connection.allocate(100_000, "keys")).toThrow("the device allows 100000 bytes a buffer");
  standIn.set({ "fail.contents": 1 });
  expect(() => connection.allocate(64, "keys")).toThrow("memory that the CPU cannot reach");
  expect(connection.allocatedBytes()).toBe(0);
  expect(() => connection.allocate(0, "keys")).toThrow("bytes");
  expect(() => connection.allocate(1.5, "keys")).toThrow("bytes");
});

test("memory that is released while it is used lives until its dispatch has ended; all of it goes", async () => {
  const pipeline = await scalePipeline(connection);
  const before = await settled(standIn);
  standIn.set({ hold: 1 });
  const memory = connection.allocate(20 * MIB, "used");
  memory.fill(0);
  const { done } = connection.submit([scaling(pipeline, memory, { n: 64 })], { counters: false });
  memory.release();
  expect(connection.allocatedBytes()).toBeGreaterThan(20 * MIB);
  standIn.let(1);
  expect(await done).toMatchObject({ ok: true });
  expect(await settled(standIn, before), standIn.objects().classes).toBe(before);
  expect(connection.allocatedBytes()).toBe(0);
});
