// GQA decode, plain: a threadgroup per query head, scores in device memory, softmax over the full row, weighted sum.
// The route to compare with: no tiling, no online state, no sharing of K and V between query heads.
#include <metal_stdlib>
using namespace metal;

#include "decode.h"

constant constexpr uint NAIVE_THREADS = 256;
constant constexpr uint NAIVE_SIMDGROUPS = NAIVE_THREADS / SIMD_WIDTH;

kernel void gqa_naive(
    device const float* q [[buffer(0)]],
    device const float* k [[buffer(1)]],
    device const float* v [[buffer(2)]],
    device float* scores [[buffer(3)]],   // [head, live], scratch
    device float* out [[buffer(4)]],
    device float* lse [[buffer(5)]],
    constant DecodeParams& params [[buffer(6)]],
    uint head [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float slots[NAIVE_SIMDGROUPS];
  threadgroup float4 sums[NAIVE_SIMDGROUPS * ROW_QUADS];   // 16,384 bytes at HEAD_DIM 512

  const uint kv_head = head / HEADS_PER_KV;
  device const float4* query = (device const float4*)q + (ulong)head * ROW_QUADS;
  device float* row = scores + (ulong)head * params.live;

  // A thread per token.
  float maximum = -INFINITY;
  for (uint token = thread_index; token < params.live; token += NAIVE_THREADS) {
    device const float4* key = (device const float4*)k + row_quad(token, params.kv_heads, kv_head);
    float4 products = float4(0.0f);
    for (uint i = 0; i < ROW_QUADS; ++i) {
      products += query[i] * key[i];
    }
    const float score = sum_of(products) * params.scale;
    row[token] = score;
    maximum = max(maximum, score);
  }
  maximum = threadgroup_max(maximum, slots, NAIVE_SIMDGROUPS, simdgroup, lane);

  const float base = softmax_base(maximum);
  float sum = 0.0f;
  for (uint token = thread_index; token < params.live; token += NAIVE_THREADS) {
    const float weight = exp(row[token] - base);
    row[token] = weight;
    sum += weight;
  }
  sum = threadgroup_sum(sum, slots, NAIVE_SIMDGROUPS, simdgroup, lane);
  threadgroup_barrier(mem_flags::mem_device);   // every thread reads the whole row below

  // Each simdgroup adds up an eighth of the tokens, each lane its quads of the dimensions.
  const uint begin = partition_start(params.live, NAIVE_SIMDGROUPS, simdgroup);
  const uint end = partition_start(params.live, NAIVE_SIMDGROUPS, simdgroup + 1);
  float4 held[LANE_QUADS];
  for (uint i = 0; i < LANE_QUADS; ++i) {
    held[i] = float4(0.0f);
  }
  for (uint token = begin; token < end; ++token) {
    const float weight = row[token];
    device const float4* value = (device const float4*)v + row_quad(token, params.kv_heads, kv_head);
    for (uint i = 0; i < LANE_QUADS; ++i) {
      const uint quad = i * SIMD_WIDTH + lane;
      if (quad < ROW_QUADS) {
        held[i] += weight * value[quad];
      }
    }
  }
  for (uint i = 0; i < LANE_QUADS; ++i) {
    const uint quad = i * SIMD_WIDTH + lane;
    if (quad < ROW_QUADS) {
      sums[simdgroup * ROW_QUADS + quad] = held[i];
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint quad = thread_index; quad < ROW_QUADS; quad += NAIVE_THREADS) {
    float4 x = float4(0.0f);
    for (uint i = 0; i < NAIVE_SIMDGROUPS; ++i) {
      x += sums[i * ROW_QUADS + quad];
    }
    ((device float4*)out)[(ulong)head * ROW_QUADS + quad] = sum > 0.0f ? x / sum : float4(0.0f);
  }
  if (thread_index == 0) {
    lse[head] = maximum + log(sum);
  }
}
