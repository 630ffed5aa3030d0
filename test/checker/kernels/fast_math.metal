// The same source in both math modes: fast math may assume that there is neither NaN nor infinity.
#include <metal_stdlib>
using namespace metal;

// case: mask_of_minus_infinity_in_fast_math
// why: The mask is -inf and the source is compiled for fast math, which may assume that this never happens.
// from: ml-explore/mlx#2608
// run: mask_with_infinity threads 32
// buffer: out float 32 output
// buffer: scores float 32 ramp
// math: fast
// must: warning infinity_in_fast_math A write of out size 4 times 12

// case: mask_of_minus_infinity_in_safe_math
// why: In safe math an infinity is a value like others.
// run: mask_with_infinity threads 32
// buffer: out float 32 output
// buffer: scores float 32 ramp
// silent:
kernel void mask_with_infinity(device float *out, device const float *scores, uint i [[thread_position_in_grid]]) {
  out[i] = i < 20 ? scores[i] : -INFINITY; // A
}

// case: exchanged_infinity_in_fast_math
// why: The maximum over a row starts at -inf and goes through simd_max.
// run: exchanged_infinity threads 32
// buffer: out float 32 output
// buffer: scores float 32 ramp
// math: fast
// must: warning infinity_in_fast_math A collective
kernel void exchanged_infinity(device float *out, device const float *scores, uint lane [[thread_index_in_simdgroup]]) {
  const float mine = lane < 20 ? scores[lane] : -INFINITY;
  const float most = simd_max(mine); // A
  out[lane] = most;
}

// case: finite_mask_in_fast_math
// why: The lowest finite number instead: nothing to report in fast math.
// run: finite_mask_in_fast_math threads 32
// buffer: out float 32 output
// buffer: scores float 32 ramp
// math: fast
// silent:
kernel void finite_mask_in_fast_math(device float *out, device const float *scores,
                                     uint lane [[thread_index_in_simdgroup]]) {
  const float mine = lane < 20 ? scores[lane] : -3e38f;
  const float most = simd_max(mine);
  out[lane] = exp(mine - most);
}

// case: integers_in_fast_math
// why: Integers that are stored are no infinities.
// run: integers_in_fast_math threads 32
// buffer: out uint 32 output
// math: fast
// silent:
kernel void integers_in_fast_math(device uint *out, uint i [[thread_position_in_grid]]) {
  out[i] = i * 977 + 12345;
}
