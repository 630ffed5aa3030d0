// Outputs: every element once.
#include <metal_stdlib>
using namespace metal;

// case: tail_rows_never_written
// why: The grid is rounded down: the last 6 rows are nobody's.
// run: each_row_once threads 32 groups 2
// buffer: out float 70 output
// buffer: in float 70 ramp
// must: error unwritten_output - none of out at 256 times 24

// case: each_row_once
// why: The grid is rounded up and guarded.
// run: each_row_once threads 32 groups 3
// buffer: out float 70 output
// buffer: in float 70 ramp
// silent:
kernel void each_row_once(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  if (i < 70) out[i] = in[i];
}

// case: odd_elements_never_written
// why: A store of one half where two belong: holes, not a tail.
// run: odd_elements_never_written threads 32
// buffer: out half 64 output
// buffer: in float 32 ramp
// must: error unwritten_output - none of out at 2 times 64
kernel void odd_elements_never_written(device half *out, device const float *in, uint i [[thread_position_in_grid]]) {
  out[2 * i] = half(in[i]);
}

// case: overlapping_tiles
// why: Tiles of 32 at a stride of 24: 8 columns are written by two threadgroups with different values.
// run: overlapping_tiles threads 32 groups 2
// buffer: out float 56 output
// buffer: in float 56 ramp
// must: error device_race A write, A write of out at 96 size 4 times 8
// must: warning written_twice A write, A write of out at 96 size 4 times 8
kernel void overlapping_tiles(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]],
                              uint g [[threadgroup_position_in_grid]]) {
  out[g * 24 + i] = in[g * 24 + i] + g; // A
}

// case: written_by_two_dispatches
// why: A second dispatch writes the same rows: in order, so no race, but one of the two is in vain.
// run: first_writer threads 32
// run: second_writer threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: warning written_twice A write, B write of out at 0 size 4 times 32
kernel void first_writer(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  out[i] = in[i]; // A
}
kernel void second_writer(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  out[i] = in[i] * 2; // B
}

// case: dropped_partition
// why: The kernel of the last partition is not dispatched: its rows keep what was there.
// from: ml-explore/mlx#4018
// run: write_partition threads 32
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error unwritten_output - none of out at 128 times 128
kernel void write_partition(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  out[i] = in[i];
}

// case: written_as_vectors
// why: Elements written as vectors, the tail as scalars: each once, in several widths.
// run: written_as_vectors threads 18
// buffer: out float 70 output
// buffer: in float 70 ramp
// silent:
kernel void written_as_vectors(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  if (i * 4 + 4 <= 70) {
    reinterpret_cast<device float4 *>(out)[i] = reinterpret_cast<device const float4 *>(in)[i];
  } else {
    for (uint k = i * 4; k < 70; ++k) out[k] = in[k];
  }
}
