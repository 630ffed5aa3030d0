import { describe, expect, it } from "vitest";
import { UNSUPPORTED } from "../../../native/msl/unsupported.ts";
import { shown, tryRead } from "./workbench.ts";

/** One use of each construct; `|` marks where the refusal must point. */
const USES: Readonly<Record<string, readonly string[]>> = {
  "textures and samplers": [
    "kernel void k(|texture2d<float> image [[texture(0)]]) {}",
    "kernel void k(device int* x) { constexpr |sampler s(coord::normalized); }",
    "struct A { |texture2d_array<half, access::read> t; };",
    "#include |<metal_texture>",
    "kernel void k(|depthcube<float> d) {}",
    "kernel void k(|texture_buffer<float> t) {}",
  ],
  "ray tracing": [
    "kernel void k(|raytracing::acceleration_structure<> scene [[buffer(0)]]) {}",
    "kernel void k(device int* x) { |intersector<triangle_data> i; }",
    "#include |<metal_raytracing>",
    "void f(|ray_data float& x) {}",
  ],
  imageblocks: [
    "struct P { float4 c; };\nkernel void k(|imageblock<P> b) {}",
    "void f(|threadgroup_imageblock float4* p) {}",
  ],
  "pixel data types": ["struct P { |rgba8unorm<half4> c; };", "struct P { |r16snorm<half> c; };"],
  "mesh and object functions": [
    "void f(|object_data float* p) {}",
    "kernel void k(device int* x) { |mesh_grid_properties m; }",
    "[[|mesh]] void m() {}",
  ],
  "functions of the graphics stages": [
    "kernel void k(device float* x) { x[0] = |dfdx(x[1]); }",
    "kernel void k(device float* x) { |discard_fragment(); }",
    "struct V { |interpolant<float2, interpolation::perspective> c; };",
    "#include |<metal_graphics>",
  ],
  "visible functions": [
    "[[|visible]] float f(float x) { return x; }",
    "kernel void k(|visible_function_table<float(float)> t [[buffer(0)]]) {}",
    "[[|stitchable]] float f(float x) { return x; }",
  ],
  "inline assembly": ['kernel void k(device int* x) { |__asm("nop"); }', 'float f() |__asm("air.fabs.f32");'],
  "MetalPerformancePrimitives and tensors": [
    "#include |<MetalPerformancePrimitives/MetalPerformancePrimitives.h>",
    "#include |<metal_tensor>",
    "#include |<metal_cooperative_tensor>",
    "kernel void k(device int* x) { constexpr auto d = |mpp::tensor_ops::matmul2d_descriptor(16, 32, 16); }",
    "kernel void k(|tensor<device half, dextents<int, 2>> t [[buffer(0)]]) {}",
  ],
  "asynchronous simdgroup copies": ["kernel void k(device int* x) { |simdgroup_event e; }"],
  "indirect command buffers": ["struct A { |command_buffer b; };"],
  "built-in variables and bindings at program scope": [
    "uint gid [[|thread_position_in_grid]];\nkernel void k(device uint* x) { x[gid] = 1; }",
    "constant float* table [[|buffer(3)]];\nkernel void k(device float* x) { x[0] = table[0]; }",
  ],
  "stage inputs": ["struct V { float4 p; };\nkernel void k(V v [[|stage_in]]) {}"],
  "argument buffers": ["struct A { device float* p [[|id(0)]]; };"],
};

describe("each unsupported construct is refused by name and position", () => {
  it("has a use in this test", () => {
    expect(Object.keys(USES).sort()).toEqual(UNSUPPORTED.map((entry) => entry.construct).sort());
  });

  const cases = Object.entries(USES).flatMap(([construct, uses]) => uses.map((use) => [construct, use] as const));
  it.each(cases)("%s: %j", async (construct, use) => {
    const at = use.indexOf("|");
    const line = use.slice(0, at).split("\n").length;
    const column = at - use.lastIndexOf("\n", at);
    const read = await tryRead(use.replace("|", ""));
    const found = "diagnostics" in read ? read.diagnostics.map(shown) : [];
    expect(found[0]).toContain(`kernel.metal:${line}:${column}: error: `);
    expect(found[0]).toContain(`${construct} (`);
    expect(found[0]).toContain("are not supported");
  });

  it.each([
    ["vertex float4 v(uint i [[vertex_id]]) { return float4(0); }", "kernel.metal:1:1: error: 'vertex' functions"],
    ["fragment float4 f() { return float4(0); }", "kernel.metal:1:1: error: 'fragment' functions"],
  ])("other stages: %s", async (text, expected) => {
    const read = await tryRead(text);
    expect("diagnostics" in read && shown(read.diagnostics[0]!)).toContain(expected);
  });
});

describe("names that only look like it are not refused", () => {
  it.each([
    "kernel void k(device float* x) { float tensor = 1; float sampler = tensor < 2; x[0] = sampler + tensor; }",
    "float dfdx(float x) { return x; } kernel void k(device float* x) { x[0] = dfdx(x[1]); }",
    "struct mesh { float x; }; kernel void k(device float* x) { mesh m; x[0] = m.x; float fwidth = 1; x[1] = fwidth; }",
    "struct S { float tensor; }; kernel void k(device S* s) { s->tensor = s[0].tensor < 2; }",
    "#if 0\n#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n#endif\nkernel void k(device int* x) {}",
  ])("%s", async (text) => {
    expect(await tryRead(text)).toHaveProperty("program");
  });
});
