/** Pipelines and binary archives through the binding. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import type { MetalConnection } from "../../../native/metal/binding.ts";
import { build, compile, connect, real, SCALE, word } from "./stand_in/bench.ts";
import { withStandIn } from "./stand_in/hooks.ts";
import type { StandIn } from "./stand_in/open.ts";

let standIn: StandIn;
let connection: MetalConnection;

withStandIn(async (opened) => {
  standIn = opened;
  connection = await connect(opened);
});

const CONSTANTS = `#include <metal_stdlib>
using namespace metal;
constant uint count [[function_constant(0)]];
constant int offset [[function_constant(1)]];
constant bool negate [[function_constant(2)]];
constant float factor [[function_constant(3)]];
constant short small [[function_constant(4)]];
kernel void constants(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if (i < count) out[i] = (negate ? -1.0f : 1.0f) * (factor * float(i) + float(offset) + float(small));
}
`;

test("what a pipeline says of itself, and its arguments", async () => {
  const text = `#include <metal_stdlib>
using namespace metal;
struct Shape { uint rows; float scale; };
kernel void reflected(device const half* in [[buffer(0)]], device float4* out [[buffer(2)]], constant Shape& shape [[buffer(3)]],
                      threadgroup float* scratch [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float fixed[64];
  fixed[i % 64] = float(in[i]);
  scratch[i % 32] = fixed[i % 64];
  out[i] = float4(scratch[i % 32] * shape.scale);
}
`;
  const reply = await build(connection, text, "reflected");
  expect(reply).toMatchObject({
    ok: true,
    pipeline: { kind: "pipeline" },
    simdWidth: 32,
    maxTotalThreadsPerThreadgroup: 1024,
    staticThreadgroupMemoryBytes: 256,
    archive: "none",
    arguments: [
      { name: "in", kind: "buffer", index: 0, access: 0, used: true, dataBytes: 2 },
      { name: "out", kind: "buffer", index: 2, access: 1, used: true, dataBytes: 16 },
      { name: "shape", kind: "buffer", index: 3, access: 0, used: true, dataBytes: 8 },
      { name: "scratch", kind: "threadgroup", index: 0, used: true, dataBytes: 4, alignment: 16 },
    ],
  });
  standIn.set({ reflection: 0 });
  expect(await build(connection, text, "reflected")).toMatchObject({ ok: true, arguments: null });
});

test("function constants arrive in the bytes of their types", async () => {
  const constants = [
    { index: 0, type: 33, bytes: word(5) },
    { index: 1, type: 29, bytes: word(0xffff_fff6) }, // -10
    { index: 2, type: 53, bytes: Uint8Array.of(1) },
    { index: 3, type: 3, bytes: real(0.5) },
    { index: 4, type: 37, bytes: Uint8Array.of(0xfe, 0xff) }, // -2
  ];
  const reply = await build(connection, CONSTANTS, "constants", { constants });
  if (!reply.ok) throw new Error(reply.error.words);
  const out = connection.allocate(32, "out");
  out.fill(0);
  const dispatch = {
    label: "constants",
    pipeline: reply.pipeline,
    threadgroups: [1, 1, 1],
    threadsPerThreadgroup: [32, 1, 1],
    bindings: [{ index: 0, memory: out, offset: 0 }],
    threadgroupMemory: [],
  } as const;
  expect(await connection.submit([dispatch], { counters: false }).done).toMatchObject({ ok: true });
  expect([...new Float32Array(out.read(0, 32).slice().buffer)]).toEqual([12, 11.5, 11, 10.5, 10, 0, 0, 0]);
  out.release();
});

test("refusals keep Metal's words: no such function, a constant without a value, a pipeline", async () => {
  expect(await build(connection, SCALE, "absent")).toMatchObject({
    ok: false,
    error: { words: "function absent was not found in the library", domain: "MTLLibraryErrorDomain", code: 5 },
  });
  expect(await build(connection, CONSTANTS, "constants")).toMatchObject({
    ok: false,
    error: { words: expect.stringContaining("'count' (index 0, uint)") },
  });
  standIn.set({ "fail.pipeline": "Threadgroup memory size (40960) exceeds the maximum (32768)" });
  expect(await build(connection, SCALE, "scale")).toMatchObject({
    ok: false,
    error: { words: "Threadgroup memory size (40960) exceeds the maximum (32768)", code: 3 },
  });
});

test("threads of a threadgroup: the limit of the descriptor, and what macOS 26 alone can require", async () => {
  expect(await build(connection, SCALE, "scale", { maxTotalThreadsPerThreadgroup: 96 })).toMatchObject({
    ok: true,
    maxTotalThreadsPerThreadgroup: 96,
  });
  const required = { requiredThreadsPerThreadgroup: [64, 1, 1] } as const;
  expect(await build(connection, SCALE, "scale", required)).toMatchObject({ ok: true });
  standIn.set({ os: "15.4.0" });
  expect(await build(connection, SCALE, "scale", required)).toMatchObject({
    ok: false,
    error: { domain: "lockstep", words: expect.stringContaining("requiredThreadsPerThreadgroup needs macOS 26") },
  });
});

function archivePath(): string {
  return path.join(fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-test-")), "kernels.archive");
}

test("a binary archive: added, then a hit; another pipeline is added to it", async () => {
  const archive = archivePath();
  expect(await build(connection, SCALE, "scale", { archive })).toMatchObject({ ok: true, archive: "added" });
  expect(await build(connection, SCALE, "scale", { archive })).toMatchObject({ ok: true, archive: "hit" });
  const other = { archive, maxTotalThreadsPerThreadgroup: 64 };
  expect(await build(connection, SCALE, "scale", other)).toMatchObject({ ok: true, archive: "added" });
  expect(await build(connection, SCALE, "scale", other)).toMatchObject({ ok: true, archive: "hit" });
  expect(await build(connection, SCALE, "scale", { archive })).toMatchObject({ ok: true, archive: "hit" });
  expect(fs.readdirSync(path.dirname(archive))).toEqual(["kernels.archive"]);
});

test("a broken archive is a problem, never a refusal, and is written anew", async () => {
  const archive = archivePath();
  fs.writeFileSync(archive, "rubbish");
  expect(await build(connection, SCALE, "scale", { archive })).toMatchObject({
    ok: true,
    archive: { problem: `it could not be read: Invalid binary archive: ${archive}; it was written anew` },
  });
  expect(await build(connection, SCALE, "scale", { archive })).toMatchObject({ ok: true, archive: "hit" });
});

test("an archive that cannot be added to or written leaves the pipeline and no file", async () => {
  const archive = archivePath();
  standIn.set({ "fail.archive_add": "no room in it" });
  expect(await build(connection, SCALE, "scale", { archive })).toMatchObject({
    ok: true,
    archive: { problem: "it could not be written: no room in it" },
  });
  standIn.set({ "fail.archive_write": "No space left on device" });
  expect(await build(connection, SCALE, "scale", { archive })).toMatchObject({
    ok: true,
    archive: { problem: "it could not be written: No space left on device" },
  });
  standIn.set({});
  expect(await build(connection, SCALE, "scale", { archive: "/nowhere/kernels.archive" })).toMatchObject({
    ok: true,
    archive: { problem: expect.stringContaining("it could not be written") },
  });
  expect(fs.readdirSync(path.dirname(archive))).toEqual([]);
});

test("a pipeline that the archive lacks and Metal refuses is a refusal", async () => {
  const archive = archivePath();
  await build(connection, SCALE, "scale", { archive });
  standIn.set({ "fail.pipeline": "XPC_ERROR_CONNECTION_INTERRUPTED" });
  const refused = await build(connection, SCALE, "scale", { archive, maxTotalThreadsPerThreadgroup: 128 });
  expect(refused).toMatchObject({ ok: false, error: { words: "XPC_ERROR_CONNECTION_INTERRUPTED" } });
});

test("what is no library is refused as an argument", async () => {
  const library = await compile(connection, SCALE);
  if (!library.ok) throw new Error(library.error.words);
  const built = await build(connection, SCALE, "scale");
  if (!built.ok) throw new Error(built.error.words);
  const request = {
    function: "scale",
    constants: [],
    maxTotalThreadsPerThreadgroup: null,
    requiredThreadsPerThreadgroup: null,
    archive: null,
  };
  const wrong = { kind: "library" } as const;
  await expect(async () => await connection.pipeline(wrong, request)).rejects.toThrow("library");
  const pipeline = built.pipeline as unknown as typeof library.library;
  await expect(async () => await connection.pipeline(pipeline, request)).rejects.toThrow("library");
});
