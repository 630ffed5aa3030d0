/** Casts between half and bfloat, which C++ does not have: what is rewritten, and what must not be. */
import { describe, expect, it } from "vitest";
import { transform } from "../../../native/msl/transform.ts";
import { failedChecks } from "./language_program.ts";
import { readSource } from "./workbench.ts";

/** The rewritten body of a function in a unit that uses half and bfloat. */
async function rewritten(text: string): Promise<string> {
  const source = `#include <metal_stdlib>
using namespace metal;
typedef metal::half small;
using wide = float;
template <typename T, class U, int N> void f(T a, U b, bfloat c) { ${text} }
kernel void k(device float *out [[buffer(0)]]) {}`;
  const { syntax, declarations, reflection } = await readSource(source);
  const entry = reflection.functions[0];
  if (entry === undefined) throw new Error("the kernel was not found");
  const all = transform(syntax, declarations, entry, new Map()).text;
  return /void f\([^{]*\{([\s\S]*)\}\n(?:kernel|# 6)/.exec(all)?.[1]?.trim() ?? all;
}

const CAST = "::lockstep::cast";

describe("casts to a type that may be half or bfloat", () => {
  it.each([
    ["x = static_cast<T>(a);", `x = ${CAST}<T>(a);`],
    ["x = static_cast<half>(a * c);", `x = ${CAST}<half>(a * c);`],
    ["return U(a + 1);", `return ${CAST}<U>(a + 1);`],
    ["x = small(c) * bfloat(y[2]);", `x = ${CAST}<small>(c) * ${CAST}<bfloat>(y[2]);`],
    ["x = (bfloat)a.p[i](1) * b;", `x = ${CAST}<bfloat>(a.p[i](1)) * b;`],
    ["x = (T)-*p++ + (half)(a + b);", `x = ${CAST}<T>(-*p++) + ${CAST}<half>((a + b));`],
    ["x = (bfloat)(half)c;", `x = ${CAST}<bfloat>(${CAST}<half>(c));`],
    ["x = (bfloat)(float)c.x;", `x = ${CAST}<bfloat>((float)c.x);`],
    ["x = (T)metal::max(a, g<N>(b)) - 1;", `x = ${CAST}<T>(metal::max(a, g<N>(b))) - 1;`],
  ])("%s", async (text, expected) => {
    expect(await rewritten(text)).toBe(expected);
  });

  it.each([
    "x = static_cast<wide>(a);",
    "x = float(a) + (float)b;",
    "x = T();",
    "x = half4(a, b, c, c);",
    "x = T(a, b);",
    "T y(a);",
    "half z{a};",
    "void g(T (*h)(U), U (&r)[N]);",
    "auto l = [](T) { return 1; };",
    "x = g(T) + sizeof(T);",
    "device T *p = static_cast<device T*>(q);",
  ])("leaves %s", async (text) => {
    expect(await rewritten(text)).toBe(text);
  });

  it("are left alone where bfloat does not occur", async () => {
    const text = "kernel void k(device half *out [[buffer(0)]]) { out[0] = half(out[1]) + (half)1; }";
    const { syntax, declarations, reflection } = await readSource(text);
    const entry = reflection.functions[0];
    expect(entry && transform(syntax, declarations, entry, new Map()).text).not.toContain("lockstep::cast");
  });
});

it("rounds once, through float, and converts everything else as C++ does", async () => {
  const failed = await failedChecks(`
    enum Kind { first = 3 };
    void program() {
      using lockstep::cast;
      const half h = 1.0009765625h;
      bfloat b = 3.140625_bf;
      CHECK(cast<bfloat>(h) == 1.0_bf && cast<half>(b) == 3.140625h);
      CHECK(cast<half>(bfloat(1e6f)) == half(INFINITY) && cast<bfloat>(half(6e-8f)) == bfloat(float(half(6e-8f))));
      CHECK(cast<int>(2.9f) == 2 && cast<half>(first) == 3.0h && cast<Kind>(3) == first);
      CHECK(all(cast<half2>(bfloat2(1, 2)) == half2(1, 2)) && all(cast<half2>(7) == half2(7)));
      static_assert(cast<half>(2) == 2.0h);
    }`);
  expect(failed).toEqual([]);
});
