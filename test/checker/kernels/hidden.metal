// Faults behind something that looks right, and what is right although it looks wrong.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// case: atomic_store_gives_a_value
// why: An atomic store needs no value before it; a checker that takes every atomic for a read would complain.
// run: atomic_store_gives_a_value threads 32
// buffer: out uint 32 output
// buffer: counts uint 32 unwritten
// silent:
kernel void atomic_store_gives_a_value(device uint *out, device atomic_uint *counts, uint i [[thread_position_in_grid]]) {
  atomic_store_explicit(&counts[i], i, memory_order_relaxed);
  out[i] = atomic_fetch_add_explicit(&counts[i], 1u, memory_order_relaxed);
}

// case: atomic_over_device_scratch_that_nobody_cleared
// why: The host forgot to clear the counters.
// run: atomic_over_device_scratch_that_nobody_cleared threads 32
// buffer: counts uint 32 unwritten
// must: error uninitialized_device A atomic of counts at 0 size 4 times 32
kernel void atomic_over_device_scratch_that_nobody_cleared(device atomic_uint *counts, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&counts[i], 1u, memory_order_relaxed); // A
}

// case: plain_clear_behind_a_simdgroup_barrier
// why: The simdgroup that clears is ordered with itself; the other one counts already.
// run: plain_clear_behind_a_simdgroup_barrier threads 64
// buffer: out uint 1 output
// must: error race A write, B atomic of count at 0 size 4
// may: error uninitialized_threadgroup B atomic of count at 0 size 4
kernel void plain_clear_behind_a_simdgroup_barrier(device uint *out, uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint count;
  if (i == 32) count = 0; // A
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 32 || i == 33) {
    atomic_fetch_add_explicit(reinterpret_cast<threadgroup atomic_uint *>(&count), 1u, memory_order_relaxed); // B
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) out[0] = count;
}

// case: fourth_component_never_written
// why: The last of four components is not staged.
// run: fourth_component_never_written threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// unseen: The compiler reads four components where the kernel wants three, so the last is not asked for.
// silent:
kernel void fourth_component_never_written(device float *out, device const float *in,
                                           uint i [[thread_index_in_threadgroup]]) {
  threadgroup float4 tile[32];
  threadgroup float *flat = reinterpret_cast<threadgroup float *>(tile);
  for (uint c = 0; c < 3; ++c) flat[i * 4 + c] = in[i];
  out[i] = dot(tile[i], float4(1));
}

// case: third_component_never_written
// why: One component more is missing.
// run: third_component_never_written threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: error uninitialized_threadgroup A read of tile at 0 size 16 times 32
kernel void third_component_never_written(device float *out, device const float *in,
                                          uint i [[thread_index_in_threadgroup]]) {
  threadgroup float4 tile[32];
  threadgroup float *flat = reinterpret_cast<threadgroup float *>(tile);
  for (uint c = 0; c < 2; ++c) flat[i * 4 + c] = in[i];
  const float4 row = tile[i]; // A
  out[i] = dot(row, float4(1));
}

// case: equal_matrices_from_two_simdgroups
// why: Both simdgroups store the same tile to the same rows: benign, and told apart from tiles that differ.
// run: equal_matrices_from_two_simdgroups threads 64
// buffer: out float 128 output
// buffer: in float 64 ramp
// must: info same_value_write A write, A write of tile times 32
kernel void equal_matrices_from_two_simdgroups(device float *out, device const float *in,
                                               uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  simdgroup_float8x8 a;
  simdgroup_load(a, in, 8);
  simdgroup_store(a, tile, 8); // A
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = tile[i];
  out[64 + i] = tile[63 - i];
}

// case: matrix_store_behind_the_end
// why: The output has 12 rows and two tiles of 8 are stored whole.
// run: matrix_store_behind_the_end threads 32
// buffer: out float 96 output
// buffer: in float 128 ramp
// must: error out_of_bounds A write of out
kernel void matrix_store_behind_the_end(device float *out, device const float *in) {
  simdgroup_float8x8 a, b;
  simdgroup_load(a, in, 8);
  simdgroup_load(b, in + 64, 8);
  simdgroup_store(a, out, 8);
  simdgroup_store(b, out + 64, 8); // A
}

// case: nan_in_a_matrix
// why: A tile of 0 / 0 is stored as a matrix: the thread that divided is named, and the store.
// run: nan_in_a_matrix threads 32
// buffer: out float 64 output
// buffer: in float 32 0
// must: error nan_created A arithmetic, B write of out
kernel void nan_in_a_matrix(device float *out, device const float *in, uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 a = make_filled_simdgroup_matrix<float, 8, 8>(1);
  const float ratio = in[lane] / in[31 - lane]; // A
  a.thread_elements()[0] = ratio;
  simdgroup_store(a, out, 8); // B
}

// case: barrier_in_a_loop_of_different_lengths
// why: Simdgroup 0 has one block, simdgroup 1 two: the second barrier of one meets the barrier behind the loop.
// run: barrier_in_a_loop_of_different_lengths threads 64
// buffer: out float 64 unwritten
// buffer: in float 64 ramp
// must: error divergent_barrier A barrier, B barrier
// may: error race C write, C write of tile
kernel void barrier_in_a_loop_of_different_lengths(device float *out, device const float *in,
                                                   uint i [[thread_index_in_threadgroup]],
                                                   uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  for (uint block = 0; block <= s; ++block) {
    tile[i] = in[i] + block; // C
    threadgroup_barrier(mem_flags::mem_threadgroup); // A
  }
  threadgroup_barrier(mem_flags::mem_threadgroup); // B
  out[i] = tile[63 - i];
}

// case: barrier_in_a_loop_of_equal_lengths
// why: The same with one length for all.
// run: barrier_in_a_loop_of_equal_lengths threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void barrier_in_a_loop_of_equal_lengths(device float *out, device const float *in,
                                               uint i [[thread_index_in_threadgroup]],
                                               uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = 0;
  for (uint block = 0; block < 2; ++block) {
    if (block <= s) tile[i] = in[i] + block;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = tile[63 - i];
}

// case: race_inside_a_helper
// why: Staging and use stand in functions: the lines are theirs, not those of the calls.
// run: race_inside_a_helper threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile size 4 times 64
// must: error uninitialized_threadgroup B read of tile size 4 times 32
void stage(threadgroup float *tile, device const float *in, uint i) {
  tile[i] = in[i]; // A
}
float mirrored(threadgroup const float *tile, uint i) {
  return tile[63 - i]; // B
}
kernel void race_inside_a_helper(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  stage(tile, in, i);
  out[i] = mirrored(tile, i);
}

// case: far_behind_the_end
// why: An index of 2,000,000,000 floats lies 8 GB behind its buffer, and is still laid to it.
// run: far_behind_the_end threads 32
// buffer: out float 32 output
// buffer: in float 64 ramp
// buffer: other float 64 ramp
// must: error out_of_bounds A read of in at 8000000000 size 4 times 32
kernel void far_behind_the_end(device float *out, device const float *in, device const float *other,
                               uint i [[thread_position_in_grid]]) {
  const float value = in[2000000000u + i]; // A
  out[i] = value + other[i];
}

// case: output_cleared_then_filled
// why: Each thread clears its element and then writes the result: in order, one write in vain.
// run: output_cleared_then_filled threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: info written_twice A write, B write of out size 4 times 32
kernel void output_cleared_then_filled(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  out[i] = 0; // A
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = in[i]; // B
}

// case: quads_and_prefix_sums
// why: Quad functions, ballots and prefix sums exchange registers only.
// run: quads_and_prefix_sums threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void quads_and_prefix_sums(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  const float value = in[i];
  const float sum = quad_sum(value) + quad_shuffle_xor(value, 1) + simd_prefix_exclusive_sum(value);
  out[i] = simd_all(value > 0) ? sum : simd_broadcast_first(value);
}

// case: reader_of_another_simdgroup_behind_two_readers
// why: Many lanes read the word before a thread of another simdgroup overwrites it: the race is found whoever read last.
// run: reader_of_another_simdgroup_behind_two_readers threads 96
// buffer: out float 96 output
// buffer: in float 96 ramp
// must: error race A read, B write of word at 0 size 4
// must: error lockstep_exchange A read, B write of word at 0 size 4 times 31
kernel void reader_of_another_simdgroup_behind_two_readers(device float *out, device const float *in,
                                                           uint i [[thread_index_in_threadgroup]]) {
  threadgroup float word;
  if (i == 0) word = in[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float value = word; // A
  out[i] = value + in[i];
  if (i == 95) {
    word = in[95]; // B
  }
}
