// What every decode kernel shares: parameters, row geometry, partition bounds and the guard for rows without a finite
// score. HEAD_DIM (width of a head, a multiple of 32) and HEADS_PER_KV (query heads that share a KV head, 1 to 8) are
// preprocessor macros set by the route's table.
//
// Layouts: q [head, HEAD_DIM], k and v [token, kv_head, HEAD_DIM], out [head, HEAD_DIM], lse [head], all float.
// Rows of k and v at `live` and beyond are never read.
#ifndef LOCKSTEP_GQA_DECODE_H
#define LOCKSTEP_GQA_DECODE_H

#if !defined(HEAD_DIM) || !defined(HEADS_PER_KV)
#error "HEAD_DIM and HEADS_PER_KV must be defined by the host"
#endif

struct DecodeParams {
  uint heads;
  uint kv_heads;
  uint live;
  uint partitions;
  float scale;
};

// A row as float4 quads. Lane l of a simdgroup owns quads l, l + 32, ...: neighbours read neighbouring 16 bytes.
constant constexpr uint ROW_QUADS = HEAD_DIM / 4;
constant constexpr uint LANE_QUADS = (ROW_QUADS + 31) / 32;
constant constexpr uint SIMD_WIDTH = 32;

// First token of partition `index`: the ceil rule, min(live, index * ceil(live / partitions)).
inline uint partition_start(uint live, uint partitions, uint index) {
  const uint tokens = (live + partitions - 1) / partitions;
  return min(live, index * tokens);
}

// Quad index of the row of `token` and `kv_head` in k or v. 64 bits: 131,072 tokens x 4 heads x 512 is near 2^28, and
// larger caches pass 2^32.
inline ulong row_quad(uint token, uint kv_heads, uint kv_head) {
  return ((ulong)token * kv_heads + kv_head) * ROW_QUADS;
}

// What to subtract before exp. With no finite score yet, -inf - -inf would be NaN; with 0 every weight is exp(-inf) = 0.
inline float softmax_base(float maximum) {
  return maximum == -INFINITY ? 0.0f : maximum;
}

// max of the four lanes of a vector.
inline float max_of(float4 x) {
  return max(max(x.x, x.y), max(x.z, x.w));
}

inline float sum_of(float4 x) {
  return (x.x + x.y) + (x.z + x.w);
}

// Four sums over a simdgroup with one call.
inline float4 simd_sum_of_four(float4 x) {
  return simd_sum(x);
}

// One maximum over a threadgroup of up to 32 simdgroups. `slots` holds one float per simdgroup.
inline float threadgroup_max(float x, threadgroup float* slots, uint simdgroups, uint simdgroup, uint lane) {
  x = simd_max(x);
  if (lane == 0) {
    slots[simdgroup] = x;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x = simd_max(lane < simdgroups ? float(slots[lane]) : -INFINITY);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return x;
}

// One sum over a threadgroup of up to 32 simdgroups, in an order that does not depend on timing.
inline float threadgroup_sum(float x, threadgroup float* slots, uint simdgroups, uint simdgroup, uint lane) {
  x = simd_sum(x);
  if (lane == 0) {
    slots[simdgroup] = x;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x = simd_sum(lane < simdgroups ? float(slots[lane]) : 0.0f);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return x;
}

#endif
