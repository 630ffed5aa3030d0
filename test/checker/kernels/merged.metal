// The compiler makes one access of two on different lines. It has no line of its own then; the nearest one is named.
#include <metal_stdlib>
using namespace metal;

// case: reads_of_two_memories_behind_one_load
// why: The compiler makes one load of two that stand on different lines.
// run: reads_of_two_memories_behind_one_load threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile at 124 size 4 times 1
kernel void reads_of_two_memories_behind_one_load(device float *out, device const float *in,
                                                  uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[32];
  if (i < 32) tile[i] = in[i]; // A
  float value = in[i];
  if (i == 40) value = tile[31]; // B
  out[i] = value;
}

// case: tile_filled_in_two_branches
// why: A row that exists is staged, the others are zeroed, and the barrier behind is missing. Both lines are named.
// run: tile_filled_in_two_branches threads 64
// buffer: out float 64 output
// buffer: in float 40 ramp
// must: error race A write, B read of tile size 4
// must: error race C write, B read of tile size 4 times 24
// may: error uninitialized_threadgroup B read of tile size 4
kernel void tile_filled_in_two_branches(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  if (i < 40) {
    tile[i] = in[i]; // A
  } else {
    tile[i] = 0; // C
  }
  out[i] = tile[63 - i]; // B
}

// case: same_output_in_two_branches
// why: The output is written in both branches: one store of two, behind the end for the last thread.
// run: same_output_in_two_branches threads 64
// buffer: out float 63 output
// buffer: in float 64 ramp
// unseen: Which of the two lines it was; the condition before them is named.
// must: error out_of_bounds A write of out at 252 size 4 times 1
kernel void same_output_in_two_branches(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  if (in[i] > 20) { // A
    out[i] = in[i] * 2;
  } else {
    out[i] = in[i] + 1;
  }
}
