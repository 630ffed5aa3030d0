/** Address spaces as types, literals, traits, limits, and what the headers must not do. */
import { describe, expect, it } from "vitest";
import { diagnose, failedChecks } from "./language_program.ts";

describe("address spaces", () => {
  it("select overloads and specialisations, and structures are copied between them", async () => {
    const failed = await failedChecks(`
      float where(device const float *) { return 1; }
      float where(threadgroup const float *) { return 2; }
      float where(thread const float *) { return 3; }
      float where(constant float *) { return 4; }
      template <typename T> struct space;
      template <typename T> struct space<thread T *> { static constexpr int value = 0; };
      template <typename T> struct space<device T *> { static constexpr int value = 1; };
      template <typename T> struct space<threadgroup T *> { static constexpr int value = 2; };
      template <typename T> struct space<constant T *> { static constexpr int value = 3; };
      static_assert(space<float *>::value == 0 && space<device const half4 *>::value == 1);
      static_assert(space<threadgroup uint *>::value == 2 && space<constant float *>::value == 3);
      static_assert(is_same_v<remove_addrspace_t<device float>, float>);
      struct Item { float3 p; packed_float3 q; half h[3]; bool b; };
      constant float TABLE[4] = {1.5f, 2.5f, 3.5f, 4.5f};
      struct Reader {
        float v;
        float get() const LS_METHOD_device { return v + 1; }
        float get() const LS_METHOD_threadgroup { return v + 2; }
        float get() const LS_METHOD_thread { return v + 3; }
      };
      float sum(device float4 *a, threadgroup float4 *b, constant float4 &c) {
        a[1] = a[0] + b[0] * c;
        b[1].xy = a[1].yx;
        b[1].zw = c.wz;
        a[2][1] += 3;
        a[2].x *= 2;
        bool first = a[0].x == 1;
        float4 chosen = first ? lockstep::rvalue(a[0]) : lockstep::rvalue(float4(0));
        return dot(a[1], b[1]) + max(a[2], b[1]).y + chosen.x + fma(a[0], c, b[0]).w;
      }
      void program() {
        LS_STATIC_THREADGROUP static threadgroup float shared[4];
        float local[2] = {};
        float memory[4] = {};
        CHECK(where((device float *)memory) == 1 && where(shared) == 2 && where(local) == 3 && where(TABLE) == 4);
        Item item = {};
        item.p = float3(1, 2, 3);
        device Item *items = (device Item *)&item;
        threadgroup Item *staged = (threadgroup Item *)&item;
        Item copy = items[0];
        items[0] = copy;
        *staged = copy;
        copy = *(constant Item *)&item;
        CHECK(all(copy.p == float3(1, 2, 3)));
        float4 a[3] = {float4(1, 2, 3, 4), float4(0), float4(1)}, b[2] = {float4(1), float4(0)}, c = float4(2);
        CHECK(sum((device float4 *)a, (threadgroup float4 *)b, *(constant float4 *)&c) == 60.0f);
        CHECK(all(a[2] == float4(2, 4, 1, 1)));
        Reader reader = {1};
        CHECK(reader.get() == 4);
      }`);
    expect(failed).toEqual([]);
  });

  it("are not mixed silently", async () => {
    expect((await diagnose("void f(device float *p, threadgroup float *q) { p = q; }")).status).not.toBe(0);
  });

  it("reads and writes of one component leave the others alone", async () => {
    const failed = await failedChecks(`
      void put(volatile int, device float4 *p) { p->y = 2; p->zw = float2(3, 4); }
      void program() {
        float4 guarded[2] = {float4(NAN), float4(7)};
        put(0, (device float4 *)guarded);
        CHECK(isnan(guarded[0].x) && all(guarded[0].yzw == float3(2, 3, 4)) && all(guarded[1] == 7));
      }`);
    expect(failed).toEqual([]);
  });
});

describe("scalars", () => {
  it("have the literals, limits and traits of MSL", async () => {
    const failed = await failedChecks(`
      static_assert(is_same_v<decltype(1.5), float> && is_same_v<decltype(1.5h), half>);
      static_assert(is_same_v<decltype(1.5_bf), bfloat> && is_same_v<decltype(half(1) * 2), half>);
      static_assert(is_same_v<decltype(half(1) + 1.0f), float> && is_same_v<decltype(max(short(1), short(2))), short>);
      static_assert(is_floating_point_v<half> && is_floating_point_v<bfloat> && is_arithmetic_v<uchar>);
      static_assert(!is_integral_v<half> && is_signed_v<char> && is_unsigned_v<bool> && is_same_v<conditional_t<false, int, half>, half>);
      static_assert(is_same_v<common_type_t<short, short>, short> && is_same_v<make_unsigned_t<long>, ulong>);
      static_assert(is_same_v<remove_cv_t<const volatile float>, float> && is_same_v<remove_reference_t<float &>, float>);
      static_assert(integral_constant<int, 3>{} + bool_constant<true>::value == 4 && _disjunction<false_type, true_type>::value);
      static_assert(make_index_sequence<4>::size() == 4 && is_convertible_v<float, float4> && !is_convertible_v<half4, float4>);
      template <typename L> constexpr bool order() { return L::lowest() < L::min() && L::min() < L::max(); }
      static_assert(order<numeric_limits<float>>() && order<numeric_limits<half>>() && order<numeric_limits<bfloat>>());
      static_assert(numeric_limits<float>::max() == FLT_MAX && numeric_limits<float>::min() == FLT_MIN);
      static_assert(numeric_limits<float>::epsilon() == FLT_EPSILON && numeric_limits<float>::denorm_min() > 0);
      static_assert(float(numeric_limits<half>::max()) == 65504.0f && numeric_limits<half>::lowest() == -MAXHALF);
      static_assert(numeric_limits<half>::min() == HALF_MIN && numeric_limits<half>::epsilon() == HALF_EPSILON);
      static_assert(float(numeric_limits<bfloat>::max()) == 0x1.fep127f && float(numeric_limits<bfloat>::epsilon()) == 0x1p-7f);
      static_assert(numeric_limits<int>::max() == INT_MAX && numeric_limits<int>::lowest() == INT_MIN);
      static_assert(numeric_limits<char>::min() == -128 && numeric_limits<ushort>::max() == 65535);
      static_assert(numeric_limits<long>::min() == LONG_MIN && numeric_limits<ulong>::max() == ULONG_MAX);
      static_assert(numeric_limits<float>::digits10 == 6 && numeric_limits<half>::digits10 == 3 && numeric_limits<int>::digits10 == 9);
      static_assert(numeric_limits<float>::min_exponent == -125 && numeric_limits<float>::max_digits10 == 9);
      constant constexpr int SMALLER = min(3, 4) + clamp(7, 0, 2) + abs(-1);
      static_assert(SMALLER == 6);
      void program() {
        CHECK(isinf(numeric_limits<half>::infinity()) && isnan(numeric_limits<bfloat>::quiet_NaN()));
        CHECK(INFINITY > FLT_MAX && NAN != NAN && M_PI_F > 3.14159f && float(M_PI_H) == 3.140625f);
        CHECK(as_type<uint>(1.0f) == 0x3f800000u && as_type<half2>(0x3c004000u).x == 2.0h);
        CHECK(as_type<uchar4>(0x04030201u).w == 4 && as_type<ushort>(1.0_bf) == 0x3f80);
        uniform<int> shared = make_uniform(7) * make_uniform(6);
        CHECK(shared == 42 && shared + 1 == 43 && shared / make_uniform(4) == 10 && all(simd::float2(1) == simd_float2(vector_float2(1))));
        CHECK(char(-1) < 0 && sizeof(long) == 8 && sizeof(bool) == 1 && float(0x1p-1) == 0.5f);
      }`);
    expect(failed).toEqual([]);
  });
});

describe("the headers", () => {
  it("compile without a warning", async () => {
    const result = await diagnose("void program() {}", {
      extra: ["-Wall", "-Wextra", "-Wno-unknown-attributes"],
    });
    expect(result.stderr).toBe("");
  });

  it("compile as an instrumented flavour", async () => {
    const result = await diagnose("float f(device float4 *p) { return exp(p[0]).x; }", { flavour: "lockstep" });
    expect(result.stderr).toBe("");
  });

  it.each([
    ["-fno-signed-char", "-fsigned-char"],
    ["-m32", "64-bit"],
  ])("refuse %s and name the mend", async (flag, mend) => {
    const result = await diagnose("", { extra: [flag] });
    expect(result.status).not.toBe(0);
    expect(result.stderr).toContain(mend);
  });
});
