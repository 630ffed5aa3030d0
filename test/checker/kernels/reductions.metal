// Reductions in threadgroup memory and by simdgroup functions.
#include <metal_stdlib>
using namespace metal;

// case: tree_whose_last_steps_rely_on_lockstep
// why: The tree drops its barriers once only one simdgroup is left, the old habit of warp-synchronous code.
// run: tree_whose_last_steps_rely_on_lockstep threads 64
// buffer: out float 1 output
// buffer: in float 64 ramp
// must: error lockstep_exchange A read, A write of sums size 4
kernel void tree_whose_last_steps_rely_on_lockstep(device float *out, device const float *in,
                                                   uint i [[thread_index_in_threadgroup]]) {
  threadgroup float sums[64];
  sums[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 32) sums[i] += sums[i + 32];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 16; step > 0; step /= 2) {
    if (i < step) sums[i] += sums[i + step]; // A
  }
  if (i == 0) out[0] = sums[0];
}

// case: tree_with_simdgroup_barriers
// why: The last steps with simdgroup_barrier, executed by all lanes.
// run: tree_with_simdgroup_barriers threads 64
// buffer: out float 1 output
// buffer: in float 64 ramp
// flavours: check, check+lockstep
// silent:
kernel void tree_with_simdgroup_barriers(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float sums[64];
  sums[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 32) sums[i] += sums[i + 32];
  for (uint step = 16; step > 0; step /= 2) {
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (i < step) sums[i] += sums[i + step];
  }
  if (i == 0) out[0] = sums[0];
}

// case: tree_with_a_barrier_too_few
// why: One barrier before the loop instead of one a step: steps of 64 and 32 cross simdgroups.
// run: tree_with_a_barrier_too_few threads 128
// buffer: out float 1 output
// buffer: in float 128 ramp
// must: error race A read, A write of sums size 4
// must: error lockstep_exchange A read, A write of sums size 4
kernel void tree_with_a_barrier_too_few(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float sums[128];
  sums[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma clang loop unroll(disable)
  for (uint step = 64; step > 0; step /= 2) {
    if (i < step) sums[i] += sums[i + step]; // A
  }
  if (i == 0) out[0] = sums[0];
}

// case: tree_with_barriers
// why: A barrier at every step, outside of the branch.
// run: tree_with_barriers threads 128
// buffer: out float 1 output
// buffer: in float 128 ramp
// silent:
kernel void tree_with_barriers(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float sums[128];
  sums[i] = in[i];
  for (uint step = 64; step > 0; step /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < step) sums[i] += sums[i + step];
  }
  if (i == 0) out[0] = sums[0];
}

// case: two_level_reduction
// why: simd_sum, one value a simdgroup in threadgroup memory, simd_sum again: the usual form, with its barrier.
// run: two_level_reduction threads 128
// buffer: out float 128 output
// buffer: in float 128 ramp
// flavours: check, check+lockstep
// silent:
kernel void two_level_reduction(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]],
                                uint lane [[thread_index_in_simdgroup]], uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float sums[32];
  if (s == 0) sums[lane] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float sum = simd_sum(in[i]);
  if (lane == 0) sums[s] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = in[i] / simd_sum(sums[lane]);
}

// case: two_level_reduction_with_unset_tail
// why: Four simdgroups fill 4 of the 32 partial sums; the second simd_sum takes all 32.
// run: two_level_reduction_with_unset_tail threads 128
// buffer: out float 128 output
// buffer: in float 128 ramp
// must: error uninitialized_threadgroup A read of sums size 4 times 112
kernel void two_level_reduction_with_unset_tail(device float *out, device const float *in,
                                                uint i [[thread_index_in_threadgroup]],
                                                uint lane [[thread_index_in_simdgroup]],
                                                uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float sums[32];
  const float sum = simd_sum(in[i]);
  if (lane == 0) sums[s] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = in[i] / simd_sum(sums[lane]); // A
}

// case: second_reduction_over_the_same_array
// why: Maximum, then sum through the same partials: the sums overwrite maxima that slower simdgroups
//   still read, and slower lanes too.
// from: ggml-org/llama.cpp#3057, ml-explore/mlx#2340
// run: second_reduction_over_the_same_array threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of partials size 4
// must: warning lockstep_exchange A write, B read of partials size 4
kernel void second_reduction_over_the_same_array(device float *out, device const float *in,
                                                 uint i [[thread_index_in_threadgroup]],
                                                 uint lane [[thread_index_in_simdgroup]],
                                                 uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partials[2];
  const float first = simd_max(in[i]);
  if (lane == 0) partials[s] = first;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float most = max(partials[0], partials[1]); // B
  const float sum = simd_sum(in[i] - most);
  if (lane == 0) partials[s] = sum; // A
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = partials[0] + partials[1];
}
