// Small kernels with the shape of real ones: what must be silent, and each of their usual mistakes.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint D = 32;
constant constexpr uint N = 40;

// case: decode_vector
// why: One query, a simdgroup for every second token, partial results merged in threadgroup memory behind barriers.
// run: decode_vector threads 64
// buffer: out float 32 output
// buffer: q float 32 0.25,-0.5,1
// buffer: k float 1280 0.5,1,-1,0.25,0.125
// buffer: v float 1280 1,2,-3,4,5,-6,7
// flavours: check, check+lockstep
// silent:
kernel void decode_vector(device float *out, device const float *q, device const float *k, device const float *v,
                          uint lane [[thread_index_in_simdgroup]], uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float numerators[2][D];
  threadgroup float most_of[2];
  threadgroup float sum_of[2];
  float most = -INFINITY;
  float sum = 0;
  float numerator = 0;
  for (uint token = s; token < N; token += 2) {
    const float score = simd_sum(q[lane] * k[token * D + lane]);
    const float now = max(most, score);
    const float rescale = exp(most - now);
    const float weight = exp(score - now);
    sum = sum * rescale + weight;
    numerator = numerator * rescale + weight * v[token * D + lane];
    most = now;
  }
  numerators[s][lane] = numerator;
  if (lane == 0) {
    most_of[s] = most;
    sum_of[s] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (s == 0) {
    const float greatest = max(most_of[0], most_of[1]);
    const float first = exp(most_of[0] - greatest);
    const float second = exp(most_of[1] - greatest);
    const float total = first * sum_of[0] + second * sum_of[1];
    out[lane] = (first * numerators[0][lane] + second * numerators[1][lane]) / total;
  }
}

// case: decode_staged_keys
// why: All threads stage 8 keys, both simdgroups use them for their own head, two barriers a block.
// run: decode_staged_keys threads 64
// buffer: out float 64 output
// buffer: q float 64 0.25,-0.5,1
// buffer: k float 1280 0.5,1,-1,0.25,0.125
// flavours: check, check+lockstep
// silent:

// case: decode_staged_keys_last_block_short
// why: The same kernel on a cache of 36 tokens: the guard of the last block is the only thing between it and the end.
// run: decode_staged_keys_unguarded threads 64
// buffer: out float 64 output
// buffer: q float 64 0.25,-0.5,1
// buffer: k float 1152 0.5,1,-1,0.25,0.125
// must: error out_of_bounds A read of k size 4 times 128
kernel void decode_staged_keys(device float *out, device const float *q, device const float *k,
                               uint i [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                               uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float keys[8][D];
  float sum = 0;
  for (uint block = 0; block < N; block += 8) {
    for (uint e = i; e < 8 * D; e += 64) keys[e / D][e % D] = k[block * D + e];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint token = 0; token < 8; ++token) sum += simd_sum(q[s * D + lane] * keys[token][lane]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = sum;
}
kernel void decode_staged_keys_unguarded(device float *out, device const float *q, device const float *k,
                                         uint i [[thread_index_in_threadgroup]],
                                         uint lane [[thread_index_in_simdgroup]],
                                         uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float keys[8][D];
  float sum = 0;
#pragma clang loop unroll(disable)
  for (uint block = 0; block < N; block += 8) {
#pragma clang loop unroll(disable)
    for (uint e = i; e < 8 * D; e += 64) {
      keys[e / D][e % D] = k[block * D + e]; // A
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint token = 0; token < 8; ++token) sum += simd_sum(q[s * D + lane] * keys[token][lane]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = sum;
}

// case: paged_keys
// why: Pages of 8 tokens through a block table, the last page partly filled; what it leaves unset is never read.
// run: paged_keys threads 32
// buffer: out float 20 output
// buffer: table int 3 2,0,1
// buffer: pages float 768 0.5 first 640
// buffer: q float 32 1,-1,2
// silent:

// case: paged_keys_past_the_live_tokens
// why: The same loop up to whole pages: 24 tokens instead of 20, the last 4 of which nobody has written.
// run: paged_keys_rounded_up threads 32
// buffer: out float 24 output
// buffer: table int 3 2,0,1
// buffer: pages float 768 0.5 first 384
// buffer: q float 32 1,-1,2
// must: error uninitialized_device A read of pages size 4
kernel void paged_keys(device float *out, device const int *table, device const float *pages, device const float *q,
                       uint lane [[thread_index_in_simdgroup]]) {
  for (uint token = 0; token < 20; ++token) {
    const uint page = uint(table[token / 8]);
    if (token / 8 == 0 && page != 2) return;
    const uint row = token < 16 ? token % 16 : token - 16;
    const float score = simd_sum(q[lane] * pages[row * D + lane]);
    if (lane == 0) out[token] = score;
  }
}
kernel void paged_keys_rounded_up(device float *out, device const int *table, device const float *pages,
                                  device const float *q, uint lane [[thread_index_in_simdgroup]]) {
#pragma clang loop unroll(disable)
  for (uint token = 0; token < 24; ++token) {
    const uint page = uint(table[token / 8]);
    const float key = pages[(page * 8 + token % 8) * D + lane]; // A
    const float score = simd_sum(q[lane] * key);
    if (lane == 0) out[token] = score;
  }
}

// case: layer_norm
// why: Mean and variance by two reductions through the same partials, a barrier on either side of each.
// from: ml-explore/mlx#2340
// run: layer_norm threads 64 groups 2
// buffer: out float 128 output
// buffer: in float 128 ramp
// silent:
kernel void layer_norm(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]],
                       uint g [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                       uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partials[2];
  const float value = in[g * 64 + i];
  const float sum = simd_sum(value);
  if (lane == 0) partials[s] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float mean = (partials[0] + partials[1]) / 64;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float squares = simd_sum((value - mean) * (value - mean));
  if (lane == 0) partials[s] = squares;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[g * 64 + i] = (value - mean) * rsqrt((partials[0] + partials[1]) / 64 + 1e-5f);
}

// case: rope_in_place
// why: Pairs (i, i + 16) are rotated in place by the thread that owns both.
// run: rope_in_place threads 16 groups 2
// buffer: x float 64 ramp
// silent:

// case: rope_in_place_by_element
// why: One thread an element: each reads the partner that another thread overwrites.
// run: rope_in_place_by_element threads 32 groups 2
// buffer: x float 64 ramp
// must: error lockstep_exchange A read, B write of x size 4
// may: error lockstep_exchange A write, B write of x size 4
kernel void rope_in_place(device float *x, uint i [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
  device float *row = x + g * 32;
  const float a = row[i];
  const float b = row[i + 16];
  row[i] = a * 0.8f - b * 0.6f;
  row[i + 16] = a * 0.6f + b * 0.8f;
}
kernel void rope_in_place_by_element(device float *x, uint i [[thread_index_in_threadgroup]],
                                     uint g [[threadgroup_position_in_grid]]) {
  device float *row = x + g * 32;
  const float partner = row[i ^ 16]; // A
  row[i] = row[i] * 0.8f + (i < 16 ? -partner : partner) * 0.6f; // B
}
