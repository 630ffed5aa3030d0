/**
 * The kernels of the conformance suite: small, with results that are known exactly. Ordinary MSL 2.4 or older, so that any
 * compiler that this project's kernels pass takes them.
 */

export interface ConformanceKernel {
  /** Name of the function. */
  readonly name: string;
  /** Path as shown in diagnostics. */
  readonly path: string;
  readonly text: string;
}

const HEAD = "#include <metal_stdlib>\nusing namespace metal;\n\n";

function kernel(name: string, text: string): ConformanceKernel {
  return { name, path: `conformance/${name}.metal`, text: `${HEAD}${text}` };
}

/** out[i] = start + i for the first `count` elements. */
export const COUNT = kernel(
  "count_up",
  `kernel void count_up(device uint* out [[buffer(0)]], constant uint& start [[buffer(1)]], constant uint& count [[buffer(2)]],
                     uint i [[thread_position_in_grid]]) {
  if (i < count) out[i] = start + i;
}
`,
);

/** x[i] = x[i] * factor + by. */
export const SCALE_ADD = kernel(
  "scale_add",
  `kernel void scale_add(device uint* x [[buffer(0)]], constant uint2& step [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  x[i] = x[i] * step.x + step.y;
}
`,
);

/** out[i] = in[i]: a device buffer beside 4,096 inline bytes. */
export const COPY = kernel(
  "copy_words",
  `kernel void copy_words(device uint* out [[buffer(0)]], constant uint* in [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = in[i];
}
`,
);

/** Values of the language's own rules for infinity and NaN; a compiler that assumes neither exists gets them wrong. */
export const SPECIAL = kernel(
  "special_values",
  `kernel void special_values(device float* out [[buffer(0)]], device const float* in [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
  const float x = in[i];
  out[i * 4] = isnan(x) ? 1.0f : 0.0f;
  out[i * 4 + 1] = isinf(x) ? 1.0f : 0.0f;
  out[i * 4 + 2] = isnan(x - x) ? 1.0f : 0.0f;
  out[i * 4 + 3] = x == x ? 1.0f : 0.0f;
}
`,
);

/** Function constants of three types, one of them without a value. */
export const CONSTANTS = kernel(
  "specialised",
  `constant int mode [[function_constant(3)]];
constant bool negate [[function_constant(4)]];
constant float unset [[function_constant(5)]];
constant float added = is_function_constant_defined(unset) ? unset : 0.25f;

kernel void specialised(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  const float v = mode == 2 ? float(i) : 100.0f;
  out[i] = (negate ? -v : v) + added;
}
`,
);

/** An argument that is there only if a constant holds. */
export const PREDICATED = kernel(
  "predicated",
  `constant bool has_bias [[function_constant(0)]];

kernel void predicated(device float* out [[buffer(0)]], device const float* bias [[buffer(1), function_constant(has_bias)]],
                       uint i [[thread_position_in_grid]]) {
  out[i] = 7.0f;
  if (has_bias) out[i] = bias[i];
}
`,
);

/** Arguments of every kind, with gaps between the indices. */
export const ARGUMENTS = kernel(
  "arguments_of_every_kind",
  `struct Params {
  uint count;
  float scale;
};

kernel void arguments_of_every_kind(device float* out [[buffer(0)]], device const float* in [[buffer(3)]],
                                    constant Params& params [[buffer(5)]], threadgroup float* shared [[threadgroup(1)]],
                                    uint i [[thread_index_in_threadgroup]]) {
  shared[i] = in[i] * params.scale;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < params.count) out[i] = shared[params.count - 1 - i];
}
`,
);

export const STATIC_BYTES = 2048;
/** Declares exactly `STATIC_BYTES` of threadgroup memory; every word is written and read. Reverses 512 values. */
export const STATIC = kernel(
  "static_memory",
  `kernel void static_memory(device uint* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]],
                          uint n [[threads_per_threadgroup]]) {
  threadgroup uint tile[512];
  for (uint at = i; at < 512; at += n) tile[at] = at * 3;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint at = i; at < 512; at += n) out[at] = tile[511 - at];
}
`,
);

/** Two dynamic arrays, exchanged between simdgroups across a barrier, three times over. */
export const DYNAMIC = kernel(
  "dynamic_memory",
  `kernel void dynamic_memory(device uint* out [[buffer(0)]], threadgroup uint* first [[threadgroup(0)]],
                           threadgroup uint* second [[threadgroup(1)]], uint i [[thread_index_in_threadgroup]],
                           uint n [[threads_per_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  first[i] = group * 1000 + i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint turn = 0; turn < 3; ++turn) {
    second[i] = first[(i + 1) % n] + 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    first[i] = second[n - 1 - i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[group * n + i] = first[i];
}
`,
);

export const LINE = kernel(
  "line",
  `kernel void line(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = i + 1;
}
`,
);

export const LIMITED_THREADS = 64;
export const LIMITED = kernel(
  "limited",
  `[[max_total_threads_per_threadgroup(${LIMITED_THREADS})]] kernel void limited(device uint* out [[buffer(0)]],
                                                             uint i [[thread_position_in_grid]]) {
  out[i] = i + 1;
}
`,
);

/** Every attribute of a position, for a grid of one, two or three dimensions. Twenty words a thread. */
export function positions(dimensions: 1 | 2 | 3): ConformanceKernel {
  const type = dimensions === 1 ? "uint" : `uint${dimensions}`;
  const name = `positions_${dimensions}d`;
  const whole = dimensions === 1 ? "uint3(v, 0, 0)" : dimensions === 2 ? "uint3(v, 0)" : "v";
  const rest = dimensions === 1 ? "uint3(v, 1, 1)" : dimensions === 2 ? "uint3(v, 1)" : "v";
  return kernel(
    name,
    `inline uint3 at(${type} v) { return ${whole}; }
inline uint3 whole(${type} v) { return ${rest}; }
inline void put(device uint* row, uint first, uint3 v) {
  row[first] = v.x;
  row[first + 1] = v.y;
  row[first + 2] = v.z;
}

kernel void ${name}(device uint* out [[buffer(0)]], ${type} in_grid [[thread_position_in_grid]],
                  ${type} in_group [[thread_position_in_threadgroup]], ${type} group [[threadgroup_position_in_grid]],
                  ${type} group_size [[threads_per_threadgroup]], ${type} grid_size [[threads_per_grid]],
                  ${type} groups [[threadgroups_per_grid]], uint index [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                  uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint3 p = at(in_grid);
  const uint3 size = whole(grid_size);
  device uint* row = out + (((p.z * size.y) + p.y) * size.x + p.x) * 22;
  put(row, 0, p);
  put(row, 3, at(in_group));
  put(row, 6, at(group));
  put(row, 9, whole(group_size));
  put(row, 12, size);
  put(row, 15, whole(groups));
  row[18] = index;
  row[19] = lane;
  row[20] = simdgroup;
  row[21] = simdgroups;
}
`,
  );
}
export const POSITION_WORDS = 22;

export const SIMD_REDUCE = kernel(
  "simd_reduce",
  `kernel void simd_reduce(device float* out [[buffer(0)]], device const float* in [[buffer(1)]],
                        uint i [[thread_index_in_threadgroup]]) {
  const float x = in[i];
  out[i * 2] = simd_sum(x);
  out[i * 2 + 1] = simd_max(x);
}
`,
);

export const SIMD_PERMUTE = kernel(
  "simd_permute",
  `kernel void simd_permute(device float* out [[buffer(0)]], device const float* in [[buffer(1)]],
                         uint i [[thread_index_in_threadgroup]]) {
  const float x = in[i];
  out[i * 2] = simd_shuffle_xor(x, 5);
  out[i * 2 + 1] = simd_broadcast(x, 7);
}
`,
);

/** c = a b + 1 on 8x8 tiles; a and b in `T`, the sum in float. */
function matrix(type: "float" | "half"): ConformanceKernel {
  const name = `matrix_${type}`;
  return kernel(
    name,
    `kernel void ${name}(device float* out [[buffer(0)]], device const float* in [[buffer(1)]],
                    uint i [[thread_index_in_threadgroup]]) {
  threadgroup ${type} left[64];
  threadgroup ${type} right[64];
  threadgroup float sum[64];
  for (uint at = i; at < 64; at += 32) {
    left[at] = ${type}(in[at]);
    right[at] = ${type}(in[64 + at]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_matrix<${type}, 8, 8> a;
  simdgroup_matrix<${type}, 8, 8> b;
  simdgroup_matrix<float, 8, 8> c = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
  simdgroup_load(a, left, 8);
  simdgroup_load(b, right, 8);
  simdgroup_multiply_accumulate(c, a, b, c);
  simdgroup_store(c, sum, 8);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint at = i; at < 64; at += 32) out[at] = sum[at];
}
`,
  );
}
export const MATRIX_FLOAT = matrix("float");
export const MATRIX_HALF = matrix("half");

/** Which lane holds which element of an 8x8 matrix: each writes 2 * lane and 2 * lane + 1 into its two. */
export const MATRIX_ELEMENTS = kernel(
  "matrix_elements",
  `kernel void matrix_elements(device float* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[64];
  simdgroup_matrix<float, 8, 8> m = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  m.thread_elements()[0] = float(2 * lane);
  m.thread_elements()[1] = float(2 * lane + 1);
  simdgroup_store(m, tile, 8);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint at = i; at < 64; at += 32) out[at] = tile[at];
}
`,
);

/** Every thread adds to one counter in device memory, and its threadgroup's count to another. */
export const ATOMICS = kernel(
  "atomics",
  `kernel void atomics(device atomic_uint* totals [[buffer(0)]], uint i [[thread_position_in_grid]],
                    uint index [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint own;
  if (index == 0) atomic_store_explicit(&own, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&own, 2, memory_order_relaxed);
  atomic_fetch_add_explicit(&totals[0], 1, memory_order_relaxed);
  atomic_fetch_max_explicit(&totals[1], i, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (index == 0) atomic_fetch_add_explicit(&totals[2], atomic_load_explicit(&own, memory_order_relaxed), memory_order_relaxed);
}
`,
);

/** One thread that works for a while: `turns` steps of xorshift32, of which the compiler knows no short form. */
export const SLOW = kernel(
  "slow",
  `kernel void slow(device uint* out [[buffer(0)]], constant uint2& work [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  uint x = work.y;
  for (uint turn = 0; turn < work.x; ++turn) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  out[i] = x;
}
`,
);

/** out[at[0]] = value: wherever the host says, also behind the end. */
export const POKE = kernel(
  "poke",
  `kernel void poke(device uchar* out [[buffer(0)]], constant uint2& range [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  if (i < range.y) out[range.x + i] = uchar(i + 1);
}
`,
);

/** The first and the last word of a large buffer. */
export const ENDS = kernel(
  "both_ends",
  `kernel void both_ends(device uint* out [[buffer(0)]], constant uint& words [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  if (i < 4) {
    out[i] = i + 1;
    out[words - 1 - i] = ~i;
  }
}
`,
);

/** Never ends, and the compiler cannot know: `stop` stays 0. */
export const ENDLESS = kernel(
  "endless",
  `kernel void endless(device uint* out [[buffer(0)]], device const volatile uint* stop [[buffer(1)]]) {
  uint turns = 0;
  while (stop[0] == 0) ++turns;
  out[0] = turns;
}
`,
);

export const LOGGING = kernel(
  "logging",
  `#include <metal_logging>

kernel void logging(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if (i == 3) os_log_default.log("conformance %u", i + 4);
  out[i] = i;
}
`,
);

/** Macros that the host defines: a number and an expression. */
export const MACROS = kernel(
  "macros",
  `kernel void macros(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = WIDTH * i + EXPRESSION;
}
`,
);

/** Reads a value and a function out of a file that the host inlines. */
export const INCLUDING = kernel(
  "including",
  `#include "conformance_helper.h"

kernel void including(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = helper(i);
}
`,
);
export const HELPER = {
  path: "conformance/conformance_helper.h",
  text: "inline uint helper(uint i) { return 5 * i + 1; }\n",
};

/** Every kernel, for whoever looks at their text. */
export const CONFORMANCE_KERNELS: readonly ConformanceKernel[] = [
  COUNT,
  SCALE_ADD,
  COPY,
  SPECIAL,
  CONSTANTS,
  PREDICATED,
  ARGUMENTS,
  STATIC,
  DYNAMIC,
  LINE,
  LIMITED,
  positions(1),
  positions(2),
  positions(3),
  SIMD_REDUCE,
  SIMD_PERMUTE,
  MATRIX_FLOAT,
  MATRIX_HALF,
  MATRIX_ELEMENTS,
  ATOMICS,
  SLOW,
  POKE,
  ENDS,
  ENDLESS,
  LOGGING,
  MACROS,
  INCLUDING,
];
