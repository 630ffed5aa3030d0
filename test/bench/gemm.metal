// C = A B on 8x8 simdgroup matrices, for measuring: A [m, k] and B [k, n] in half, C [m, n] in float, row-major.
// m, n and k are multiples of 32.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

constant constexpr uint BLOCK = 32;      // rows and columns of C per threadgroup, and the depth staged at a time
constant constexpr uint THREADS = 128;   // four simdgroups, a quarter of 16 x 16 each

struct GemmParams {
  uint m;
  uint n;
  uint k;
};

kernel void gemm_8x8(
    device const half* a [[buffer(0)]],
    device const half* b [[buffer(1)]],
    device float* c [[buffer(2)]],
    constant GemmParams& params [[buffer(3)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup half4 tile_a[BLOCK * BLOCK / 4];
  threadgroup half4 tile_b[BLOCK * BLOCK / 4];
  const uint row = group.y * BLOCK;
  const uint column = group.x * BLOCK;
  const uint top = 16 * (simdgroup / 2);
  const uint left = 16 * (simdgroup % 2);

  simdgroup_float8x8 sum[2][2];
  for (uint i = 0; i < 2; ++i) {
    for (uint j = 0; j < 2; ++j) {
      sum[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  for (uint depth = 0; depth < params.k; depth += BLOCK) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = thread_index; i < BLOCK * BLOCK / 4; i += THREADS) {
      const uint y = i / (BLOCK / 4);
      const uint x = 4 * (i % (BLOCK / 4));
      tile_a[i] = *(device const half4*)(a + (row + y) * params.k + depth + x);
      tile_b[i] = *(device const half4*)(b + (depth + y) * params.n + column + x);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    threadgroup const half* staged_a = (threadgroup const half*)tile_a;
    threadgroup const half* staged_b = (threadgroup const half*)tile_b;
    for (uint step = 0; step < BLOCK; step += 8) {
      simdgroup_half8x8 left_tile[2];
      simdgroup_half8x8 right_tile[2];
      for (uint i = 0; i < 2; ++i) {
        simdgroup_load(left_tile[i], staged_a + (top + 8 * i) * BLOCK + step, BLOCK);
        simdgroup_load(right_tile[i], staged_b + step * BLOCK + left + 8 * i, BLOCK);
      }
      for (uint i = 0; i < 2; ++i) {
        for (uint j = 0; j < 2; ++j) {
          simdgroup_multiply_accumulate(sum[i][j], left_tile[i], right_tile[j], sum[i][j]);
        }
      }
    }
  }
  for (uint i = 0; i < 2; ++i) {
    for (uint j = 0; j < 2; ++j) {
      simdgroup_store(sum[i][j], c + (row + top + 8 * i) * params.n + column + left + 8 * j, params.n);
    }
  }
}
