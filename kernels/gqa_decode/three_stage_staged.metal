// GQA decode in three stages with a better value stage: the strong baseline a candidate has to beat.
// The weights of 128 tokens are staged in threadgroup memory, transposed to [token, head], so that a lane reads the
// weights of four query heads at a time instead of one from device memory. The other stages are those of three_stage.
#include <metal_stdlib>
using namespace metal;

#include "decode.h"
#include "stages.h"

constant constexpr uint STAGED_TOKENS = 128;
constant constexpr uint HEAD_QUADS = (HEADS_PER_KV + 3) / 4;
constant constexpr uint TOKENS_PER_LANE = STAGED_TOKENS / (VALUE_SIMDGROUPS * 4);

// partials[partition, head, dim] as gqa_value of three_stage.metal; same grid, same threads.
kernel void gqa_value_staged(
    device const float* weights [[buffer(0)]],
    device const float* v [[buffer(1)]],
    device float* partials [[buffer(2)]],
    constant DecodeParams& params [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float4 sums[VALUE_SIMDGROUPS * HEADS_PER_KV * TILE_QUADS];
  threadgroup float4 staged[STAGED_TOKENS * HEAD_QUADS];

  const uint kv_head = group.z;
  const uint begin = partition_start(params.live, VALUE_PARTITIONS, group.y);
  const uint end = partition_start(params.live, VALUE_PARTITIONS, group.y + 1);
  const uint quad = group.x * TILE_QUADS + lane % TILE_QUADS;
  device const float4* values = (device const float4*)v;
  device const float* head_weights = weights + (ulong)kv_head * HEADS_PER_KV * params.live;
  threadgroup float* staged_floats = (threadgroup float*)staged;

  float4 held[HEAD_QUADS * 4];
  for (uint g = 0; g < HEAD_QUADS * 4; ++g) {
    held[g] = float4(0.0f);
  }
  for (uint block = begin; block < end; block += STAGED_TOKENS) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = thread_index; i < STAGED_TOKENS * HEAD_QUADS * 4; i += VALUE_THREADS) {
      const uint token = i % STAGED_TOKENS;
      const uint g = i / STAGED_TOKENS;
      float x = 0.0f;
      if (g < HEADS_PER_KV && block + token < end) {
        x = head_weights[(ulong)g * params.live + block + token];
      }
      staged_floats[token * HEAD_QUADS * 4 + g] = x;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < TOKENS_PER_LANE; ++i) {
      const uint token = (i * VALUE_SIMDGROUPS + simdgroup) * 4 + lane / TILE_QUADS;
      float4 x = float4(0.0f);
      if (block + token < end) {
        x = values[row_quad(block + token, params.kv_heads, kv_head) + quad];
      }
      for (uint h = 0; h < HEAD_QUADS; ++h) {
        const float4 weight = staged[token * HEAD_QUADS + h];
        held[4 * h] += weight.x * x;
        held[4 * h + 1] += weight.y * x;
        held[4 * h + 2] += weight.z * x;
        held[4 * h + 3] += weight.w * x;
      }
    }
  }
  write_value_partials(held, sums, partials, params, group, thread_index, simdgroup, lane);
}
