/** Common, relational and geometric functions and the math functions with exact results. */
import { describe, expect, it } from "vitest";
import { failedChecks } from "./language_program.ts";

describe("common functions", () => {
  it("select, mix, clamp, sign, step and smoothstep", async () => {
    const failed = await failedChecks(`
      bool same(float a, float b) { return as_type<uint>(a) == as_type<uint>(b); }
      void program() {
        CHECK(select(1.0f, 2.0f, true) == 2 && select(1, 2, false) == 1);
        CHECK(all(select(float4(1), float4(2), bool4(true, false, true, false)) == float4(2, 1, 2, 1)));
        CHECK(all(select(half2(1), half2(2), true) == 2.0h) && all(select(int2(1), int2(2), int2(0, 1)) == int2(1, 2)));
        CHECK(mix(1.0f, 3.0f, 0.25f) == 1.5f && all(mix(float2(0), float2(4), 0.5f) == 2));
        CHECK(clamp(5.0f, 0.0f, 1.0f) == 1 && clamp(-5, 0, 3) == 0 && all(clamp(float3(-1, 0.5f, 2), 0.0f, 1.0f) == float3(0, 0.5f, 1)));
        CHECK(all(clamp(uchar2(3, 9), uchar(4), uchar(8)) == uchar2(4, 8)) && saturate(-1.0f) == 0 && saturate(1.5h) == 1.0h);
        CHECK(saturate(NAN) == 0 && clamp(NAN, 2.0f, 3.0f) == 2);
        CHECK(sign(3.0f) == 1 && sign(-0.1h) == -1.0h && same(sign(-0.0f), -0.0f) && sign(NAN) == 0);
        CHECK(step(1.0f, 0.5f) == 0 && step(1.0f, 1.0f) == 1 && all(step(0.0f, float2(-1, 1)) == float2(0, 1)));
        CHECK(smoothstep(0.0f, 1.0f, 0.5f) == 0.5f && smoothstep(0.0f, 1.0f, 2.0f) == 1 && smoothstep(0.0f, 2.0f, 0.5f) == 0.15625f);
        CHECK(min(1.0f, NAN) == 1 && max(NAN, 2.0f) == 2 && isnan(max(NAN, NAN)) && fmin(NAN, -INFINITY) == -INFINITY);
        CHECK(max(1.5h, 2.0h) == 2.0h && all(max(float3(1, 5, 3), float3(4, 2, 6)) == float3(4, 5, 6)) && max(2u, 3u) == 3u);
        CHECK(fmax3(1.0f, 3.0f, 2.0f) == 3 && fmin3(1.0f, 3.0f, 2.0f) == 1 && fmedian3(9.0f, 3.0f, 5.0f) == 5 && max3(1, 7, 3) == 7);
        CHECK(abs(-2.5f) == 2.5f && abs(-3) == 3 && all(abs(half2(-1, 2)) == half2(1, 2)) && same(fabs(-0.0f), 0.0f));
        CHECK(precise::max(NAN, 1.0f) == 1 && fast::min(2.0f, 1.0f) == 1 && fast::clamp(2.0f, 0.0f, 1.0f) == 1);
      }`);
    expect(failed).toEqual([]);
  });
});

describe("bits of a bfloat", () => {
  it("keep the sign that a kernel puts there", async () => {
    const failed = await failedChecks(`
      void program() {
        for (float b : {-2.0f, 2.0f, -0.0f}) {
          volatile float hidden = b;
          const bfloat y = bfloat(hidden);
          const ushort sign = as_type<ushort>(y) & 0x8000;
          const bfloat one = as_type<bfloat>(ushort(sign | 0x3f80));
          const bfloat4 ones = as_type<bfloat4>(ushort4(ushort(sign | 0x3f80)));
          CHECK(as_type<ushort>(one) == (sign | 0x3f80) && float(one) == (sign != 0 ? -1.0f : 1.0f));
          CHECK(float(ones.x) == (sign != 0 ? -1.0f : 1.0f) && float(ones.w) == float(one));
        }
        constexpr bfloat half_of_it = as_type<bfloat>(ushort(0x3f00));
        CHECK(half_of_it == bfloat(0.5f) && as_type<bfloat>(as_type<half>(ushort(0x3f00))) == half_of_it);
      }`);
    expect(failed).toEqual([]);
  });
});

describe("functions with exact results", () => {
  it("round, split and scale", async () => {
    const failed = await failedChecks(`
      bool same(float a, float b) { return as_type<uint>(a) == as_type<uint>(b); }
      void program() {
        CHECK(rint(0.5f) == 0 && rint(1.5f) == 2 && rint(2.5f) == 2 && rint(-2.5f) == -2 && rint(-1.5h) == -2.0h);
        CHECK(round(0.5f) == 1 && round(2.5f) == 3 && round(-2.5f) == -3 && round(0.49999997f) == 0 && same(round(-0.2f), -0.0f));
        CHECK(trunc(-1.7f) == -1 && floor(-1.5f) == -2 && ceil(-1.5f) == -1 && same(ceil(-0.5f), -0.0f));
        CHECK(all(rint(float4(0.5f, 1.5f, 2.5f, 3.5f)) == float4(0, 2, 2, 4)) && floor(65504.0h) == 65504.0h);
        CHECK(fract(1.25f) == 0.25f && fract(-0.25f) == 0.75f && fract(-1e-10f) == 0x1.fffffep-1f && isnan(fract(NAN)));
        CHECK(float(fract(half(-0x1p-20f))) == 0x1.ffcp-1f && float(fract(bfloat(-0x1p-20f))) == 0x1.fep-1f);
        int exponent = 0;
        CHECK(frexp(12.0f, exponent) == 0.75f && exponent == 4 && frexp(0x1p-140f, exponent) == 0.5f && exponent == -139);
        int2 exponents;
        CHECK(all(frexp(half2(0.5h, 8.0h), exponents) == 0.5h) && all(exponents == int2(0, 4)));
        float whole = 0;
        CHECK(modf(-3.25f, whole) == -0.25f && whole == -3 && same(modf(-4.0f, whole), -0.0f) && modf(INFINITY, whole) == 0 && isinf(whole));
        float2 wholes;
        CHECK(all(modf(float2(1.5f, 2.25f), wholes) == float2(0.5f, 0.25f)) && all(wholes == float2(1, 2)));
        CHECK(ldexp(0.75f, 4) == 12 && ldexp(1.0f, -149) == 0x1p-149f && all(ldexp(float2(1, 3), int2(1, -1)) == float2(2, 1.5f)));
        CHECK(ilogb(12.0f) == 3 && ilogb(0.25h) == -2 && all(ilogb(float2(1, 1024)) == int2(0, 10)));
        CHECK(copysign(3.0f, -0.0f) == -3 && fdim(5.0f, 3.0f) == 2 && fdim(3.0f, 5.0f) == 0 && isnan(fdim(NAN, 1.0f)));
        CHECK(fmod(7.5f, 2.0f) == 1.5f && fmod(-7.5f, 2.0f) == -1.5f && divide(1.0f, 4.0f) == 0.25f);
        CHECK(nextafter(1.0f, 2.0f) == 1 + FLT_EPSILON && nextafter(1.0f, 0.0f) == 1 - FLT_EPSILON / 2 && nextafter(0.0f, -1.0f) == -0x1p-149f);
        CHECK(float(nextafter(1.0h, 2.0h)) == 1.0009765625f && float(nextafter(bfloat(1.0f), bfloat(0.0f))) == 0x1.fep-1f);
        CHECK(nextafter(FLT_MAX, INFINITY) == INFINITY && nextafter(-1.0f, -2.0f) < -1 && isnan(nextafter(NAN, 1.0f)));
        float cosine = 0;
        CHECK(sincos(0.5f, cosine) == sin(0.5f) && cosine == cos(0.5f));
        CHECK(sinpi(1.0f) == 0 && cospi(0.5f) == 0 && sinpi(0.5f) == 1 && cospi(1.0f) == -1 && tanpi(0.25f) == 1 && isnan(sinpi(INFINITY)));
        CHECK(exp(0.0f) == 1 && exp2(-3.0f) == 0.125f && exp2(10.0f) == 1024 && exp(-INFINITY) == 0 && isnan(exp(NAN)));
        CHECK(all(exp(float4(0, -INFINITY, INFINITY, 0)) == float4(1, 0, INFINITY, 1)) && isnan(powr(-1.0f, 2.0f)) && pow(-2.0f, 3.0f) == -8);
        CHECK(fma(0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f) == 0x1p-46f && all(fma(half2(2), half2(3), 1.0h) == 7.0h));
        CHECK(rsqrt(0.0f) == INFINITY && rsqrt(4.0f) == 0.5f && isnan(rsqrt(-1.0f)) && log(0.0f) == -INFINITY && isnan(sqrt(-1.0f)));
      }`);
    expect(failed).toEqual([]);
  });

  it("are computed in float and rounded once for half and bfloat", async () => {
    const failed = await failedChecks(`
      template <typename T> void sweep() {
        for (uint bits = 1; bits < 0x7c00u; bits += 13) {
          const T x = as_type<T>(ushort(bits));
          const float wide = float(x);
          if (failures > 5) return;
          CHECK(as_type<ushort>(exp(x)) == as_type<ushort>(T(exp(wide))) && as_type<ushort>(sqrt(x)) == as_type<ushort>(T(sqrt(wide))));
          CHECK(as_type<ushort>(tanh(x)) == as_type<ushort>(T(tanh(wide))) && as_type<ushort>(rsqrt(x)) == as_type<ushort>(T(rsqrt(wide))));
          CHECK(float(max(x, T(1.0f))) == max(wide, 1.0f) && float(floor(x)) == floor(wide));
        }
      }
      static_assert(is_same_v<decltype(exp(1.0h)), half> && is_same_v<decltype(exp(half4(1))), half4> && is_same_v<decltype(exp(1)), float>);
      static_assert(is_same_v<decltype(max(1.0h, 2.0f)), float> && is_same_v<decltype(max(half2(1), 2.0f)), half2>);
      void program() { sweep<half>(); sweep<bfloat>(); }`);
    expect(failed).toEqual([]);
  });

  it("answer to the names of Apple's compiler", async () => {
    const failed = await failedChecks(`
      void program() {
        int exponent = 0;
        CHECK(__metal_exp(0.0f, __METAL_MAYBE_FAST_MATH__) == 1 && __metal_fabs(-1.0f, 0) == 1 && __metal_fma(2.0f, 3.0f, 1.0f) == 7);
        CHECK(__metal_frexp(8.0f, &exponent) == 0.5f && exponent == 4 && __metal_ldexp(0.5f, 3, 0) == 4);
        CHECK(__metal_fmax3(1.0f, 2.0f, 3.0f, 1) == 3 && __metal_pow(2.0f, 3.0f, 0) == 8 && __metal_nextafter(0.0f, 1.0f) > 0);
      }`);
    expect(failed).toEqual([]);
  });
});

describe("relational functions", () => {
  it("classify values in the format of their type", async () => {
    const failed = await failedChecks(`
      void program() {
        CHECK(isnan(NAN) && !isnan(INFINITY) && isinf(-INFINITY) && !isinf(FLT_MAX) && isfinite(0.0f) && !isfinite(NAN));
        CHECK(isnormal(FLT_MIN) && !isnormal(0x1p-127f) && !isnormal(0.0f) && !isnormal(INFINITY) && !isnormal(NAN));
        CHECK(isnormal(half(0x1p-14f)) && !isnormal(half(0x1p-15f)) && isnormal(bfloat(0x1p-100f)));
        CHECK(signbit(-0.0f) && !signbit(1.0f) && signbit(half(-1)));
        CHECK(all(isnan(float4(NAN, 1, INFINITY, NAN)) == bool4(true, false, false, true)) && any(isinf(half2(1, INFINITY))));
        CHECK(isordered(1.0f, 2.0f) && isunordered(1.0f, NAN) && all(isunordered(float2(NAN, 1), 1.0f) == bool2(true, false)));
        CHECK(all(bool3(true)) && !all(bool2(true, false)) && any(bool2(false, true)) && !any(bool4(false)));
      }`);
    expect(failed).toEqual([]);
  });
});

describe("geometric functions", () => {
  it("compute in the element type", async () => {
    const failed = await failedChecks(`
      void program() {
        CHECK(dot(float3(1, 2, 3), float3(4, 5, 6)) == 32 && dot(half2(2048, 1), half2(1, 1)) == 2048.0h);
        CHECK(all(cross(float3(1, 0, 0), float3(0, 1, 0)) == float3(0, 0, 1)) && all(cross(float3(1, 2, 3), float3(4, 5, 6)) == float3(-3, 6, -3)));
        CHECK(length(float2(3, 4)) == 5 && length_squared(float2(3, 4)) == 25 && distance(float2(1, 1), float2(4, 5)) == 5);
        CHECK(distance_squared(float3(1, 2, 3), float3(1, 2, 5)) == 4 && length(half2(3, 4)) == 5.0h);
        CHECK(all(normalize(float2(0, 4)) == float2(0, 1)) && all(normalize(float3(0)) == 0));
        CHECK(all(reflect(float2(1, -1), float2(0, 1)) == float2(1, 1)));
        CHECK(all(refract(float2(0, -1), float2(0, 1), 0.5f) == float2(0, -1)) && all(refract(normalize(float2(1, -0.1f)), float2(0, 1), 2.0f) == 0));
        CHECK(all(faceforward(float2(0, 1), float2(0, 1), float2(0, 1)) == float2(0, -1)));
        CHECK(all(fast::normalize(float2(2, 0)) == float2(1, 0)) && fast::length(float2(0, 2)) == 2);
      }`);
    expect(failed).toEqual([]);
  });
});
