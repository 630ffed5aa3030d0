import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { reflectionSchema } from "../../../native/msl/reflection.ts";
import { bindConstants, transform } from "../../../native/msl/transform.ts";
import { readSource, shown, tryRead } from "./workbench.ts";

const GOLDEN = join(import.meta.dirname, "golden");

function golden(name: string): string {
  return readFileSync(join(GOLDEN, name), "utf8");
}

describe("golden reflections: NAME.metal becomes NAME.json", () => {
  const names = readdirSync(GOLDEN).filter((name) => name.endsWith(".json"));
  it.each(names)("%s", async (name) => {
    const program = await readSource(golden(name.replace(".json", ".metal")));
    expect(program.reflection).toEqual(reflectionSchema.parse(JSON.parse(golden(name))));
  });
});

describe("golden transform: rewriting.metal becomes rewriting.txt", () => {
  it("keeps lines and columns", async () => {
    const { syntax, declarations, reflection } = await readSource(golden("rewriting.metal"));
    const entry = reflection.functions[0];
    const { values } = bindConstants(reflection.functionConstants, { mode: 5, "1": 0.5 });
    expect(entry && transform(syntax, declarations, entry, values).text).toBe(golden("rewriting.txt"));
  });

  it("traces what stands in front of a token back to that token", async () => {
    const source = "kernel void k(device int* x, device int* y) { x[0] = y[1] > 2 ? y[0] : 4; }";
    const { syntax, declarations, reflection } = await readSource(source);
    const [entry] = reflection.functions;
    const layout = entry && transform(syntax, declarations, entry, new Map());
    const row = layout?.text.split("\n").find((line) => line.includes("> 2 ?")) ?? "";
    const written = row.indexOf("::lockstep::rvalue(y[0])") + 1;
    expect(written).toBeGreaterThan(0);
    for (const inside of [0, 12]) {
      expect(layout?.column("kernel.metal", 1, written + inside)).toBe(source.indexOf("y[0]") + 1);
    }
    expect(layout?.column("kernel.metal", 1, row.indexOf("> 2") + 1)).toBe(source.indexOf("> 2") + 1);
  });

  it("writes one entry, for the kernel that was asked for", async () => {
    const { syntax, declarations, reflection } = await readSource(golden("instantiations.metal"));
    const texts = reflection.functions.map((entry) => transform(syntax, declarations, entry, new Map()).text);
    const entries = texts.map((text) => /Entry<(.*)>::run/.exec(text)?.[1]);
    expect(entries).toEqual([
      "&::original, ::lockstep::Buffer<0>",
      ...["half, 4", "float, 2, 1", "bfloat, 8, 1", "float, 16"].map(
        (list) =>
          `&::scale_rows<${list}>, ::lockstep::Buffer<0>, ::lockstep::Buffer<1>, ::lockstep::Buffer<2>, ::lockstep::Builtin<::lockstep::builtin::thread_position_in_grid>`,
      ),
      "&::apply<float, twice, (3 > 2 ? 4 : 5)>, ::lockstep::Buffer<0>, ::lockstep::Builtin<::lockstep::builtin::thread_index_in_threadgroup>",
    ]);
    for (const text of texts) {
      expect(text).not.toContain("host_name");
      expect(text).toContain("template void twice<float>(thread float&);");
    }
  });
});

describe("signatures that bind nothing, or the same twice, are refused", () => {
  it.each([
    ["kernel void k(float x) {}", "kernel.metal:1:15: error: parameter 'x' of kernel 'k' is neither memory"],
    [
      "kernel void k(device float* x [[threadgroup(0)]]) {}",
      "kernel.metal:1:33: error: 'x' lies in device memory, so it cannot be [[threadgroup(n)]]",
    ],
    [
      "kernel void k(device float* x [[buffer(31)]]) {}",
      "kernel.metal:1:33: error: the index of 'x' is 31; it must be a constant from 0 to 30",
    ],
    ["kernel void k(device float* x [[buffer(N)]]) {}", "kernel.metal:1:33: error: the index of 'x' is not a constant"],
    [
      "kernel void k(device float* x [[buffer(1)]], device int* y [[buffer(1)]]) {}",
      "kernel.metal:1:46: error: 'y' and 'x' are both bound to buffer index 1",
    ],
    [
      "kernel void k(device int* x) {}\nnamespace a { kernel void k(device int* x) {} }",
      "kernel.metal:1:13: error: two kernels are called 'k'",
    ],
    [
      "constant int x [[function_constant(70000)]];",
      "kernel.metal:1:18: error: the index of function constant 'x' must be a constant from 0 to 65535",
    ],
    [
      'template [[host_name("a")]] kernel void k(device float*);',
      "kernel.metal:1:1: error: this explicit instantiation names no kernel template",
    ],
  ])("%s", async (text, expected) => {
    const read = await tryRead(text);
    expect("diagnostics" in read && read.diagnostics.map(shown)[0]).toContain(expected);
  });
});

describe("macros and versions", () => {
  it("predefines Metal's macros and the caller's", async () => {
    const text =
      "kernel void k(device float* a [[buffer(__METAL_VERSION__ / 100)]], device float* b [[buffer(N + __HAVE_BFLOAT__)]]) {}";
    const program = await readSource(text, { languageVersion: "3.2", defines: { N: 9 } });
    expect(program.reflection.functions[0]?.arguments.map((argument) => argument.index)).toEqual([3, 10]);
  });
});
