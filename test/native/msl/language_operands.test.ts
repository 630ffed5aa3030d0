/** What the front end writes around swizzles and literals so that they mean what they mean in MSL. */
import { describe, expect, it } from "vitest";
import { transform } from "../../../native/msl/transform.ts";
import { failedChecks } from "./language_program.ts";
import { readSource } from "./workbench.ts";

/** The rewritten body of a template kernel with the statement `text`, without line markers. */
async function rewritten(text: string): Promise<string> {
  const source = `#include <metal_stdlib>
using namespace metal;
struct Pair { float ab; thread float *xy; struct { float2 zw; } in[2]; };
kernel void k(device float *out [[buffer(0)]]) { ${text} }`;
  const { syntax, declarations, reflection } = await readSource(source);
  const entry = reflection.functions[0];
  if (entry === undefined) throw new Error("the kernel was not found");
  const all = transform(syntax, declarations, entry, new Map()).text;
  return /void k\([^{]*\{([\s\S]*)\}\n# 1 "<kernel entry>/.exec(all)?.[1]?.trim() ?? all;
}

const UNIT = "->*::lockstep::unit";

describe("swizzles", () => {
  it.each([
    ["a.xy * b.yx;", `a.xy${UNIT} * b.yx${UNIT};`],
    ["2.0f * a.xyz;", `2.0f * a.xyz${UNIT};`],
    ["s / p[i].q(1).bgra < c->zw;", `s / p[i].q(1).bgra${UNIT} < c->zw${UNIT};`],
    ["f(s - m.in[0].zw, a.xy);", `f(s - m.in[0].zw${UNIT}, a.xy);`],
    ["x >= (float2)(v).xy;", `x >= (float2)(v).xy;`],
    ["a.xy >= b.xy;", `a.xy${UNIT} >= b.xy;`],
    ["a.xy >> b.xy;", `a.xy${UNIT} >> b.xy${UNIT};`],
    ["a.xy >>= 2;", "a.xy >>= 2;"],
    ["a.xy += b.yx;", "a.xy += b.yx;"],
    ["a.xy = b.yx;", "a.xy = b.yx;"],
    ["a.xyz.x * 2;", "a.xyz.x * 2;"],
    ["a.x * b.y;", "a.x * b.y;"],
    ["s * a.xy.y;", "s * a.xy.y;"],
    ["xy * zw;", "xy * zw;"],
    ["a.xw++;", "a.xw++;"],
    ["-a.xy * b;", "-::lockstep::rvalue(a.xy) * b;"],
    ["b = -p[i].q.yx;", "b = -::lockstep::rvalue(p[i].q.yx);"],
    ["b - a.xy;", `b - a.xy${UNIT};`],
    ["f(2, !a.xy);", "f(2, !::lockstep::rvalue(a.xy));"],
  ])("writes %s as %s", async (text, expected) => {
    expect(await rewritten(text)).toBe(expected);
  });
});

describe("literals", () => {
  it.each([
    ["half a = 1.5H;", "half a = 1.5h;"],
    ["bfloat b = 1.5bf + 2.BF;", "bfloat b = 1.5_bf + 2._bf;"],
    ["uint c = 0xbf;", "uint c = 0xbf;"],
    ["half d = 1.5h;", "half d = 1.5h;"],
  ])("writes %s as %s", async (text, expected) => {
    expect(await rewritten(text)).toBe(expected);
  });

  it("have the values that are written", async () => {
    const failed = await failedChecks(`
      void program() { CHECK(1.5_bf + 2._bf == 3.5_bf && 1.5h * 2 == 3.0h && float(0x1.8p1_bf) == 3.0f); }`);
    expect(failed).toEqual([]);
  });
});
