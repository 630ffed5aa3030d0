// The stages that three_stage and three_stage_staged have in common: score, normalise and reduce.
#ifndef LOCKSTEP_GQA_STAGES_H
#define LOCKSTEP_GQA_STAGES_H

constant constexpr uint SCORE_TILE = 4;     // tokens staged at a time: 8,192 bytes at HEAD_DIM 512
constant constexpr uint SCORE_BLOCK = 64;   // tokens of one threadgroup
constant constexpr uint NORMALISE_THREADS = 1024;
constant constexpr uint VALUE_PARTITIONS = 16;
constant constexpr uint VALUE_THREADS = 256;
constant constexpr uint VALUE_SIMDGROUPS = VALUE_THREADS / SIMD_WIDTH;
constant constexpr uint TILE_QUADS = 8;     // a dimension tile of 32 floats

// scores[head, token] = scale * q[head] . k[token]. A threadgroup per (KV head, block of tokens), one simdgroup per
// query head of that KV head; each row of k is staged once for all of them.
kernel void gqa_score(
    device const float* q [[buffer(0)]],
    device const float* k [[buffer(1)]],
    device float* scores [[buffer(2)]],
    constant DecodeParams& params [[buffer(3)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float4 rows[SCORE_TILE * ROW_QUADS];

  const uint kv_head = group.x;
  const uint head = kv_head * HEADS_PER_KV + simdgroup;
  const uint begin = min(params.live, group.y * SCORE_BLOCK);
  const uint end = min(params.live, begin + SCORE_BLOCK);
  device const float4* query = (device const float4*)q + (ulong)head * ROW_QUADS;
  device const float4* keys = (device const float4*)k;
  device float* row_scores = scores + (ulong)head * params.live;

  float4 mine[LANE_QUADS];
  for (uint i = 0; i < LANE_QUADS; ++i) {
    const uint quad = i * SIMD_WIDTH + lane;
    mine[i] = float4(0.0f);
    if (quad < ROW_QUADS) {
      mine[i] = query[quad];
    }
  }

  for (uint token = begin; token < end; token += SCORE_TILE) {
    const uint count = min(SCORE_TILE, end - token);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = thread_index; i < SCORE_TILE * ROW_QUADS; i += HEADS_PER_KV * SIMD_WIDTH) {
      const uint row = i / ROW_QUADS;
      float4 x = float4(0.0f);
      if (row < count) {
        x = keys[row_quad(token + row, params.kv_heads, kv_head) + i % ROW_QUADS];
      }
      rows[i] = x;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    float4 score = float4(0.0f);
    for (uint i = 0; i < LANE_QUADS; ++i) {
      const uint quad = i * SIMD_WIDTH + lane;
      if (quad < ROW_QUADS) {
        score += float4(
            dot(mine[i], rows[quad]),
            dot(mine[i], rows[ROW_QUADS + quad]),
            dot(mine[i], rows[2 * ROW_QUADS + quad]),
            dot(mine[i], rows[3 * ROW_QUADS + quad]));
      }
    }
    score = simd_sum_of_four(score) * params.scale;
    if (lane < count) {
      row_scores[token + lane] = score[lane];
    }
  }
}

// A threadgroup per query head: the maximum of the full row, exp and sum, scale, in place; and lse[head].
kernel void gqa_normalise(
    device float* scores [[buffer(0)]],
    device float* lse [[buffer(1)]],
    constant DecodeParams& params [[buffer(2)]],
    uint head [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float slots[NORMALISE_THREADS / SIMD_WIDTH];

  device float* row = scores + (ulong)head * params.live;
  float maximum = -INFINITY;
  for (uint token = thread_index; token < params.live; token += NORMALISE_THREADS) {
    maximum = max(maximum, row[token]);
  }
  maximum = threadgroup_max(maximum, slots, NORMALISE_THREADS / SIMD_WIDTH, simdgroup, lane);

  const float base = softmax_base(maximum);
  float sum = 0.0f;
  for (uint token = thread_index; token < params.live; token += NORMALISE_THREADS) {
    const float weight = exp(row[token] - base);
    row[token] = weight;
    sum += weight;
  }
  sum = threadgroup_sum(sum, slots, NORMALISE_THREADS / SIMD_WIDTH, simdgroup, lane);

  // A row without a finite score keeps its zero weights.
  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
  for (uint token = thread_index; token < params.live; token += NORMALISE_THREADS) {
    row[token] *= inverse;
  }
  if (thread_index == 0) {
    lse[head] = maximum + log(sum);
  }
}

// out[i] = the sum of the partials in partition order.
kernel void gqa_reduce(
    device const float* partials [[buffer(0)]],
    device float* out [[buffer(1)]],
    constant DecodeParams& params [[buffer(2)]],
    uint index [[thread_position_in_grid]]) {
  const uint elements = params.heads * HEAD_DIM;
  if (index >= elements) {
    return;
  }
  float sum = 0.0f;
  for (uint partition = 0; partition < VALUE_PARTITIONS; ++partition) {
    sum += partials[(ulong)partition * elements + index];
  }
  out[index] = sum;
}

// Adds up what the lanes and simdgroups of a value threadgroup hold for one dimension tile and writes the partials.
// `held[g]` is the lane's quad (column lane % 8) of query head g; lanes with the same column hold other tokens.
inline void write_value_partials(
    thread float4* held,
    threadgroup float4* sums,
    device float* partials,
    constant DecodeParams& params,
    uint3 group,
    uint thread_index,
    uint simdgroup,
    uint lane) {
  for (uint g = 0; g < HEADS_PER_KV; ++g) {
    float4 x = held[g];
    x += simd_shuffle_xor(x, 8);
    x += simd_shuffle_xor(x, 16);
    if (lane < TILE_QUADS) {
      sums[(simdgroup * HEADS_PER_KV + g) * TILE_QUADS + lane] = x;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (thread_index < HEADS_PER_KV * TILE_QUADS) {
    float4 x = float4(0.0f);
    for (uint i = 0; i < VALUE_SIMDGROUPS; ++i) {
      x += sums[i * HEADS_PER_KV * TILE_QUADS + thread_index];
    }
    const uint head = group.z * HEADS_PER_KV + thread_index / TILE_QUADS;
    const ulong row = (ulong)group.y * params.heads + head;
    ((device float4*)partials)[row * ROW_QUADS + group.x * TILE_QUADS + thread_index % TILE_QUADS] = x;
  }
}

#endif
