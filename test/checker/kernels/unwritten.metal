// Reads of memory that nobody wrote.
#include <metal_stdlib>
using namespace metal;

// case: first_turn_reads_what_the_last_would_have_left
// why: The running maximum in threadgroup memory is read before the first block has set it.
// run: first_turn_reads_what_the_last_would_have_left threads 32
// buffer: out float 32 output
// buffer: in float 64 ramp
// must: error uninitialized_threadgroup A read of most size 4
kernel void first_turn_reads_what_the_last_would_have_left(device float *out, device const float *in,
                                                           uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float most[1];
  float sum = 0;
#pragma clang loop unroll(disable)
  for (uint block = 0; block < 2; ++block) {
    const float before = most[0]; // A
    const float now = max(before, simd_max(in[block * 32 + lane]));
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) most[0] = now;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    sum += now;
  }
  out[lane] = sum;
}

// case: first_turn_initialised
// why: The same, set before the loop.
// run: first_turn_initialised threads 32
// buffer: out float 32 output
// buffer: in float 64 ramp
// silent:
kernel void first_turn_initialised(device float *out, device const float *in, uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float most[1];
  if (lane == 0) most[0] = -1e30f;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint block = 0; block < 2; ++block) {
    const float now = max(most[0], simd_max(in[block * 32 + lane]));
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) most[0] = now;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    sum += now;
  }
  out[lane] = sum;
}

// case: tail_rows_of_a_tile_not_filled
// why: The last tile has 20 rows of 32; the guard skips the others and the use takes all 32.
// from: ggml-org/llama.cpp#27450
// run: tail_rows_of_a_tile_not_filled threads 32 groups 2
// buffer: out float 64 output
// buffer: in float 52 ramp
// must: error uninitialized_threadgroup A read of tile at 80 size 4 times 12
kernel void tail_rows_of_a_tile_not_filled(device float *out, device const float *in,
                                           uint i [[thread_index_in_threadgroup]],
                                           uint g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[32];
  if (g * 32 + i < 52) tile[i] = in[g * 32 + i];
  out[g * 32 + i] = tile[i]; // A
}

// case: tail_rows_of_a_tile_zeroed
// why: The same, filled with zeros.
// run: tail_rows_of_a_tile_zeroed threads 32 groups 2
// buffer: out float 64 output
// buffer: in float 52 ramp
// silent:
kernel void tail_rows_of_a_tile_zeroed(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]],
                                       uint g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[32];
  tile[i] = g * 32 + i < 52 ? in[g * 32 + i] : 0;
  out[g * 32 + i] = tile[i];
}

// case: partials_that_the_first_pass_skipped
// why: Pass 1 writes 40 partials, pass 2 takes them 32 at a time and so 64 of them.
// from: ml-explore/mlx#3875
// run: write_partials threads 40
// run: merge_partials threads 32
// buffer: out float 32 output
// buffer: partials float 64 unwritten
// buffer: in float 64 ramp
// must: error uninitialized_device A read of partials at 160 size 4 times 24

// case: partials_that_fill_their_blocks
// why: The same kernels with 64 partials.
// run: write_partials threads 64
// run: merge_partials threads 32
// buffer: out float 32 output
// buffer: partials float 64 unwritten
// buffer: in float 64 ramp
// silent:
kernel void write_partials(device float *partials, device const float *in, uint i [[thread_position_in_grid]]) {
  partials[i] = in[i] * 2;
}
kernel void merge_partials(device float *out, device const float *partials, uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
#pragma clang loop unroll(disable)
  for (uint block = 0; block < 64; block += 32) {
    sum += partials[block + lane]; // A
  }
  out[lane] = simd_sum(sum);
}

// case: stale_partial_of_an_earlier_submission
// why: The host filled the scratch: whatever a pass forgets to write is old, not unwritten.
// run: write_half_of_the_partials threads 32
// run: merge_all_partials threads 32
// buffer: out float 32 output
// buffer: partials float 64 0
// buffer: in float 64 ramp
// unseen: Values of the host are values; the suites poison scratch before they run for this reason.
// silent:
kernel void write_half_of_the_partials(device float *partials, device const float *in, uint i [[thread_position_in_grid]]) {
  partials[i] = in[i];
}
kernel void merge_all_partials(device float *out, device const float *partials, uint i [[thread_position_in_grid]]) {
  out[i] = partials[i] + partials[32 + i];
}

// case: local_array_never_filled
// why: An accumulator array is used with += and never set to zero.
// run: local_array_never_filled threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// buffer: which uint 1 3
// must: warning uninitialized_stack A read times 32
kernel void local_array_never_filled(device float *out, device const float *in, device const uint *which,
                                     uint i [[thread_position_in_grid]]) {
  float sums[8];
#pragma clang loop unroll(disable)
  for (uint k = 0; k < which[0]; ++k) sums[k] = in[i];
  out[i] = sums[which[0] + i % 2]; // A
}

// case: local_array_filled
// why: The same, initialised.
// run: local_array_filled threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// buffer: which uint 1 3
// silent:
kernel void local_array_filled(device float *out, device const float *in, device const uint *which,
                               uint i [[thread_position_in_grid]]) {
  float sums[8] = {0};
#pragma clang loop unroll(disable)
  for (uint k = 0; k < which[0]; ++k) sums[k] = in[i];
  out[i] = sums[which[0] + i % 2];
}

// case: output_used_as_accumulator
// why: The kernel adds to an output that nobody cleared.
// run: output_used_as_accumulator threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: error uninitialized_device A read of out at 0 size 4 times 32
kernel void output_used_as_accumulator(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  out[i] += in[i]; // A
}
