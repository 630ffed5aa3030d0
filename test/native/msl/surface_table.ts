/**
 * Every function, constant and type of the standard library that a kernel can use, by the specification's section (version
 * 4, 2025-10-23), with an expression that must hold on each of 32 lanes. Where a row has several names, all stand in it.
 */

export interface SurfaceGroup {
  readonly section: string;
  readonly title: string;
  /** Statements before the expressions. */
  readonly setUp?: string;
  readonly rows: readonly (readonly [names: string, expression: string])[];
}

const INTEGERS = ["char", "uchar", "short", "ushort", "int", "uint"] as const;
const REALS = ["half", "bfloat", "float"] as const;
const WIDTHS = ["", "2", "3", "4"] as const;

/**
 * `expression` with `T` and its element type `E` filled in, for every third element type. Types and widths go round: from
 * function to function every type and every width has its turn (all combinations take minutes to compile).
 */
function forTypes(elements: readonly string[], name: string, expression: string): readonly [string, string][] {
  const turn = name.length + expression.length;
  return elements.flatMap((element, i): [string, string][] => {
    if ((i + turn) % 3 !== 0) return [];
    const width = WIDTHS[(i + name.length) % WIDTHS.length] ?? "";
    return [[name, expression.replace(/\bT\b/g, `${element}${width}`).replace(/\bE\b/g, element)]];
  });
}

function permutations(
  prefix: string,
  lanes: number,
  elements: readonly string[],
): readonly (readonly [string, string])[] {
  const last = lanes - 1;
  const lane = prefix === "simd" ? "lane" : "(lane & 3)";
  const row = (name: string, call: string, from: string): readonly [string, string][] =>
    forTypes(elements, `${prefix}_${name}`, `all(${prefix}_${name}${call} == T(E(${from})))`);
  return [
    ...row("broadcast", `(T(E(${lane})), 2)`, "2"),
    ...row("broadcast_first", `(T(E(${lane})))`, "0"),
    ...row("shuffle", `(T(E(${lane})), ushort(${last} - ${lane}))`, `${last} - ${lane}`),
    ...row("shuffle_xor", `(T(E(${lane})), 1)`, `${lane} ^ 1`),
    ...row("shuffle_up", `(T(E(${lane})), 1)`, `${lane} == 0 ? 0 : ${lane} - 1`),
    ...row("shuffle_down", `(T(E(${lane})), 1)`, `${lane} == ${last} ? ${last} : ${lane} + 1`),
    ...row("shuffle_rotate_up", `(T(E(${lane})), 1)`, `(${lane} + ${last}) % ${lanes}`),
    ...row("shuffle_rotate_down", `(T(E(${lane})), 1)`, `(${lane} + 1) % ${lanes}`),
    ...row("shuffle_and_fill_up", `(T(E(${lane})), T(E(40)), 1)`, `${lane} == 0 ? 40 : ${lane} - 1`),
    ...row("shuffle_and_fill_down", `(T(E(${lane})), T(E(40)), 1)`, `${lane} == ${last} ? 40 : ${lane} + 1`),
    ...row("shuffle_and_fill_up", `(T(E(${lane})), T(E(40)), 1, 2)`, `${lane} % 2 == 0 ? 40 : ${lane} - 1`),
    ...row("shuffle_and_fill_down", `(T(E(${lane})), T(E(40)), 1, 2)`, `${lane} % 2 == 1 ? 40 : ${lane} + 1`),
  ];
}

function reductions(
  prefix: string,
  lanes: number,
  integers: readonly string[],
): readonly (readonly [string, string])[] {
  const lane = prefix === "simd" ? "lane" : "(lane & 3)";
  const all = [...integers, ...REALS];
  const row = (
    elements: readonly string[],
    name: string,
    argument: string,
    result: string,
  ): readonly [string, string][] =>
    forTypes(elements, `${prefix}_${name}`, `all(${prefix}_${name}(T(E(${argument}))) == T(E(${result})))`);
  return [
    ...row(all, "sum", "1", String(lanes)),
    ...row(all, "product", `${lane} == 1 ? 3 : 1`, "3"),
    ...row(all, "min", `${lane} + 2`, "2"),
    ...row(all, "max", lane, String(lanes - 1)),
    ...row(all, "prefix_inclusive_sum", "1", `${lane} + 1`),
    ...row(all, "prefix_exclusive_sum", "1", lane),
    ...row(all, "prefix_inclusive_product", `${lane} == 1 ? 3 : 1`, `${lane} >= 1 ? 3 : 1`),
    ...row(all, "prefix_exclusive_product", `${lane} == 1 ? 3 : 1`, `${lane} > 1 ? 3 : 1`),
    ...row(integers, "and", `${lane} | 64`, "64"),
    ...row(integers, "or", lane, String(lanes - 1)),
    ...row(integers, "xor", `${lane} == 2 ? 5 : 0`, "5"),
  ];
}

/** One call for each name of a list; `X` in the expression is the name. */
function each(names: string, expression: string): readonly [string, string][] {
  return names.split(" ").map((name) => [name, expression.replaceAll("X", name)]);
}

const NEAR = "fabs(float(X(half(0.5h))) - float(X(0.5f))) < 0.01f && all(X(float3(0.5f)) == X(0.5f))";

export const SURFACE: readonly SurfaceGroup[] = [
  {
    section: "2.1",
    title: "Scalar types and literals",
    rows: [
      ["bool", "sizeof(bool) == 1"],
      [
        "char int8_t uchar uint8_t",
        "sizeof(char) == 1 && sizeof(int8_t) == 1 && sizeof(uchar) == 1 && uint8_t(255) == 255",
      ],
      [
        "short int16_t ushort uint16_t",
        "sizeof(short) == 2 && sizeof(int16_t) == 2 && sizeof(ushort) == 2 && uint16_t(65535) == 65535",
      ],
      [
        "int int32_t uint uint32_t",
        "sizeof(int) == 4 && sizeof(int32_t) == 4 && sizeof(uint) == 4 && uint32_t(1) == 1u",
      ],
      [
        "long int64_t ulong uint64_t",
        "sizeof(long) == 8 && sizeof(int64_t) == 8 && sizeof(ulong) == 8 && uint64_t(1) == 1ul",
      ],
      ["half bfloat float", "sizeof(half) == 2 && sizeof(bfloat) == 2 && sizeof(float) == 4"],
      ["size_t ptrdiff_t", "sizeof(size_t) == 8 && sizeof(ptrdiff_t) == 8 && ptrdiff_t(-1) < 0"],
      ["literals", "0.5h + 0.5H == 1.0h && 0.5bf + 0.5BF == bfloat(1) && 1.5f == 1.5F && sizeof(1.5) == 4"],
    ],
  },
  {
    section: "2.2",
    title: "Vectors and packed vectors",
    rows: [
      ...[
        "bool",
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "half",
        "bfloat",
        "float",
      ].flatMap((element) =>
        ["2", "3", "4"].map((n): [string, string] => [
          `${element}${n}`,
          `${element}${n}(${element}(1))[${Number(n) - 1}] == ${element}(1) && is_same_v<${element}${n}, vec<${element}, ${n}>>`,
        ]),
      ),
      ...["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "bfloat", "float"].flatMap(
        (element) =>
          ["2", "3", "4"].map((n): [string, string] => [
            `packed_${element}${n}`,
            `sizeof(packed_${element}${n}) == ${n} * sizeof(${element}) && packed_${element}${n}(${element}(2))[1] == ${element}(2)`,
          ]),
      ),
      ["swizzles", "all(float4(1, 2, 3, 4).wzyx == float4(4, 3, 2, 1)) && float4(1, 2, 3, 4).rgb.b == 3"],
    ],
  },
  {
    section: "2.3, 3.2, 6.6",
    title: "Matrices",
    setUp: `const float2x2 m2(1, 2, 3, 4); const float3x3 m3(2, 0, 0, 0, 3, 0, 1, 0, 4); const float4x4 m4(2.0f);`,
    rows: [
      ...["float", "half", "bfloat"].flatMap((element) =>
        ["2x2", "2x3", "2x4", "3x2", "3x3", "3x4", "4x2", "4x3", "4x4"].map((n): [string, string] => {
          const [c, r] = n.split("x");
          return [
            `${element}${n}`,
            `${element}${n}(${element}(1))[1][1] == ${element}(1) && is_same_v<${element}${n}, matrix<${element}, ${c}, ${r}>> && transpose(${element}${n}(${element}(1)))[0][0] == ${element}(1)`,
          ];
        }),
      ),
      [
        "determinant",
        "determinant(m2) == -2 && determinant(m3) == 24 && determinant(m4) == 16 && determinant(half2x2(1, 2, 3, 4)) == -2.0h",
      ],
      ["transpose", "transpose(m2)[0][1] == 3 && transpose(float2x3(1))[2][0] == 0"],
      [
        "+ - * unary-",
        "(m2 + m2)[1][1] == 8 && (m2 - m2)[0][0] == 0 && (-m2)[0][0] == -1 && (m2 * 2)[1][0] == 6 && (2 * m2)[0][0] == 2",
      ],
      ["matrix x vector", "all(m2 * float2(1, 1) == float2(4, 6)) && all(float2(1, 1) * m2 == float2(3, 7))"],
      ["matrix x matrix", "all((m2 * m2)[0] == float2(7, 10)) && (float2x3(1) * float4x2(1))[1][1] == 1"],
      ["== !=", "m2 == m2 && m2 != m2 * 2"],
    ],
  },
  {
    section: "2.6, 6.15",
    title: "Atomics on device and threadgroup memory, fences",
    setUp: `
      threadgroup atomic_int ti; threadgroup atomic_uint tu; threadgroup atomic_bool tb; threadgroup atomic_float tf; threadgroup atomic_ulong tl;
      device atomic_int* di = (device atomic_int*)(scratch); device atomic_uint* du = (device atomic_uint*)(scratch + 1);
      device atomic_float* df = (device atomic_float*)(scratch + 2); device atomic_ulong* dl = (device atomic_ulong*)(scratch + 4);
      device atomic_bool* db = (device atomic_bool*)(scratch + 6);
      atomic_store_explicit(&ti, 5, memory_order_relaxed); atomic_store_explicit(&tu, 5u, memory_order_relaxed);
      atomic_store_explicit(&tb, true, memory_order_relaxed); atomic_store_explicit(&tf, 5.0f, memory_order_relaxed);
      atomic_store_explicit(&tl, 5ul, memory_order_relaxed);
      atomic_store_explicit(di, 5, memory_order_relaxed); atomic_store_explicit(du, 5u, memory_order_relaxed);
      atomic_store_explicit(df, 5.0f, memory_order_relaxed); atomic_store_explicit(dl, 5ul, memory_order_relaxed);
      atomic_store_explicit(db, true, memory_order_relaxed);
      int wanted = 5;
      threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);`,
    rows: [
      [
        "atomic_load_explicit",
        "atomic_load_explicit(&ti, memory_order_relaxed) == 5 && atomic_load_explicit(di, memory_order_relaxed) == 5",
      ],
      ["atomic<T>", "is_same_v<atomic_int, atomic<int>> && is_same_v<atomic_ulong, atomic<ulong>>"],
      [
        "atomic_bool",
        "atomic_load_explicit(&tb, memory_order_relaxed) && atomic_exchange_explicit(db, true, memory_order_relaxed)",
      ],
      [
        "atomic_float",
        "atomic_load_explicit(&tf, memory_order_relaxed) == 5 && atomic_fetch_add_explicit(df, 0.0f, memory_order_relaxed) == 5 && atomic_fetch_sub_explicit(df, 0.0f, memory_order_relaxed) == 5",
      ],
      [
        "atomic_exchange_explicit",
        "atomic_exchange_explicit(&ti, 5, memory_order_relaxed) == 5 && atomic_exchange_explicit(df, 5.0f, memory_order_relaxed) == 5",
      ],
      [
        "atomic_compare_exchange_weak_explicit",
        "atomic_compare_exchange_weak_explicit(&ti, &wanted, 5, memory_order_relaxed, memory_order_relaxed) && atomic_compare_exchange_weak_explicit(di, &wanted, 5, memory_order_relaxed, memory_order_relaxed)",
      ],
      [
        "atomic_fetch_add_explicit",
        "atomic_fetch_add_explicit(&ti, 0, memory_order_relaxed) == 5 && atomic_fetch_add_explicit(du, 0u, memory_order_relaxed) == 5",
      ],
      [
        "atomic_fetch_sub_explicit",
        "atomic_fetch_sub_explicit(&tu, 0u, memory_order_relaxed) == 5 && atomic_fetch_sub_explicit(di, 0, memory_order_relaxed) == 5",
      ],
      [
        "atomic_fetch_and_explicit",
        "atomic_fetch_and_explicit(&ti, 7, memory_order_relaxed) == 5 && atomic_fetch_and_explicit(du, 7u, memory_order_relaxed) == 5",
      ],
      [
        "atomic_fetch_or_explicit",
        "atomic_fetch_or_explicit(&tu, 5u, memory_order_relaxed) == 5 && atomic_fetch_or_explicit(di, 5, memory_order_relaxed) == 5",
      ],
      [
        "atomic_fetch_xor_explicit",
        "atomic_fetch_xor_explicit(&ti, 0, memory_order_relaxed) == 5 && atomic_fetch_xor_explicit(du, 0u, memory_order_relaxed) == 5",
      ],
      [
        "atomic_fetch_max_explicit",
        "atomic_fetch_max_explicit(&ti, -1, memory_order_relaxed) == 5 && atomic_fetch_max_explicit(du, 1u, memory_order_relaxed) == 5",
      ],
      [
        "atomic_fetch_min_explicit",
        "atomic_fetch_min_explicit(&tu, 9u, memory_order_relaxed) == 5 && atomic_fetch_min_explicit(di, 9, memory_order_relaxed) == 5",
      ],
      [
        "atomic_max_explicit atomic_min_explicit",
        "(atomic_max_explicit(dl, 1ul, memory_order_relaxed), atomic_min_explicit(dl, 9ul, memory_order_relaxed), atomic_load_explicit(dl, memory_order_relaxed) == 5ul)",
      ],
      [
        "atomic_thread_fence",
        "(atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst), atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_relaxed, thread_scope_simdgroup), true)",
      ],
      [
        "thread_scope_thread thread_scope_threadgroup thread_scope_device",
        "thread_scope_thread != thread_scope_threadgroup && thread_scope_device != thread_scope_simdgroup",
      ],
    ],
  },
  {
    section: "2.14, 2.22",
    title: "Uniform values, reinterpretation, traits, arrays",
    setUp: "array<int, 3> list = {1, 2, 3};",
    rows: [
      [
        "uniform make_uniform",
        "make_uniform(3) + make_uniform(4) == 7 && is_same_v<decltype(make_uniform(1u)), uniform<uint>>",
      ],
      [
        "as_type",
        "as_type<uint>(1.0f) == 0x3f800000u && as_type<half2>(as_type<uint>(half2(1, 2))).y == 2.0h && as_type<ushort>(1.0bf) == 0x3f80",
      ],
      [
        "array",
        "list.size() == 3 && list[1] == 2 && *list.begin() == 1 && *(list.end() - 1) == 3 && list.data()[2] == 3 && !list.empty()",
      ],
      [
        "numeric_limits",
        "numeric_limits<float>::max() == FLT_MAX && numeric_limits<half>::infinity() > 65504.0h && numeric_limits<bfloat>::epsilon() == 0x1p-7bf && numeric_limits<int>::min() == INT_MIN && numeric_limits<uchar>::max() == 255 && numeric_limits<long>::digits == 63",
      ],
      [
        "type traits",
        "is_integral_v<uint> && is_floating_point_v<half> && is_same_v<remove_cv_t<const int>, int> && is_unsigned_v<uchar> && is_same_v<conditional_t<true, int, float>, int> && is_same_v<enable_if_t<true, int>, int> && is_convertible_v<int, float> && is_pointer_v<device int*>",
      ],
    ],
  },
  {
    section: "6.2",
    title: "Common functions",
    rows: [
      ["clamp", "clamp(3.0f, 0.0f, 1.0f) == 1 && all(clamp(half3(-1), 0.0h, 1.0h) == 0.0h) && clamp(-4, -2, 3) == -2"],
      ["mix", "mix(0.0f, 4.0f, 0.25f) == 1 && all(mix(half2(0), half2(4), 0.5h) == 2.0h)"],
      ["saturate", "saturate(2.0f) == 1 && all(saturate(float2(-1)) == 0) && saturate(0.5h) == 0.5h"],
      ["sign", "sign(-3.0f) == -1 && all(sign(half2(2)) == 1.0h) && sign(0.0f) == 0"],
      ["smoothstep", "smoothstep(0.0f, 2.0f, 1.0f) == 0.5f && all(smoothstep(half2(0), half2(2), half2(2)) == 1.0h)"],
      ["step", "step(1.0f, 2.0f) == 1 && all(step(half2(3), half2(2)) == 0.0h)"],
    ],
  },
  {
    section: "6.3",
    title: "Integer functions",
    rows: [
      ["abs", "abs(-3) == 3 && all(abs(short3(-2)) == short(2)) && abs(-5l) == 5l"],
      ["absdiff", "absdiff(-3, 4) == 7u && absdiff(uchar(3), uchar(9)) == 6"],
      [
        "addsat subsat",
        "addsat(uchar(200), uchar(100)) == 255 && subsat(INT_MIN, 1) == INT_MIN && all(addsat(char2(100), char2(100)) == char(127))",
      ],
      ["clamp", "all(clamp(uint2(9), 2u, 5u) == 5u)"],
      ["clz ctz", "clz(1u) == 31 && ctz(8u) == 3 && clz(ushort(1)) == 15 && clz(0ul) == 64 && ctz(0) == 32"],
      [
        "extract_bits insert_bits",
        "extract_bits(0xabcdu, 4, 8) == 0xbcu && extract_bits(-1, 3, 4) == -1 && insert_bits(0u, 0xfu, 4, 4) == 0xf0u",
      ],
      ["hadd rhadd", "hadd(INT_MAX, INT_MAX) == INT_MAX && rhadd(3u, 4u) == 4u"],
      ["mad24 mul24", "mul24(1000, 1000) == 1000000 && mad24(3u, 4u, 5u) == 17u"],
      ["madhi mulhi", "mulhi(0x80000000u, 4u) == 2u && madhi(0x80000000u, 4u, 3u) == 5u && mulhi(1l << 62, 8l) == 2l"],
      ["madsat", "madsat(INT_MAX, 2, 0) == INT_MAX && madsat(2u, 3u, 4u) == 10u"],
      ["max min", "max(3, 4) == 4 && all(min(uint2(3), uint2(4)) == 3u)"],
      ["max3 median3 min3", "max3(1, 3, 2) == 3 && median3(1u, 3u, 2u) == 2u && min3(1, 3, 2) == 1"],
      [
        "popcount reverse_bits rotate",
        "popcount(0xffu) == 8 && reverse_bits(1u) == 0x80000000u && rotate(0x80000001u, 1u) == 3u && popcount(uchar(3)) == 2",
      ],
    ],
  },
  {
    section: "6.4",
    title: "Relational functions",
    rows: [
      ["all any", "all(bool4(true)) && !all(bool2(true, false)) && any(bool3(false, true, false))"],
      [
        "isfinite isinf isnan isnormal",
        "isfinite(1.0f) && isinf(half(INFINITY)) && all(isnan(float2(NAN))) && !isnormal(0x1p-140f) && isnormal(1.0bf)",
      ],
      [
        "isordered isunordered",
        "isordered(1.0f, 2.0f) && isunordered(1.0h, half(NAN)) && all(isordered(float2(1), float2(2)))",
      ],
      ["not", "not(false) && all(not(bool2(false)))"],
      [
        "select",
        "select(1, 2, true) == 2 && all(select(float2(1), float2(2), bool2(false, true)) == float2(1, 2)) && select(bfloat(1), bfloat(2), true) == bfloat(2)",
      ],
      ["signbit", "signbit(-0.0f) && !signbit(1.0h) && all(signbit(float2(-1)))"],
    ],
  },
  {
    section: "6.5",
    title: "Math functions",
    setUp: "int e; float c, w; half hc; float2 w2;",
    rows: [
      ...each(
        "acos acosh asin asinh atan atanh ceil cos cosh cospi exp exp2 exp10 fabs floor fract log log2 log10 rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi trunc",
        `X(0.5f) == X(0.5f) || isnan(X(0.5f)) || (${NEAR})`,
      ),
      ...each(
        "acos asin asinh atan atanh ceil cos cosh cospi exp exp2 exp10 fabs floor fract log log2 log10 rint rsqrt sin sinh sinpi sqrt tan tanh trunc",
        NEAR,
      ),
      ...each(
        "acos asin atan atanh cos cosh exp exp2 exp10 log log2 log10 rsqrt sin sinh sqrt tan tanh",
        "all(fast::X(float2(0.5f)) == fast::X(0.5f)) && fabs(fast::X(0.5f) - precise::X(0.5f)) < 1e-5f",
      ),
      ...each("ceil cos exp floor log sin sqrt tanh", "fabs(float(X(bfloat(0.5f))) - X(0.5f)) < 0.01f"),
      [
        "atan2 copysign divide fdim fmod",
        "atan2(0.0f, 1.0f) == 0 && copysign(1.0h, -2.0h) == -1.0h && divide(1.0f, 4.0f) == 0.25f && fdim(3.0f, 1.0f) == 2 && all(fmod(float2(7), float2(4)) == 3)",
      ],
      [
        "fmax fmin max min",
        "fmax(1.0f, NAN) == 1 && all(fmin(half2(1), half2(2)) == 1.0h) && max(1.0bf, 2.0bf) == 2.0bf && min(float3(1), float3(2)).z == 1",
      ],
      [
        "fmax3 fmin3 fmedian3 max3 min3 median3",
        "fmax3(1.0f, 2.0f, 3.0f) == 3 && fmin3(1.0h, 2.0h, 3.0h) == 1.0h && fmedian3(1.0f, 3.0f, 2.0f) == 2 && max3(1.0f, 2.0f, 3.0f) == 3 && min3(1.0f, 2.0f, 3.0f) == 1 && median3(3.0h, 1.0h, 2.0h) == 2.0h",
      ],
      [
        "fma",
        "fma(2.0f, 3.0f, 1.0f) == 7 && all(fma(half2(2), half2(3), half2(1)) == 7.0h) && fma(2.0bf, 3.0bf, 1.0bf) == 7.0bf",
      ],
      [
        "frexp ilogb ldexp",
        "frexp(12.0f, e) == 0.75f && e == 4 && ilogb(12.0f) == 3 && ldexp(0.75f, 4) == 12 && ldexp(0.75h, 4) == 12.0h && all(ldexp(float2(1), int2(1)) == 2)",
      ],
      [
        "modf sincos",
        "modf(2.5f, w) == 0.5f && w == 2 && sincos(0.0f, c) == 0 && c == 1 && sincos(0.0h, hc) == 0.0h && hc == 1.0h && all(modf(float2(1.5f), w2) == 0.5f)",
      ],
      [
        "nextafter",
        "nextafter(1.0f, 2.0f) > 1 && nextafter(1.0h, 0.0h) < 1.0h && nextafter(bfloat(1), bfloat(2)) > bfloat(1)",
      ],
      ["pow powr", "pow(2.0f, 3.0f) == 8 && powr(2.0f, 3.0f) == 8 && all(pow(half2(2), half2(3)) == 8.0h)"],
      [
        "constants of float",
        "M_E_F > 2.7f && M_LOG2E_F > 1.4f && M_LOG10E_F > 0.4f && M_LN2_F > 0.6f && M_LN10_F > 2.3f && M_PI_F > 3.1f && M_PI_2_F > 1.5f && M_PI_4_F > 0.7f && M_1_PI_F > 0.3f && M_2_PI_F > 0.6f && M_2_SQRTPI_F > 1.1f && M_SQRT2_F > 1.4f && M_SQRT1_2_F > 0.7f && MAXFLOAT == FLT_MAX && isinf(HUGE_VALF) && isinf(INFINITY) && isnan(NAN)",
      ],
      ...["H", "BF"].map((suffix): [string, string] => [
        `constants of ${suffix === "H" ? "half" : "bfloat"}`,
        ["E", "LOG2E", "LOG10E", "LN2", "LN10", "PI", "PI_2", "PI_4", "1_PI", "2_PI", "2_SQRTPI", "SQRT2", "SQRT1_2"]
          .map((name) => `fabs(float(M_${name}_${suffix}) - M_${name}_F) < 0.01f`)
          .concat(
            suffix === "H" ? ["MAXHALF == 65504.0h", "isinf(HUGE_VALH)"] : ["isfinite(MAXBFLOAT)", "isinf(HUGE_VALBF)"],
          )
          .join(" && "),
      ]),
      [
        "limits as macros",
        "FLT_MAX > 1e38f && FLT_MIN < 1e-37f && FLT_EPSILON < 1e-6f && FLT_DIG == 6 && FLT_MANT_DIG == 24 && HALF_MAX == 65504.0h && HALF_DIG == 3 && HALF_MANT_DIG == 11 && CHAR_BIT == 8 && SCHAR_MIN == -128 && UCHAR_MAX == 255 && SHRT_MAX == 32767 && USHRT_MAX == 65535 && INT_MAX > 0 && UINT_MAX == 0xffffffffu && LONG_MIN < 0 && ULONG_MAX > 0",
      ],
    ],
  },
  {
    section: "6.8",
    title: "Geometric functions",
    rows: [
      [
        "cross",
        "all(cross(float3(1, 0, 0), float3(0, 1, 0)) == float3(0, 0, 1)) && cross(half3(1, 0, 0), half3(0, 1, 0)).z == 1.0h",
      ],
      [
        "distance distance_squared",
        "distance(float2(0), float2(3, 4)) == 5 && distance_squared(half2(0), half2(3, 4)) == 25.0h",
      ],
      [
        "dot length length_squared",
        "dot(float4(1), float4(2)) == 8 && length(float2(3, 4)) == 5 && length_squared(half2(3, 4)) == 25.0h",
      ],
      ["faceforward", "all(faceforward(float2(1), float2(-1), float2(1)) == 1)"],
      ["normalize", "all(normalize(float2(0, 4)) == float2(0, 1)) && normalize(half2(0, 4)).y == 1.0h"],
      [
        "reflect refract",
        "all(reflect(float2(1, -1), float2(0, 2)) == float2(1, 1)) && all(refract(float2(0, -1), float2(0, 1), 1.0f) == float2(0, -1))",
      ],
      [
        "fast:: precise::",
        "fast::distance(float2(0), float2(3, 4)) == 5 && precise::length(float2(3, 4)) == 5 && all(fast::normalize(float2(0, 2)) == float2(0, 1)) && precise::clamp(3.0f, 0.0f, 1.0f) == 1 && fast::saturate(3.0f) == 1",
      ],
    ],
  },
  {
    section: "6.9.1",
    title: "Barriers",
    rows: [
      [
        "threadgroup_barrier",
        "(threadgroup_barrier(mem_flags::mem_none), threadgroup_barrier(mem_flags::mem_threadgroup), threadgroup_barrier(mem_flags::mem_device), true)",
      ],
      [
        "simdgroup_barrier",
        "(simdgroup_barrier(mem_flags::mem_none), simdgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device), true)",
      ],
      [
        "mem_texture mem_threadgroup_imageblock mem_object_data",
        "(threadgroup_barrier(mem_flags::mem_texture), (mem_flags::mem_threadgroup_imageblock & mem_flags::mem_object_data) == mem_flags::mem_none)",
      ],
    ],
  },
  {
    section: "6.9.2",
    title: "Simdgroup functions: votes",
    rows: [
      [
        "simd_active_threads_mask",
        "(simd_vote::vote_t)simd_active_threads_mask() == 0xffffffffu && simd_active_threads_mask().all()",
      ],
      [
        "simd_all simd_any",
        "simd_all(lane < 32) && !simd_all(lane == 0) && simd_any(lane == 3) && !simd_any(lane > 31)",
      ],
      [
        "simd_ballot",
        "(ulong)simd_ballot(lane < 4) == 0xful && simd_ballot(lane == 1).any() && simd_vote(0xffffffff).all()",
      ],
      ["simd_is_first simd_is_helper_thread", "simd_is_first() == (lane == 0) && !simd_is_helper_thread()"],
    ],
  },
  {
    section: "6.9.2",
    title: "Simdgroup functions: permutations",
    rows: permutations("simd", 32, [...INTEGERS, ...REALS]),
  },
  { section: "6.9.2", title: "Simdgroup functions: reductions and scans", rows: reductions("simd", 32, INTEGERS) },
  {
    section: "6.9.3",
    title: "Quadgroup functions: votes",
    rows: [
      [
        "quad_active_threads_mask",
        "(quad_vote::vote_t)quad_active_threads_mask() == 0xfu && quad_active_threads_mask().all()",
      ],
      ["quad_all quad_any", "quad_all(lane < 32) && !quad_all((lane & 3) == 0) && quad_any((lane & 3) == 2)"],
      [
        "quad_ballot",
        "(uint)quad_ballot((lane & 3) < 2) == 3u && quad_ballot(true).any() && (uint)quad_vote(0xffu) == 0xfu",
      ],
      ["quad_is_first quad_is_helper_thread", "quad_is_first() == ((lane & 3) == 0) && !quad_is_helper_thread()"],
    ],
  },
  {
    section: "6.9.3",
    title: "Quadgroup functions: permutations",
    rows: permutations("quad", 4, [...INTEGERS, "long", "ulong", ...REALS]),
  },
  {
    section: "6.9.3",
    title: "Quadgroup functions: reductions and scans",
    rows: reductions("quad", 4, [...INTEGERS, "long", "ulong"]),
  },
  {
    section: "2.4, 6.7",
    title: "Simdgroup matrices",
    setUp: `
      threadgroup float tile[256]; threadgroup half halves[64]; threadgroup bfloat brains[64];
      for (uint i = lane; i < 256; i += 32) tile[i] = i;
      for (uint i = lane; i < 64; i += 32) { halves[i] = half(i % 8 == i / 8 ? 2 : 0); brains[i] = bfloat(i % 8 == i / 8 ? 2 : 0); }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      device float* out8 = (device float*)scratch + 16;
      const uint row = ((lane & 6) >> 1) + ((lane & 16) >> 2), column = ((lane & 1) << 1) + ((lane & 8) >> 1);
      simdgroup_float8x8 a, b, c, d; simdgroup_half8x8 h, hd; simdgroup_bfloat8x8 bf;
      simdgroup_load(a, tile, 16, ulong2(4, 2)); simdgroup_load(b, tile, 16, ulong2(4, 2), true);
      simdgroup_load(h, halves); simdgroup_load(bf, brains, 8);
      simdgroup_store(a, out8, 8); simdgroup_load(c, out8, 8);
      const float first = c.thread_elements()[0];`,
    rows: [
      ["simdgroup_load elements_per_row matrix_origin", "a.thread_elements()[0] == 16.0f * (row + 2) + column + 4"],
      ["simdgroup_load transpose_matrix", "b.thread_elements()[1] == 16.0f * (column + 3) + row + 4"],
      ["simdgroup_store simdgroup_load device", "first == a.thread_elements()[0]"],
      ["make_filled_simdgroup_matrix", "make_filled_simdgroup_matrix<float, 8, 8>(3.0f).thread_elements()[1] == 3"],
      ["simdgroup_matrix diagonal", "simdgroup_float8x8(4.0f).thread_elements()[0] == (row == column ? 4.0f : 0.0f)"],
      [
        "simdgroup_multiply",
        "(simdgroup_multiply(d, a, simdgroup_float8x8(2.0f)), d.thread_elements()[0] == 2 * first)",
      ],
      [
        "simdgroup_multiply_accumulate mixed",
        "(simdgroup_multiply_accumulate(d, h, a, a), d.thread_elements()[0] == 3 * first)",
      ],
      [
        "simdgroup_multiply_accumulate bfloat",
        "(simdgroup_multiply_accumulate(d, bf, a, a), d.thread_elements()[1] == 3 * (first + 1))",
      ],
      [
        "simdgroup_multiply_accumulate half",
        "(simdgroup_multiply_accumulate(hd, h, h, h), hd.thread_elements()[0] == (row == column ? 6.0h : 0.0h))",
      ],
      ["operator*", "(a * simdgroup_float8x8(2.0f)).thread_elements()[0] == 2 * first"],
      [
        "simdgroup_store threadgroup transpose",
        "(simdgroup_store(a, tile, 8, ulong2(0, 0), true), simdgroup_barrier(mem_flags::mem_threadgroup), tile[8 * column + row] == first)",
      ],
    ],
  },
  {
    section: "6.14",
    title: "Pack and unpack functions",
    rows: [
      [
        "unpack_unorm4x8_to_float pack_float_to_unorm4x8",
        "unpack_unorm4x8_to_float(0xff000000u).w == 1 && pack_float_to_unorm4x8(float4(1, 0, 0.5f, 2)) == 0xff8000ffu",
      ],
      [
        "unpack_snorm4x8_to_float pack_float_to_snorm4x8",
        "unpack_snorm4x8_to_float(0x00007f80u).y == 1 && unpack_snorm4x8_to_float(0x80u).x == -1 && pack_float_to_snorm4x8(float4(-1, 1, 0, NAN)) == 0x00007f81u",
      ],
      [
        "unpack_unorm4x8_to_half pack_half_to_unorm4x8",
        "unpack_unorm4x8_to_half(255u).x == 1.0h && pack_half_to_unorm4x8(half4(0, 1, 0, 0)) == 0xff00u",
      ],
      [
        "unpack_snorm4x8_to_half pack_half_to_snorm4x8",
        "unpack_snorm4x8_to_half(0x81u).x == -1.0h && pack_half_to_snorm4x8(half4(1, 0, 0, 0)) == 127u",
      ],
      [
        "unpack_unorm4x8_srgb_to_float unpack_unorm4x8_srgb_to_half",
        "unpack_unorm4x8_srgb_to_float(0xff0000ffu).x == 1 && unpack_unorm4x8_srgb_to_half(0x80000000u).w > 0.5h",
      ],
      [
        "pack_float_to_srgb_unorm4x8 pack_half_to_srgb_unorm4x8",
        "pack_float_to_srgb_unorm4x8(unpack_unorm4x8_srgb_to_float(0x40302010u)) == 0x40302010u && pack_half_to_srgb_unorm4x8(half4(0, 0, 1, 0)) == 0xff0000u",
      ],
      [
        "unpack_unorm2x16_to_float pack_float_to_unorm2x16",
        "unpack_unorm2x16_to_float(0xffff0000u).y == 1 && pack_float_to_unorm2x16(float2(1, 0)) == 0xffffu",
      ],
      [
        "unpack_snorm2x16_to_float pack_float_to_snorm2x16",
        "unpack_snorm2x16_to_float(0x8000u).x == -1 && pack_float_to_snorm2x16(float2(0, -1)) == 0x80010000u",
      ],
      [
        "unpack_unorm2x16_to_half unpack_snorm2x16_to_half pack_half_to_unorm2x16 pack_half_to_snorm2x16",
        "unpack_unorm2x16_to_half(0xffffu).x == 1.0h && unpack_snorm2x16_to_half(0x7fffu).x == 1.0h && pack_half_to_unorm2x16(half2(1, 0)) == 0xffffu && pack_half_to_snorm2x16(half2(1, 0)) == 0x7fffu",
      ],
      [
        "unpack_unorm10a2_to_float unpack_unorm10a2_to_half pack_float_to_unorm10a2 pack_half_to_unorm10a2",
        "unpack_unorm10a2_to_float(0xc0000000u).w == 1 && unpack_unorm10a2_to_half(1023u).x == 1.0h && pack_float_to_unorm10a2(float4(1, 0, 0, 1)) == 0xc00003ffu && pack_half_to_unorm10a2(half4(0, 1, 0, 0)) == 0xffc00u",
      ],
      [
        "unpack_snorm10a2_to_float unpack_snorm10a2_to_half pack_float_to_snorm10a2 pack_half_to_snorm10a2",
        "unpack_snorm10a2_to_float(0x40000000u).w == 1 && unpack_snorm10a2_to_half(511u).x == 1.0h && pack_float_to_snorm10a2(float4(-1, 0, 0, 1)) == 0x40000201u && pack_half_to_snorm10a2(half4(1, 0, 0, 0)) == 511u",
      ],
      [
        "unpack_unorm565_to_float unpack_unorm565_to_half pack_float_to_unorm565 pack_half_to_unorm565",
        "unpack_unorm565_to_float(ushort(31)).x == 1 && unpack_unorm565_to_half(ushort(0x7e0)).y == 1.0h && pack_float_to_unorm565(float3(0, 0, 1)) == 0xf800 && pack_half_to_unorm565(half3(1, 0, 0)) == 31",
      ],
    ],
  },
  {
    section: "6.18.6",
    title: "Curves",
    rows: [
      [
        "bezier",
        "bezier(0.5f, 0.0f, 1.0f, 2.0f) == 1 && bezier(0.5f, 0.0f, 1.0f, 2.0f, 3.0f) == 1.5f && all(bezier(0.0f, float4(2), float4(1), float4(0)) == 2)",
      ],
      [
        "bezier_derivative bezier_second_derivative",
        "bezier_derivative(0.5f, 0.0f, 1.0f, 2.0f) == 2 && bezier_derivative(0.25f, 0.0f, 1.0f, 2.0f, 3.0f) == 3 && bezier_second_derivative(0.5f, 0.0f, 1.0f, 0.0f) == -4 && bezier_second_derivative(0.5f, 0.0f, 1.0f, 2.0f, 3.0f) == 0",
      ],
      [
        "bspline",
        "bspline(0.5f, 0.0f, 1.0f, 2.0f) == 1 && fabs(bspline(0.5f, 0.0f, 1.0f, 2.0f, 3.0f) - 1.5f) < 1e-6f && bspline(0.5h, 1.0h, 1.0h, 1.0h) == 1.0h",
      ],
      [
        "bspline_derivative bspline_second_derivative",
        "bspline_derivative(0.5f, 0.0f, 1.0f, 2.0f) == 1 && bspline_derivative(0.5f, 0.0f, 1.0f, 2.0f, 3.0f) == 1 && bspline_second_derivative(0.5f, 0.0f, 1.0f, 0.0f) == -2 && bspline_second_derivative(0.5f, 0.0f, 1.0f, 2.0f, 3.0f) == 0",
      ],
      [
        "hermite hermite_derivative hermite_second_derivative",
        "hermite(0.5f, 0.0f, 1.0f, 1.0f, 1.0f) == 0.5f && hermite_derivative(0.5f, 0.0f, 1.0f, 1.0f, 1.0f) == 1 && hermite_second_derivative(0.5f, 0.0f, 1.0f, 1.0f, 1.0f) == 0",
      ],
      [
        "catmull_rom catmull_rom_derivative catmull_rom_second_derivative",
        "catmull_rom(0.5f, 0.0f, 1.0f, 2.0f, 3.0f) == 1.5f && catmull_rom_derivative(0.5f, 0.0f, 1.0f, 2.0f, 3.0f) == 1 && catmull_rom_second_derivative(0.5f, 0.0f, 1.0f, 2.0f, 3.0f) == 0",
      ],
    ],
  },
];
