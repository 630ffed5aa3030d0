/**
 * Everything of the Metal Shading Language that the kernels may use: each name with its section in the specification and
 * the MSL version on macOS that introduced it. `kernels/lint.ts` holds the sources to it.
 *
 * The sections were read beside the text: table of contents of version 4, 2025-10-23, and chapters 2.2 to 2.7, 6.1 to 6.9,
 * 6.14, 6.15 and 6.19 of version 4, 2025-06-05, which number alike there. The versions of 2.4 and 6.9.2 were read there too;
 * the other ones are not verified beside the specification.
 */

export type SurfaceKind =
  | "keyword"
  | "type"
  | "function"
  | "member"
  | "attribute"
  | "enumerator"
  | "constant"
  | "namespace"
  | "header"
  | "directive";

export interface SurfaceEntry {
  readonly name: string;
  readonly kind: SurfaceKind;
  /** Section of the specification, or the C++ feature it takes over. */
  readonly section: string;
  readonly since: string;
  /** Numbers of arguments of the overloads that the kernels use. */
  readonly arity?: readonly number[];
  /** Which overload is meant, and what the specification leaves open. */
  readonly note?: string;
}

function entries(kind: SurfaceKind, section: string, since: string, names: readonly string[]): readonly SurfaceEntry[] {
  return names.map((name) => ({ name, kind, section, since }));
}

function call(name: string, section: string, since: string, arity: readonly number[], note?: string): SurfaceEntry {
  return { name, kind: "function", section, since, arity, ...(note === undefined ? {} : { note }) };
}

export const MSL_SURFACE: readonly SurfaceEntry[] = [
  ...entries("directive", "1.5.3", "1.0", ["if", "ifndef", "else", "endif", "define", "error", "include"]),
  ...entries("header", "6.1", "1.0", ["metal_stdlib"]),
  ...entries("namespace", "6.1", "1.0", ["metal"]),

  ...entries("keyword", "1.5 (C++17)", "1.0", [
    "const",
    "constexpr",
    "else",
    "for",
    "if",
    "inline",
    "namespace",
    "return",
    "sizeof",
    "static",
    "struct",
    "true",
    "typedef",
    "using",
  ]),
  ...entries("keyword", "1.5.2 (templates)", "1.0", ["template", "typename"]),
  ...entries("keyword", "1.5.3 (preprocessing)", "1.0", ["defined"]),
  ...entries("keyword", "4.1", "1.0", ["device"]),
  ...entries("keyword", "4.2", "1.0", ["constant"]),
  ...entries("keyword", "4.3", "1.0", ["thread"]),
  ...entries("keyword", "4.4", "1.0", ["threadgroup"]),
  ...entries("keyword", "5.1.3", "1.0", ["kernel"]),

  ...entries("type", "2.1", "1.0", ["bool", "float", "half", "int", "uint", "void"]),
  ...entries("type", "2.1", "2.2", ["ulong"]),
  ...entries("type", "2.1", "3.1", ["bfloat"]),
  ...entries("type", "2.2", "1.0", ["float2", "float4", "uint2", "uint3", "uint4", "vec"]),
  ...entries("type", "2.2", "2.2", ["ulong2"]),
  {
    name: "simdgroup_matrix",
    kind: "type",
    section: "2.4",
    since: "2.3",
    note: "8x8 of half, float, and from 3.1 bfloat; operations only under uniform control flow of the simdgroup",
  },

  ...entries("attribute", "5.2.1", "1.0", ["buffer", "threadgroup"]),
  ...entries("attribute", "5.2.3.6", "1.0", [
    "thread_index_in_threadgroup",
    "thread_position_in_grid",
    "threadgroup_position_in_grid",
  ]),
  ...entries("attribute", "5.2.3.6", "2.0", ["simdgroup_index_in_threadgroup", "thread_index_in_simdgroup"]),

  ...entries("constant", "6.5", "1.0", ["INFINITY"]),
  call("clamp", "6.3", "1.0", [3], "int"),
  call("min", "6.3", "1.0", [2], "int and uint"),
  call("max", "6.5", "1.0", [2], "float"),
  call("select", "6.4", "1.0", [3], "T select(T a, T b, booln c): b where c holds"),
  call("exp", "6.5", "1.0", [1], "float and float4; safe math, so the precise one"),
  call("log", "6.5", "1.0", [1], "float; log(0) is -inf"),
  call("dot", "6.8", "1.0", [2], "float4"),

  call("make_filled_simdgroup_matrix", "6.7.1", "2.3", [1]),
  call("simdgroup_load", "6.7.1", "2.3", [3, 5], "from threadgroup memory; 5 arguments: origin and transpose"),
  call(
    "simdgroup_multiply_accumulate",
    "6.7.2",
    "2.3",
    [4],
    "a and b of half or bfloat with float c and d, and float a with b of any of them: the specification writes one T " +
      "for all four, Apple's header takes each by itself, and llama.cpp and MLX ship both mixed forms",
  ),
  {
    name: "thread_elements",
    kind: "member",
    section: "none",
    since: "2.3",
    note: "not in the specification; the element map is the one MLX, MAX and tinygrad rely on",
  },

  call("threadgroup_barrier", "6.9.1", "1.0", [1]),
  ...entries("type", "6.9.1", "1.0", ["mem_flags"]),
  ...entries("enumerator", "6.9.1", "1.0", ["mem_flags::mem_device", "mem_flags::mem_threadgroup"]),
  call("simd_sum", "6.9.2", "2.1", [1], "scalar, and vectors by component"),
  call("simd_max", "6.9.2", "2.1", [1]),
  call(
    "simd_shuffle_xor",
    "6.9.2",
    "2.0",
    [2],
    "float and float4: the table of the specification writes Ti, its text and Apple's header take floating point",
  ),
];
