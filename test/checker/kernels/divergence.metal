// Barriers and collectives that not all threads reach.
#include <metal_stdlib>
using namespace metal;

// case: barrier_in_a_branch_by_lane
// why: Half of the threads wait in the branch, the others wait at the barrier behind it.
// run: barrier_in_a_branch_by_lane threads 64
// buffer: out float 64 unwritten
// buffer: in float 64 ramp
// must: error divergent_barrier A barrier, B barrier
kernel void barrier_in_a_branch_by_lane(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i];
  if (i < 32) {
    threadgroup_barrier(mem_flags::mem_threadgroup); // A
  }
  threadgroup_barrier(mem_flags::mem_threadgroup); // B
  out[i] = tile[63 - i];
}

// case: barrier_in_both_branches
// why: Every thread executes a barrier, but not the same one.
// run: barrier_in_both_branches threads 64
// buffer: out float 64 unwritten
// buffer: in float 64 ramp
// must: error divergent_barrier A barrier, B barrier
kernel void barrier_in_both_branches(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  if (i % 2 == 0) {
    tile[i] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup); // A
  } else {
    tile[i] = -in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup); // B
  }
  out[i] = tile[63 - i];
}

// case: barrier_in_a_branch_that_others_skip
// why: The threads of the tail skip the loop body and its barrier and are done: the others go on without them.
// run: barrier_in_a_branch_that_others_skip threads 64
// buffer: out float 64 output
// buffer: in float 40 ramp
// must: warning exited_before_barrier A barrier, - exit
kernel void barrier_in_a_branch_that_others_skip(device float *out, device const float *in,
                                                 uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  if (i < 40) {
    tile[i] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup); // A
    out[i] = tile[39 - i];
  } else {
    out[i] = 0;
  }
}

// case: return_before_a_barrier
// why: Threads of the tail return early: right on Apple GPUs, undefined by the words of the specification.
// run: return_before_a_barrier threads 64
// buffer: out float 40 output
// buffer: in float 40 ramp
// must: warning exited_before_barrier A barrier, - exit
kernel void return_before_a_barrier(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  if (i >= 40) return;
  tile[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup); // A
  out[i] = tile[39 - i];
}

// case: skipped_instead_of_returned
// why: The same, portable.
// run: skipped_instead_of_returned threads 64
// buffer: out float 40 output
// buffer: in float 40 ramp
// silent:
kernel void skipped_instead_of_returned(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  if (i < 40) tile[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 40) out[i] = tile[39 - i];
}

// case: whole_threadgroup_returns
// why: All threads of a threadgroup return together, before any barrier: legal and usual.
// run: whole_threadgroup_returns threads 64 groups 3
// buffer: out float 128 output
// buffer: in float 128 ramp
// silent:
kernel void whole_threadgroup_returns(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]],
                                      uint g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[64];
  if (g * 64 >= 128) return;
  tile[i] = in[g * 64 + i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[g * 64 + i] = tile[63 - i];
}

// case: collective_in_a_branch_by_lane
// why: The sum of a branch is the sum of the lanes that are in it; on other devices the others may be waited for.
// run: collective_in_a_branch_by_lane threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: warning divergent_collective A collective, B collective
kernel void collective_in_a_branch_by_lane(device float *out, device const float *in,
                                           uint lane [[thread_index_in_simdgroup]]) {
  float value = in[lane];
  if (lane < 20) {
    value = simd_sum(value); // A
  }
  out[lane] = simd_max(value); // B
}

// case: sum_after_early_return
// why: The tail has returned, and simd_sum is over the lanes that are left: 20 of 32.
// run: sum_after_early_return threads 32
// buffer: out float 20 output
// buffer: in float 20 ramp
// must: warning divergent_collective A collective, - exit
kernel void sum_after_early_return(device float *out, device const float *in, uint lane [[thread_index_in_simdgroup]]) {
  if (lane >= 20) return;
  const float sum = simd_sum(in[lane]); // A
  out[lane] = sum;
}

// case: sum_over_all_lanes_with_zeros
// why: The tail stays and brings 0.
// run: sum_over_all_lanes_with_zeros threads 32
// buffer: out float 20 output
// buffer: in float 20 ramp
// silent:
kernel void sum_over_all_lanes_with_zeros(device float *out, device const float *in,
                                          uint lane [[thread_index_in_simdgroup]]) {
  const float sum = simd_sum(lane < 20 ? in[lane] : 0);
  if (lane < 20) out[lane] = sum;
}

// case: collective_in_a_loop_of_different_lengths
// why: Lanes take 1 to 4 turns and meet at a simd_sum in each: the later turns have fewer lanes.
// run: collective_in_a_loop_of_different_lengths threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: warning divergent_collective A collective, B collective
kernel void collective_in_a_loop_of_different_lengths(device float *out, device const float *in,
                                                      uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
#pragma clang loop unroll(disable)
  for (uint turn = 0; turn <= lane / 8; ++turn) {
    sum += simd_sum(in[lane]); // A
  }
  out[lane] = simd_max(sum); // B
}

// case: collective_in_a_loop_of_equal_lengths
// why: The same number of turns for all lanes, masked by value.
// run: collective_in_a_loop_of_equal_lengths threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// silent:
kernel void collective_in_a_loop_of_equal_lengths(device float *out, device const float *in,
                                                  uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
  for (uint turn = 0; turn < 4; ++turn) sum += simd_sum(turn <= lane / 8 ? in[lane] : 0);
  out[lane] = sum;
}

// case: collective_by_simdgroup
// why: The branch is taken by whole simdgroups: their lanes are all there.
// run: collective_by_simdgroup threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void collective_by_simdgroup(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]],
                                    uint s [[simdgroup_index_in_threadgroup]]) {
  float value = in[i];
  if (s == 0) value = simd_sum(value);
  out[i] = value;
}

// case: incomplete_simdgroup
// why: A threadgroup of 40 threads has a second simdgroup of 8 lanes. They are all there: nothing diverges.
// run: incomplete_simdgroup threads 40
// buffer: out float 40 output
// buffer: in float 40 ramp
// silent:
kernel void incomplete_simdgroup(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[40];
  tile[i] = simd_sum(in[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = tile[39 - i];
}

// case: shuffle_from_a_lane_that_is_not_there
// why: Lanes of the branch read a value of a lane that is not in it.
// run: shuffle_from_a_lane_that_is_not_there threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: warning divergent_collective A collective, B collective
kernel void shuffle_from_a_lane_that_is_not_there(device float *out, device const float *in,
                                                  uint lane [[thread_index_in_simdgroup]]) {
  float value = in[lane];
  if (lane < 16) {
    value = simd_shuffle_xor(value, 1); // A
  }
  out[lane] = simd_sum(value); // B
}
