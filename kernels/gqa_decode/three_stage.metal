// GQA decode in three stages and a reduction, with the scores in device memory: the production route.
// score -> normalise -> value -> reduce; the first, second and fourth are in stages.h.
#include <metal_stdlib>
using namespace metal;

#include "decode.h"
#include "stages.h"

// partials[partition, head, dim] = sum over the partition's tokens of weight * v. A threadgroup per (dimension tile of
// 32, sequence partition, KV head). A simdgroup takes 4 tokens x 8 quads at a time and reads v once for all query heads.
kernel void gqa_value(
    device const float* weights [[buffer(0)]],
    device const float* v [[buffer(1)]],
    device float* partials [[buffer(2)]],
    constant DecodeParams& params [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float4 sums[VALUE_SIMDGROUPS * HEADS_PER_KV * TILE_QUADS];

  const uint kv_head = group.z;
  const uint begin = partition_start(params.live, VALUE_PARTITIONS, group.y);
  const uint end = partition_start(params.live, VALUE_PARTITIONS, group.y + 1);
  const uint quad = group.x * TILE_QUADS + lane % TILE_QUADS;
  device const float4* values = (device const float4*)v;
  device const float* head_weights = weights + (ulong)kv_head * HEADS_PER_KV * params.live;

  float4 held[HEADS_PER_KV];
  for (uint g = 0; g < HEADS_PER_KV; ++g) {
    held[g] = float4(0.0f);
  }
  for (uint token = begin + simdgroup * 4 + lane / TILE_QUADS; token < end; token += VALUE_SIMDGROUPS * 4) {
    const float4 x = values[row_quad(token, params.kv_heads, kv_head) + quad];
    for (uint g = 0; g < HEADS_PER_KV; ++g) {
      held[g] += head_weights[(ulong)g * params.live + token] * x;
    }
  }
  write_value_partials(held, sums, partials, params, group, thread_index, simdgroup, lane);
}
