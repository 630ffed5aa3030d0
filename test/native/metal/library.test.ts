/** Compiling through the binding: what is asked for reaches Metal, and Metal's words come back as they are. */
import { expect, test } from "vitest";
import type { MetalConnection } from "../../../native/metal/binding.ts";
import { compile, connect, SCALE } from "./stand_in/bench.ts";
import { withStandIn } from "./stand_in/hooks.ts";
import type { StandIn } from "./stand_in/open.ts";

let standIn: StandIn;
let connection: MetalConnection;

withStandIn(async (opened) => {
  standIn = opened;
  connection = await connect(opened);
});

test("a library, its functions and their constants", async () => {
  const text = `#include <metal_stdlib>
using namespace metal;
constant uint width [[function_constant(4)]];
constant bool extra [[function_constant(7)]];
constant bool has_extra = is_function_constant_defined(extra);
kernel void one(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = has_extra ? 0 : width; }
kernel void two(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = width + WIDER; }
`;
  const reply = await compile(connection, text, { macros: [["WIDER", "(3 + 4)"]] });
  expect(reply).toMatchObject({ ok: true, warnings: null, mathModeBy: "mathMode", library: { kind: "library" } });
  if (!reply.ok) return;
  expect(reply.ms).toBeGreaterThan(0);
  expect(reply.functions.map((one) => one.name)).toEqual(["one", "two"]);
  expect(reply.functions[0]?.constants).toContainEqual({ name: "width", index: 4, type: 33, required: true });
  expect(reply.functions[0]?.constants).toContainEqual({ name: "extra", index: 7, type: 53, required: false });
});

test("an error keeps Apple's form and the file that #line names", async () => {
  const text = `#line 7 "kernels/wrong.metal"\nkernel void wrong(device float* x [[buffer(0)]]) { x[0] = nothing; }\n`;
  const reply = await compile(connection, `#include <metal_stdlib>\nusing namespace metal;\n${text}`);
  expect(reply).toEqual({
    ok: false,
    error: {
      words: "kernels/wrong.metal:7:59: error: use of undeclared identifier 'nothing'\n",
      domain: "MTLLibraryErrorDomain",
      code: 3,
    },
  });
});

test("warnings beside a library; words of a refusal and of an exception, kept", async () => {
  const words = "program_source:3:9: warning: unused variable 'a'\n  uint a;\n       ^\n";
  standIn.set({ "warn.compile": words });
  expect(await compile(connection, SCALE)).toMatchObject({ ok: true, warnings: words });
  standIn.set({ "fail.compile": "Compilation failed: \n\nprogram_source:12:5: error: étrange 50% of it\n" });
  expect(await compile(connection, SCALE)).toEqual({
    ok: false,
    error: {
      words: "Compilation failed: \n\nprogram_source:12:5: error: étrange 50% of it\n",
      domain: "MTLLibraryErrorDomain",
      code: 3,
    },
  });
  standIn.set({ "throw.compile": "source must not be nil." });
  expect(await compile(connection, SCALE)).toMatchObject({
    ok: false,
    error: { words: "source must not be nil.", domain: "NSInvalidArgumentException" },
  });
});

test("math mode: by mathMode from macOS 15 on, by fastMathEnabled before", async () => {
  for (const mathMode of ["safe", "relaxed", "fast"] as const) {
    expect(await compile(connection, SCALE, { mathMode })).toMatchObject({ ok: true, mathModeBy: "mathMode" });
  }
  expect(standIn.count("safe math with fast functions")).toBe(1); // relaxed
  standIn.set({ os: "14.0.0" });
  for (const mathMode of ["safe", "fast"] as const) {
    expect(await compile(connection, SCALE, { mathMode })).toMatchObject({ ok: true, mathModeBy: "fastMathEnabled" });
  }
  expect(await compile(connection, SCALE, { mathMode: "relaxed" })).toMatchObject({
    ok: false,
    error: { domain: "lockstep", words: expect.stringContaining("relaxed math needs macOS 15") },
  });
});

test("a language version that macOS lacks, logging that it lacks", async () => {
  standIn.set({ os: "14.0.0" });
  const refused = await compile(connection, SCALE, { languageVersion: 3 * 65_536 + 2 });
  expect(refused).toMatchObject({ ok: false, error: { domain: "MTLLibraryErrorDomain", code: 1 } });
  expect(await compile(connection, SCALE, { logging: true })).toMatchObject({
    ok: false,
    error: { words: expect.stringContaining("needs macOS 15") },
  });
});

test("arguments that make no sense are exceptions", async () => {
  await expect(compile(connection, SCALE, { mathMode: "wild" as "safe" })).rejects.toThrow('mathMode is "wild"');
  await expect(compile(connection, SCALE, { languageVersion: 0 })).rejects.toThrow("languageVersion");
  await expect(compile(connection, 5 as unknown as string)).rejects.toThrow("text must be a string");
});

test("compiles in parallel", async () => {
  const texts = [1, 2, 3, 4].map((i) => SCALE.replaceAll("scale", `scale_${i}`));
  const replies = await Promise.all(texts.map((text) => compile(connection, text)));
  expect(replies.map((reply) => reply.ok && reply.functions[0]?.name)).toEqual([
    "scale_1",
    "scale_2",
    "scale_3",
    "scale_4",
  ]);
});
