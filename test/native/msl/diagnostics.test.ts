import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MetalSource } from "../../../native/device.ts";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { reword, summarise } from "../../../native/msl/diagnostics.ts";
import { deviceError, shown, testDevice } from "./workbench.ts";

let device: EmulatedDevice;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

const HEAD = "#include <metal_stdlib>\nusing namespace metal;\n";

/** Messages about `text` (behind the two lines of HEAD) when its kernel `k` is built. */
async function messages(
  text: string,
  options: { readonly includes?: readonly MetalSource[]; readonly constants?: Record<string, number> } = {},
): Promise<string[]> {
  const { includes = [], constants = {} } = options;
  const source = { path: "k.metal", text: HEAD + text };
  const build = device.compile(source, { includes }).then((library) => device.pipeline(library, "k", { constants }));
  const error = await deviceError(build);
  expect(error.code).toBe("compile_failed");
  return error.diagnostics.map(shown);
}

describe("compile errors carry the file, line and column of the .metal file", () => {
  it("an undeclared identifier", async () => {
    expect(await messages("kernel void k(device float*   x [[buffer(0)]]) {\n  x[0]   =   undefd;\n}\n")).toEqual([
      "k.metal:4:14: error: use of undeclared identifier 'undefd'",
    ]);
  });

  it("a wrong type, in MSL's words", async () => {
    const text =
      "kernel void k(device float* x, threadgroup float* t [[threadgroup(0)]]) {\n  threadgroup float* p = x;\n}\n";
    expect(await messages(text)).toEqual([
      "k.metal:4:22: error: cannot initialize a variable of type 'threadgroup float *' with an lvalue of type 'device float *'",
    ]);
  });

  it("a missing semicolon", async () => {
    expect(await messages("kernel void k(device float* x) {\n  float y = x[0]\n  x[1] = y;\n}\n")).toEqual([
      "k.metal:4:17: error: expected ';' at end of declaration",
    ]);
  });

  it("an error inside an included header", async () => {
    const header = {
      path: "lib/helper.h",
      text: "#pragma once\n\ninline float help(float v) {\n  return v + mising;\n}\n",
    };
    const text = '#include "helper.h"\nkernel void k(device float* x) { x[0] = help(1.0f); }\n';
    expect(await messages(text, { includes: [header] })).toEqual([
      "lib/helper.h:4:14: error: use of undeclared identifier 'mising'",
    ]);
  });

  it("an error behind an included header", async () => {
    const header = { path: "helper.h", text: "inline float help(float v) { return v; }\n" };
    const text = '#include "helper.h"\n\nkernel void k(device float* x) { x[0] = helpp(1.0f); }\n';
    const [first] = await messages(text, { includes: [header] });
    expect(first).toBe("k.metal:5:41: error: use of undeclared identifier 'helpp'");
  });

  it("an error behind a macro on the same line", async () => {
    const text =
      "#define LONG_SUM(a, b) ((a) + (b) + (a) * (b))\nkernel void k(device float* x) {\n  x[0] = LONG_SUM(1.0f, 2.0f) + oops; /* why */\n}\n";
    expect(await messages(text)).toEqual(["k.metal:5:33: error: use of undeclared identifier 'oops'"]);
  });

  it("an error inside a macro, at the macro's name", async () => {
    const text = "#define BAD(a) (a + hidden_name)\nkernel void k(device float* x) {\n  x[0] =   BAD(1.0f);\n}\n";
    expect(await messages(text)).toEqual(["k.metal:5:12: error: use of undeclared identifier 'hidden_name'"]);
  });

  it("an error in an argument of a macro", async () => {
    const text = "#define TWICE(a) ((a) + (a))\nkernel void k(device float* x) {\n  x[0] = TWICE( oops );\n}\n";
    const [first] = await messages(text);
    expect(first).toBe("k.metal:5:17: error: use of undeclared identifier 'oops'");
  });

  it("an error behind a function constant on the same line", async () => {
    const text =
      "constant int width [[function_constant(0)]]; constant int other = widht;\nkernel void k(device int* x) { x[0] = width + other; }\n";
    const [first] = await messages(text, { constants: { width: 1234567 } });
    expect(first).toBe("k.metal:3:67: error: use of undeclared identifier 'widht'");
  });

  it("an error behind a rewritten ternary", async () => {
    const text =
      "kernel void k(device float4* x, uint i [[thread_position_in_grid]]) {\n  float4 v = i > 3 ? x[i] : float4(0); v += oops;\n}\n";
    expect(await messages(text)).toEqual(["k.metal:4:45: error: use of undeclared identifier 'oops'"]);
  });

  it("an error inside a rewritten ternary", async () => {
    const text =
      "kernel void k(device float4* x, uint i [[thread_position_in_grid]]) {\n  float4 v = i > 3 ? x[oops] : float4(0);\n}\n";
    expect(await messages(text)).toEqual(["k.metal:4:24: error: use of undeclared identifier 'oops'"]);
  });

  it("an error behind a threadgroup declaration on the same line", async () => {
    const text = "kernel void k(device float* x) {\n  threadgroup float s[4]; s[0] = oops;\n}\n";
    expect(await messages(text)).toEqual(["k.metal:4:34: error: use of undeclared identifier 'oops'"]);
  });

  it("an error behind a pragma that came out of a macro", async () => {
    const text =
      '#define UNROLL _Pragma("clang loop unroll(full)")\nkernel void k(device float* x) {\n  UNROLL for (int i = 0; i < 4; ++i) x[i] = oops;\n  x[4] = 1;\n}\n';
    expect(await messages(text)).toEqual(["k.metal:5:45: error: use of undeclared identifier 'oops'"]);
  });

  it("an error in a template, with where it was instantiated", async () => {
    const text =
      'template <typename T> T half_of(T v) { return v.half_value; }\ntemplate <typename T>\nkernel void body(device T* x) { x[0] = half_of(x[1]); }\ntemplate [[host_name("k")]] kernel void body<float>(device float*);\n';
    const found = await messages(text);
    expect(found[0]).toBe("k.metal:3:48: error: member reference base type 'float' is not a structure or union");
    expect(found[1]).toMatch(/^k\.metal:5:40: note: in instantiation of function template specialization/);
  });

  it("a misuse of the library is placed where the author's code is", async () => {
    const text = "kernel void k(device float* x) {\n  x[0] = simd_shuffle_xor(x);\n}\n";
    const found = await messages(text);
    expect(found[0]).toMatch(/^k\.metal:4:10: error: no matching function for call to 'simd_shuffle_xor'/);
    expect(found.filter((line) => !line.startsWith("k.metal:"))).toEqual([]);
  });

  it("a parameter that cannot take its value", async () => {
    const text =
      "struct S { float a; };\nkernel void k(device float* x, device S* s [[thread_position_in_grid]]) { x[0] = s->a; }\n";
    const found = await messages(text);
    expect(found[0]).toMatch(/^k\.metal:4:13: error: this kernel cannot be called with the arguments it declares/);
  });
});

describe("errors that need no compiler", () => {
  it.each([
    [
      "#define A(x) x\nkernel void k(device float* x) {\n  x[0] = A(1, 2);\n}\n",
      "k.metal:5:15: error: too many arguments provided to function-like macro invocation",
    ],
    ["#if 1\nkernel void k(device float* x) {}\n", "k.metal:3:2: error: unterminated conditional directive"],
    ["#error no such device\nkernel void k(device float* x) {}\n", "k.metal:3:2: error: no such device"],
    ["kernel void k(device float* x) {\n  x[0] = (1 + 2;\n}\n", "k.metal:5:1: error: expected ')', found '}'"],
    ["kernel void k(device float* x) {\n  if (x[0] > 0) {\n}\n", "k.metal:3:32: error: '{' is never closed by a '}'"],
    ["kernel void k(device float* x) { }\n}\n", "k.metal:4:1: error: extraneous closing '}'"],
    [
      "#include <no_such_header>\nkernel void k(device float* x) {}\n",
      "k.metal:3:10: error: 'no_such_header' file not found",
    ],
  ])("%j", async (text, expected) => {
    const found = await messages(text);
    expect(found[0]).toBe(expected);
  });
});

describe("wording", () => {
  it("names what the author wrote", () => {
    expect(reword("'__global const float *' and '__local _Float16 *'")).toBe(
      "'device const float *' and 'threadgroup half *'",
    );
    expect(reword("'metal::vec<float, 4>' from 'vec<_Float16, 2>'")).toBe("'float4' from 'half2'");
    expect(reword("'float4' (aka 'vec<float, 4>')")).toBe("'float4'");
    expect(reword("unsigned int")).toBe("uint");
  });

  it("sums up with the first error and the number of others", () => {
    const at = { path: "a.metal", line: 1, column: 2 } as const;
    expect(
      summarise([
        { severity: "error", ...at, message: "x" },
        { severity: "note", ...at, message: "y" },
        { severity: "error", ...at, message: "z" },
      ]),
    ).toBe("a.metal:1:2: error: x (and 1 more)");
  });
});
