#include <metal_stdlib>
using namespace metal;
constant int mode [[function_constant(0)]];
constant float factor [[function_constant(1)]];
constant bool unused [[function_constant(2)]];
constant int fallback = is_function_constant_defined(unused) ? 1 : 0;
constant bool derived = unused && mode > 3;
constant constexpr float table[4] = {1, 2, 3, 4};

struct Pair {
  float a, b;
  float sum() const device { return a + b; }
  float sum() const thread { return a - b; }
  float first() threadgroup const { return a; }
};

// Arrays in an address space as parameters.
inline long offset(constant const long strides[3], threadgroup float grid[2][8], thread int local[2]) { return strides[0]; }

#pragma METAL fp math_mode(safe)
kernel void rewrite(device float4* x [[buffer(0)]], device const Pair* pairs [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  threadgroup float tile[32], other[4];
  alignas(16) threadgroup metal::vec<half, 4> wide[8];
  threadgroup float* pointer = tile;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float4 v = i < 4 ? x[i] : float4(0);
  Pair p = i > 2 ? pairs[i] : pairs[0];
  float w = pointer ? p.a : i == 1 ? 2.0f : pairs->b;
  (i > 3 ? x[0] : x[1]) = v;
  device float4* q = &(i > 3 ? x[0] : x[1]);
  float4 kept = true ? foo<1, 2>(x[0]) : v;
#pragma unroll(N_UNKNOWN)
  for (int j = 0; j < 4; ++j) x[j] += 1;
#pragma unroll(4)
  for (int j = 0; j < 4; ++j) x[j] += mode;
  if constexpr (is_function_constant_defined(mode)) x[0] = x[table[other[0] > 0]];
  auto lambda = [&](float y) { return y * factor; };
  float m[4] = {[0 ... 3] = -INFINITY};
  for (float z : m) v += lambda(z);
}
