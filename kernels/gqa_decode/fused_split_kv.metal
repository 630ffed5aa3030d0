// GQA decode, fused: one pass over K and V with an online softmax per partition of the sequence, then an exact merge.
// HEAD_DIM is 512 and HEADS_PER_KV is 8. Partials are partition-major and contiguous in the dimension.
#include <metal_stdlib>
using namespace metal;

#include "decode.h"

constant constexpr uint TILE = 4;                 // tokens staged at a time
constant constexpr uint PARTIAL_THREADS = 256;    // 8 simdgroups, one per query head of the KV head
constant constexpr uint MERGE_THREADS = 256;      // also the largest number of partitions
constant constexpr uint MERGE_SIMDGROUPS = MERGE_THREADS / SIMD_WIDTH;

// A threadgroup per (KV head, partition). `tile` holds TILE rows of k, then TILE rows of v: 16,384 bytes.
// A lane keeps 16 dimensions of q and of the numerator, and a copy of the row's maximum and denominator.
kernel void gqa_fused_partial(
    device const float* q [[buffer(0)]],
    device const float* k [[buffer(1)]],
    device const float* v [[buffer(2)]],
    device float* maxima [[buffer(3)]],       // [partition, head]
    device float* sums [[buffer(4)]],         // [partition, head]
    device float* numerators [[buffer(5)]],   // [partition, head, HEAD_DIM], not normalised
    constant DecodeParams& params [[buffer(6)]],
    threadgroup float4* tile [[threadgroup(0)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  const uint kv_head = group.x;
  const uint partition = group.y;
  const uint head = kv_head * HEADS_PER_KV + simdgroup;
  const uint begin = partition_start(params.live, params.partitions, partition);
  const uint end = partition_start(params.live, params.partitions, partition + 1);
  device const float4* query = (device const float4*)q + (ulong)head * ROW_QUADS;
  device const float4* keys = (device const float4*)k;
  device const float4* values = (device const float4*)v;
  threadgroup float4* tile_keys = tile;
  threadgroup float4* tile_values = tile + TILE * ROW_QUADS;

  float4 mine[LANE_QUADS];
  float4 numerator[LANE_QUADS];
  for (uint i = 0; i < LANE_QUADS; ++i) {
    mine[i] = query[i * SIMD_WIDTH + lane];
    numerator[i] = float4(0.0f);
  }
  float maximum = -INFINITY;
  float sum = 0.0f;

  for (uint token = begin; token < end; token += TILE) {
    const uint count = min(TILE, end - token);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = thread_index; i < TILE * ROW_QUADS; i += PARTIAL_THREADS) {
      const uint row = i / ROW_QUADS;
      float4 key = float4(0.0f);
      float4 value = float4(0.0f);
      if (row < count) {
        const ulong source = row_quad(token + row, params.kv_heads, kv_head) + i % ROW_QUADS;
        key = keys[source];
        value = values[source];
      }
      tile_keys[i] = key;
      tile_values[i] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // Four scores, then one maximum, one rescale and five exps for the whole tile.
    float4 score = float4(0.0f);
    for (uint i = 0; i < LANE_QUADS; ++i) {
      const uint quad = i * SIMD_WIDTH + lane;
      score += float4(
          dot(mine[i], tile_keys[quad]),
          dot(mine[i], tile_keys[ROW_QUADS + quad]),
          dot(mine[i], tile_keys[2 * ROW_QUADS + quad]),
          dot(mine[i], tile_keys[3 * ROW_QUADS + quad]));
    }
    score = simd_sum_of_four(score) * params.scale;
    score = select(float4(-INFINITY), score, uint4(0, 1, 2, 3) < uint4(count));

    const float new_maximum = max(maximum, max_of(score));
    const float base = softmax_base(new_maximum);
    const float rescale = exp(maximum - base);
    const float4 weight = exp(score - float4(base));
    maximum = new_maximum;
    sum = sum * rescale + sum_of(weight);
    for (uint i = 0; i < LANE_QUADS; ++i) {
      const uint quad = i * SIMD_WIDTH + lane;
      float4 x = numerator[i] * rescale;
      x += weight.x * tile_values[quad];
      x += weight.y * tile_values[ROW_QUADS + quad];
      x += weight.z * tile_values[2 * ROW_QUADS + quad];
      x += weight.w * tile_values[3 * ROW_QUADS + quad];
      numerator[i] = x;
    }
  }

  // An empty partition writes the empty state: maximum -inf, sum 0, numerator 0.
  const ulong state = (ulong)partition * params.heads + head;
  device float4* destination = (device float4*)numerators + state * ROW_QUADS;
  for (uint i = 0; i < LANE_QUADS; ++i) {
    destination[i * SIMD_WIDTH + lane] = numerator[i];
  }
  if (lane == 0) {
    maxima[state] = maximum;
    sums[state] = sum;
  }
}

// A threadgroup per query head. M = max M_p, S = sum S_p exp(M_p - M), out = sum O_p exp(M_p - M) / S.
// Thread p first takes the scalars of partition p; then each thread merges two dimensions in partition order.
kernel void gqa_fused_merge(
    device const float* maxima [[buffer(0)]],
    device const float* sums [[buffer(1)]],
    device const float* numerators [[buffer(2)]],
    device float* out [[buffer(3)]],
    device float* lse [[buffer(4)]],
    constant DecodeParams& params [[buffer(5)]],
    uint head [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float slots[MERGE_SIMDGROUPS];
  threadgroup float weights[MERGE_THREADS];

  float partition_maximum = -INFINITY;
  float partition_sum = 0.0f;
  if (thread_index < params.partitions) {
    const ulong state = (ulong)thread_index * params.heads + head;
    partition_maximum = maxima[state];
    partition_sum = sums[state];
  }
  const float maximum = threadgroup_max(partition_maximum, slots, MERGE_SIMDGROUPS, simdgroup, lane);
  const float weight = exp(partition_maximum - softmax_base(maximum));
  weights[thread_index] = weight;
  const float sum = threadgroup_sum(partition_sum * weight, slots, MERGE_SIMDGROUPS, simdgroup, lane);

  for (uint pair = thread_index; pair < HEAD_DIM / 2; pair += MERGE_THREADS) {
    float2 x = float2(0.0f);
    for (uint partition = 0; partition < params.partitions; ++partition) {
      const ulong row = (ulong)partition * params.heads + head;
      x += weights[partition] * ((device const float2*)numerators)[row * (HEAD_DIM / 2) + pair];
    }
    ((device float2*)out)[(ulong)head * (HEAD_DIM / 2) + pair] = sum > 0.0f ? x / sum : float2(0.0f);
  }
  if (thread_index == 0) {
    lse[head] = maximum + log(sum);
  }
}
