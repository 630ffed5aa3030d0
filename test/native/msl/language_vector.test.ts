/** Vectors: layout, construction, swizzles, operators, packed vectors, matrices. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { includeFolders } from "../../../native/msl/paths.ts";
import { runProcess } from "../../../native/msl/process.ts";
import { diagnose, failedChecks } from "./language_program.ts";

/** Sizes and alignments in bytes (MSL specification, tables 2.3 and 2.5). */
const LAYOUT: readonly (readonly [type: string, size: number, alignment: number])[] = [
  ["bool3", 4, 4],
  ["char2", 2, 2],
  ["char3", 4, 4],
  ["uchar4", 4, 4],
  ["short3", 8, 8],
  ["half2", 4, 4],
  ["half3", 8, 8],
  ["half4", 8, 8],
  ["bfloat3", 8, 8],
  ["bfloat4", 8, 8],
  ["int2", 8, 8],
  ["uint3", 16, 16],
  ["float2", 8, 8],
  ["float3", 16, 16],
  ["float4", 16, 16],
  ["long2", 16, 16],
  ["ulong4", 32, 32],
  ["vec<half, 8>", 16, 16],
  ["packed_char3", 3, 1],
  ["packed_half3", 6, 2],
  ["packed_bfloat4", 8, 2],
  ["packed_float3", 12, 4],
  ["packed_float4", 16, 4],
  ["packed_long2", 16, 8],
  ["float2x2", 16, 8],
  ["float3x3", 48, 16],
  ["float4x4", 64, 16],
  ["half4x4", 32, 8],
  ["bfloat4x4", 32, 8],
];

describe("layout", () => {
  it("has the sizes and alignments of the specification", async () => {
    const body = LAYOUT.map(
      ([type, size, align]) => `static_assert(sizeof(${type}) == ${size} && alignof(${type}) == ${align});\n`,
    ).join("");
    expect((await diagnose(body)).stderr).toBe("");
  });

  it("is refused where a size is wrong", async () => {
    expect((await diagnose("static_assert(sizeof(float3) == 12);")).status).not.toBe(0);
  });
});

describe("construction and conversion", () => {
  it("takes any mix of scalars and vectors, broadcasts scalars and converts explicitly", async () => {
    const failed = await failedChecks(`
      constant constexpr float4 TABLE = float4(1, 2, 3, 4);
      float4 implicit(float4 v) { return v; }
      void program() {
        float2 a(1, 2);
        float4 v = float4(a, 3, 4);
        CHECK(all(v == TABLE));
        CHECK(all(float4(1, float3(2, 3, 4)) == v) && all(float4(1, a.yx, 5) == float4(1, 2, 1, 5)));
        CHECK(all(implicit(2) == float4(2.0f)) && all(float4{} == 0));
        float4 list = {1, 2, 3, 4};
        CHECK(all(list == v));
        CHECK(all(half4(v) == half4(1, 2, 3, 4)) && all(float4(bfloat4(v)) == v));
        CHECK(all(int3(float3(1.9f, -1.9f, 7)) == int3(1, -1, 7)));
        CHECK(all(uchar2(ushort2(257, 3)) == uchar2(1, 3)));
        CHECK(all(bool3(float3(0, 2, -1)) == bool3(false, true, true)));
        CHECK(all(float2(bool2(true, false)) == float2(1, 0)));
        CHECK(float(half(2049.0f)) == 2048.0f && float(bfloat(257.0f)) == 256.0f);
        CHECK(all(bfloat2(half2(1.5h, 2.0h)) == bfloat2(1.5f, 2.0f)) && all(half2(bfloat2(3.0f)) == half2(bfloat(3.0f), 3.0h)));
        CHECK(half4(bfloat2(1.0f), half2(2))[1] == 1.0h && all(float2(bool2(half2(0, 2))) == float2(0, 1)));
        vec<float, 8> wide(3.0f);
        wide[7] = 1;
        CHECK((wide + wide)[0] == 6 && (wide + wide)[7] == 2);
      }`);
    expect(failed).toEqual([]);
  });

  it.each([
    ["float4 f(half4 v) { return v; }", "an implicit conversion between vectors"],
    ["int2 f(int2 v) { return v * 0.5f; }", "a real factor of integers"],
    ["float4 f(float3 v) { return float4(v); }", "too few elements"],
    ["float4 f(float3 v) { return float4(v, v); }", "too many elements"],
    ["void f() { float4 v; thread float &x = v.x; x = 1; }", "a reference to a component"],
    ["void f() { float4 v; v.xx = float2(1); }", "an assignment with a repeated component"],
    ["void f() { float2 v; v.z = 1; }", "a component that is not there"],
  ])("refuses %s: %s", async (body) => {
    expect((await diagnose(body)).status).not.toBe(0);
  });
});

describe("swizzles", () => {
  it("reads and writes components by position and colour names", async () => {
    const failed = await failedChecks(`
      void program() {
        float4 v(1, 2, 3, 4);
        CHECK(v.x == 1 && v.w == 4 && v.r == 1 && v.a == 4);
        CHECK(all(v.wzyx == float4(4, 3, 2, 1)) && all(v.bgr == float3(3, 2, 1)) && all(v.xxyy == float4(1, 1, 2, 2)));
        v.xy = v.yx;
        CHECK(all(v == float4(2, 1, 3, 4)));
        v.zw *= 2;
        v.x += 1;
        v.y++;
        CHECK(all(v == float4(3, 2, 6, 8)));
        v.wx = float2(10, 20);
        CHECK(all(v == float4(20, 2, 6, 10)));
        float3 t(1, 2, 3);
        t.xz = t.zx;
        CHECK(all(t == float3(3, 2, 1)) && all(t.zyx.xy == float2(1, 2)));
        bool4 b(false);
        b.yw = bool2(true);
        CHECK(!b.x && b.y && !b.z && b.w);
        const half4 h(1, 2, 3, 4);
        CHECK(all(h.yw == half2(2, 4)) && h[2] == 3.0h);
        float4 m[2] = {float4(0), float4(1)};
        m[1].yz = float2(5, 6);
        m[1][3] = 7;
        CHECK(all(m[1] == float4(1, 5, 6, 7)));
      }`);
    expect(failed).toEqual([]);
  });

  it("are values in templates, where their type depends on a parameter", async () => {
    const failed = await failedChecks(`
      template <typename T> void dependent(device vec<T, 4> *p) {
        vec<T, 4> a = p[0], b = a + 4;
        a.xy = b.yx;
        a.zw += b.xy;
        a.x = a.y = 1;
        p[0].yz = a.zw;
        p[1] = a.yxzw * b;
        p[2] = a.wzyx->*::lockstep::unit * b.xyzw->*::lockstep::unit;
        p[3] = T(2) * a.xxyy->*::lockstep::unit;
        p[4].x = dot(a.xy, b.zw) + (a.z > a.w ? a.zw : b.xy).x + exp(a.xy->*::lockstep::unit - T(1)).y;
      }
      void program() {
        float4 p[5] = {float4(1, 2, 3, 4)};
        dependent<float>((device float4 *)p);
        CHECK(all(p[0] == float4(1, 8, 10, 4)) && all(p[1] == float4(5, 6, 56, 80)));
        CHECK(all(p[2] == float4(50, 48, 7, 8)) && all(p[3] == 2) && p[4].x == 21);
      }`);
    expect(failed).toEqual([]);
  });

  it("come from the generator beside the header", async () => {
    const folder = join(includeFolders()[0] ?? "", "metal");
    const written = await runProcess(process.execPath, [join(folder, "generate_swizzles.mjs")]);
    expect(written.status).toBe(0);
    expect(readFileSync(join(folder, "vector_swizzle.h"), "utf8")).toBe(written.stdout);
  });
});

describe("operators", () => {
  it("work element by element, with scalars on either side", async () => {
    const failed = await failedChecks(`
      void program() {
        float4 v(1, 2, 3, 4);
        CHECK(all(v + 1 == float4(2, 3, 4, 5)) && all(1 - v == float4(0, -1, -2, -3)));
        CHECK(all(2.0f * v / v == 2) && all(-v == 0 - v));
        v -= 1;
        v *= float4(2);
        CHECK(all(v == float4(0, 2, 4, 6)));
        v /= 2;
        CHECK(all(v == float4(0, 1, 2, 3)));
        int4 i(7, -7, 6, 5);
        CHECK(all(i % 4 == int4(3, -3, 2, 1)) && all((i & 3) == int4(3, 1, 2, 1)) && all(~i == -i - 1));
        CHECK(all((uint2(1, 2) << 3) == uint2(8, 16)) && all((int2(-8, 8) >> 1) == int2(-4, 4)));
        CHECK(all((uint2(1) << uint2(33, 0)) == uint2(2, 1)));
        i <<= 1;
        i |= 1;
        i ^= 2;
        CHECK(i.x == 13);
        CHECK(all(uchar2(200, 1) + uchar2(100, 1) == uchar2(44, 2)));
        bool4 less = v < float4(1, 1, 3, 3);
        CHECK(less.x && !less.y && less.z && !less.w);
        CHECK(all(!less == (v >= float4(1, 1, 3, 3))) && any(less && !less) == false && all(less || !less));
        CHECK(all((half2(2048) + 1.0h) == half2(2048)));
        CHECK(all((++v) == float4(1, 2, 3, 4)) && all(v++ == float4(1, 2, 3, 4)) && v.x == 2);
        float4 nan(NAN);
        CHECK(!any(nan == nan) && all(nan != nan));
      }`);
    expect(failed).toEqual([]);
  });

  it("round half and bfloat after every operation", async () => {
    const failed = await failedChecks(`
      template <typename T> T hidden(T x) { asm volatile("" : "+m"(x)); return x; }
      void program() {
        half a = hidden(2048.0h), one = hidden(1.0h);
        CHECK(a + one + one == 2048.0h);             // 2050 if the sum were kept in float
        CHECK(float((a + one) * one) == 2048.0f);
        bfloat b = hidden(bfloat(256.0f)), unit = hidden(bfloat(1.0f));
        CHECK(float(b + unit + unit) == 256.0f);
        half2 v = hidden(half2(2048.0h));
        CHECK(all(v + one + one == v));
        bfloat2 w = hidden(bfloat2(256.0f));
        CHECK(all(w + unit + unit == w));
        CHECK(float(hidden(bfloat(0x1.01p0f))) == 1.0f);      // tie to even, down
        CHECK(float(hidden(bfloat(0x1.03p0f))) == 0x1.04p0f); // tie to even, up
        CHECK(isnan(hidden(bfloat(NAN))) && isinf(hidden(bfloat(FLT_MAX))) && isinf(hidden(half(65520.0f))));
        CHECK(float(hidden(half(1e-7f))) > 0.0f && as_type<ushort>(hidden(bfloat(1e-40f))) != 0);
      }`);
    expect(failed).toEqual([]);
  });
});

describe("packed vectors", () => {
  it("convert to vectors, compute and store", async () => {
    const failed = await failedChecks(`
      struct Vertex { packed_float3 position; float weight; };
      static_assert(sizeof(Vertex) == 16);
      void program() {
        packed_float3 p(1, 2, 3);
        float3 v = p;
        CHECK(all(v == float3(1, 2, 3)) && p.y == 2 && p[2] == 3);
        p.x = 5;
        p[1] = 6;
        p.yz = p.zy;
        CHECK(all(float3(p) == float3(5, 3, 6)));
        CHECK(all(p * 2.0f == float3(10, 6, 12)) && all(p + p == 2 * p) && all(p - v == float3(4, 1, 3)));
        p += v;
        CHECK(all(p == packed_float3(6, 5, 9)));
        CHECK(dot(p, p) == 142.0f && length(packed_float2(3, 4)) == 5.0f);
        packed_half4 h = packed_half4(half4(1, 2, 3, 4));
        CHECK(all(float4(h) == float4(1, 2, 3, 4)) && all(float2(h.wx) == float2(4, 1)));
        Vertex list[2] = {{p, 1}, {packed_float3(v), 2}};
        list[0] = list[1];
        CHECK(all(list[0].position == v) && list[0].weight == 2);
        packed_char4 c(1, -2, 3, -4);
        CHECK(all(float4(c) == float4(1, -2, 3, -4)));
      }`);
    expect(failed).toEqual([]);
  });
});

describe("matrices", () => {
  it("are columns", async () => {
    const failed = await failedChecks(`
      void program() {
        float2x2 m(1, 2, 3, 4);
        CHECK(all(m[0] == float2(1, 2)) && m[1][0] == 3);
        CHECK(all(m * float2(1, 10) == float2(31, 42)) && all(float2(1, 10) * m == float2(21, 43)));
        CHECK(m * m == float2x2(7, 10, 15, 22));
        CHECK(transpose(m) == float2x2(float2(1, 3), float2(2, 4)));
        CHECK(m + m == m * 2.0f && m - m == float2x2(0.0f) && -m + m == float2x2(0.0f) && 2.0f * m != m);
        float2x3 a(1, 2, 3, 4, 5, 6);
        CHECK(all(a * float2(1, 1) == float3(5, 7, 9)) && transpose(a)[2][1] == 6);
        CHECK((transpose(a) * a)[0][0] == 14);
        float4x4 d(2);
        CHECK(d[3][3] == 2 && d[3][2] == 0 && determinant(d) == 16 && determinant(m) == -2);
        CHECK(determinant(float3x3(2, 0, 0, 0, 3, 0, 5, 0, 4)) == 24);
        CHECK(determinant(float4x4(1, 2, 0, 1, 0, 1, 3, 2, 2, 0, 1, 0, 1, 1, 0, 2)) == 21);
        half4x4 h = half4x4(d);
        thread half4x4 &r = h;
        r[1][2] = 5;
        r[0] = half4(1);
        CHECK(float4x4(h)[1][2] == 5 && h[0][3] == 1.0h && float4x4(bfloat4x4(d)) == d);
      }`);
    expect(failed).toEqual([]);
  });
});
