// MLA prefill, plain: a threadgroup per (query row, head), scores computed once into device memory, softmax over the
// visible keys, weighted sum. The route to compare with: no matrices, no tiles, no online state.
#include <metal_stdlib>
using namespace metal;

#include "sequence.h"

constant constexpr uint NAIVE_THREADS = 128;
constant constexpr uint NAIVE_SIMDGROUPS = NAIVE_THREADS / 32;

inline float sum_of_products(device const ELEMENT* left, device const ELEMENT* right, uint dim) {
  float4 products = float4(0.0f);
  for (uint i = 0; i < dim / 4; ++i) {
    products += float4(((device const Quad*)left)[i]) * float4(((device const Quad*)right)[i]);
  }
  return (products.x + products.y) + (products.z + products.w);
}

kernel void mla_prefill_naive(
    device const ELEMENT* q_nope [[buffer(0)]],
    device const ELEMENT* q_rope [[buffer(1)]],
    device const ELEMENT* k_nope [[buffer(2)]],
    device const ELEMENT* k_rope [[buffer(3)]],
    device const ELEMENT* v [[buffer(4)]],
    device const int* cu_seqlens_q [[buffer(5)]],
    device const int* cu_seqlens_k [[buffer(6)]],
    device const int* q_offset [[buffer(7)]],
    device float* scores [[buffer(8)]],   // [Tq, head, score_stride], scratch
    device ELEMENT* out [[buffer(9)]],
    device float* lse [[buffer(10)]],
    constant PrefillParams& params [[buffer(11)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float maxima[NAIVE_SIMDGROUPS];
  threadgroup float sums[NAIVE_SIMDGROUPS];

  const Sequence sequence = sequence_at(cu_seqlens_q, cu_seqlens_k, q_offset, group.z);
  const int query = int(group.x);
  const uint head = group.y;
  if (query >= sequence.query_count) {
    return;
  }
  const uint keys = uint(visible_keys(sequence, query));
  const ulong query_row = (ulong)(sequence.query_start + query) * params.heads + head;
  device float* row = scores + query_row * params.score_stride;

  float maximum = -INFINITY;
  for (uint key = thread_index; key < keys; key += NAIVE_THREADS) {
    const ulong key_token = (ulong)sequence.key_start + key;
    const float nope = sum_of_products(
        q_nope + query_row * NOPE_DIM, k_nope + (key_token * params.heads + head) * NOPE_DIM, NOPE_DIM);
    const float rope = sum_of_products(q_rope + query_row * ROPE_DIM, k_rope + key_token * ROPE_DIM, ROPE_DIM);
    const float score = (nope + rope) * params.scale;
    row[key] = score;
    maximum = max(maximum, score);
  }
  maximum = simd_max(maximum);
  if (lane == 0) {
    maxima[simdgroup] = maximum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < NAIVE_SIMDGROUPS; ++i) {
    maximum = max(maximum, float(maxima[i]));
  }

  const float base = softmax_base(maximum);
  float sum = 0.0f;
  for (uint key = thread_index; key < keys; key += NAIVE_THREADS) {
    const float weight = exp(row[key] - base);
    row[key] = weight;
    sum += weight;
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    sums[simdgroup] = sum;
  }
  // Every thread reads all partial sums and the whole row of weights below.
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup_barrier(mem_flags::mem_device);
  sum = 0.0f;
  for (uint i = 0; i < NAIVE_SIMDGROUPS; ++i) {
    sum += sums[i];
  }

  for (uint dim = thread_index; dim < VALUE_DIM; dim += NAIVE_THREADS) {
    float x = 0.0f;
    for (uint key = 0; key < keys; ++key) {
      const ulong key_token = (ulong)sequence.key_start + key;
      x += row[key] * float(v[(key_token * params.heads + head) * VALUE_DIM + dim]);
    }
    out[query_row * VALUE_DIM + dim] = ELEMENT(sum > 0.0f ? x / sum : 0.0f);
  }
  if (thread_index == 0) {
    lse[query_row] = maximum + log(sum);
  }
}
