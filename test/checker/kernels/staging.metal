// A tile is staged in threadgroup memory and used by other simdgroups.
#include <metal_stdlib>
using namespace metal;

// case: staged_tile_without_barrier
// why: Each thread stages one element and reads one that another simdgroup stages; the barrier between is missing.
// from: ml-explore/mlx#2340, ggml-org/llama.cpp#3057
// run: staged_tile_without_barrier threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile at 128 size 4 times 64
// must: error uninitialized_threadgroup B read of tile size 4 times 32
kernel void staged_tile_without_barrier(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i]; // A
  out[i] = tile[63 - i]; // B
}

// case: staged_tile
// why: The same with its barrier.
// run: staged_tile threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// flavours: check, check+lockstep
// silent:
kernel void staged_tile(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = tile[63 - i];
}

// case: own_simdgroup_rows
// why: Two simdgroups stage and read, but each only what it staged itself: simdgroup_barrier is enough.
// run: own_simdgroup_rows threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// flavours: check, check+lockstep
// silent:
kernel void own_simdgroup_rows(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = tile[i ^ 31];
}

// case: transposed_tile_without_barrier
// why: A 32 x 8 tile is written by rows and read by columns, which cross all simdgroups.
// run: transposed_tile_without_barrier threads 32x8
// buffer: out float 256 output
// buffer: in float 256 ramp
// must: error race A write, B read of tile size 4
// must: error uninitialized_threadgroup B read of tile size 4
// may: error lockstep_exchange A write, B read of tile size 4
kernel void transposed_tile_without_barrier(device float *out, device const float *in,
                                            uint2 p [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8 * 33];
  const uint flat = p.y * 32 + p.x;
  tile[p.y * 33 + p.x] = in[flat]; // A
  out[flat] = tile[flat % 8 * 33 + flat / 8]; // B
}

// case: transposed_tile
// why: The same with its barrier; the column of padding is never read.
// run: transposed_tile threads 32x8
// buffer: out float 256 output
// buffer: in float 256 ramp
// silent:
kernel void transposed_tile(device float *out, device const float *in, uint2 p [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8 * 33];
  const uint flat = p.y * 32 + p.x;
  tile[p.y * 33 + p.x] = in[flat];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[flat] = tile[flat % 8 * 33 + flat / 8];
}

// case: reused_tile_without_second_barrier
// why: The loop stages the next block over the one that slower simdgroups still read: a write after a read, seen only
//   from the second turn on.
// from: ml-explore/mlx#2340
// run: reused_tile_without_second_barrier threads 64
// buffer: out float 64 output
// buffer: in float 192 ramp
// must: error race A write, B read of tile size 4 times 128
kernel void reused_tile_without_second_barrier(device float *out, device const float *in,
                                               uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  float sum = 0;
  for (uint block = 0; block < 3; ++block) {
    tile[i] = in[block * 64 + i]; // A
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[63 - i]; // B
  }
  out[i] = sum;
}

// case: reused_tile
// why: One barrier before the use, one before the next staging.
// run: reused_tile threads 64
// buffer: out float 64 output
// buffer: in float 192 ramp
// flavours: check, check+lockstep
// silent:
kernel void reused_tile(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  float sum = 0;
  for (uint block = 0; block < 3; ++block) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tile[i] = in[block * 64 + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[63 - i];
  }
  out[i] = sum;
}

// case: double_buffer_with_one_barrier
// why: Two halves that alternate need one barrier a turn: the turn between keeps writers away from readers.
// run: double_buffer_with_one_barrier threads 64
// buffer: out float 64 output
// buffer: in float 256 ramp
// silent:
kernel void double_buffer_with_one_barrier(device float *out, device const float *in,
                                           uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[2][64];
  float sum = 0;
  for (uint block = 0; block < 4; ++block) {
    tile[block % 2][i] = in[block * 64 + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[block % 2][63 - i];
  }
  out[i] = sum;
}

// case: double_buffer_fetched_ahead_without_barrier
// why: The next block is fetched into the other half while this one is used. Without the barrier at the end of the turn
//   the use of the next turn meets the fetch of this one, and the fetch after it the use.
// run: double_buffer_fetched_ahead_without_barrier threads 64
// buffer: out float 64 output
// buffer: in float 256 ramp
// must: error race A write, B read of tile size 4
// may: error uninitialized_threadgroup B read of tile size 4
kernel void double_buffer_fetched_ahead_without_barrier(device float *out, device const float *in,
                                                        uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[2][64];
  float sum = 0;
  tile[0][i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint block = 0; block < 4; ++block) {
    if (block + 1 < 4) tile[(block + 1) % 2][i] = in[(block + 1) * 64 + i]; // A
    sum += tile[block % 2][63 - i]; // B
  }
  out[i] = sum;
}

// case: double_buffer_fetched_ahead
// why: The same with the barrier at the end of each turn.
// run: double_buffer_fetched_ahead threads 64
// buffer: out float 64 output
// buffer: in float 256 ramp
// flavours: check, check+lockstep
// silent:
kernel void double_buffer_fetched_ahead(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[2][64];
  float sum = 0;
  tile[0][i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint block = 0; block < 4; ++block) {
    if (block + 1 < 4) tile[(block + 1) % 2][i] = in[(block + 1) * 64 + i];
    sum += tile[block % 2][63 - i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = sum;
}

// case: barrier_in_uniform_branch
// why: A barrier in a branch that all threads take alike is legal, and orders what is in the branch.
// run: barrier_in_uniform_branch threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// buffer: mirror uint 1 1
// silent:
kernel void barrier_in_uniform_branch(device float *out, device const float *in, device const uint *mirror,
                                      uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  float value = in[i];
  if (mirror[0] != 0) {
    tile[i] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = tile[63 - i];
  }
  out[i] = value;
}

// case: barrier_only_in_the_other_uniform_branch
// why: The branch that this input takes has no barrier: a path that a parity run of the other value never shows.
// run: barrier_only_in_the_other_uniform_branch threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// buffer: wide uint 1 0
// must: error race A write, B read of tile size 4 times 64
// must: error uninitialized_threadgroup B read of tile size 4 times 32
kernel void barrier_only_in_the_other_uniform_branch(device float *out, device const float *in, device const uint *wide,
                                                     uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i]; // A
  if (wide[0] != 0) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = tile[63 - i]; // B
}

// case: race_only_in_the_last_partial_tile
// why: Whole tiles have their barrier; the tail of 16 rows has its own code, and there it is missing.
// from: ml-explore/mlx#3875
// run: race_only_in_the_last_partial_tile threads 64
// buffer: out float 64 output
// buffer: in float 176 ramp
// must: error race A write, B read of tile size 4
// must: error lockstep_exchange A write, B read of tile size 4 times 16
kernel void race_only_in_the_last_partial_tile(device float *out, device const float *in,
                                               uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  float sum = 0;
  uint row = 0;
  for (; row + 64 <= 176; row += 64) {
    tile[i] = in[row + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[63 - i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (i < 48) tile[i] = in[row + i]; // A
  if (i < 48) sum += tile[47 - i]; // B
  out[i] = sum;
}

// case: race_only_in_the_second_threadgroup
// why: The first threadgroup has nothing to stage. Its threads are named right, not those of the first.
// run: race_only_in_the_second_threadgroup threads 64 groups 2
// buffer: out float 128 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile at 128 size 4 times 64
// must: error uninitialized_threadgroup B read of tile size 4 times 32
kernel void race_only_in_the_second_threadgroup(device float *out, device const float *in,
                                                uint i [[thread_index_in_threadgroup]],
                                                uint g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[64];
  float value = 0;
  if (g == 1) {
    tile[i] = in[i]; // A
    value = tile[63 - i]; // B
  }
  out[g * 64 + i] = value;
}

// case: threadgroups_do_not_share_their_tiles
// why: The same array of two threadgroups is not the same memory: epochs must not repeat from one to the next.
// run: threadgroups_do_not_share_their_tiles threads 64 groups 3
// buffer: out float 192 output
// buffer: in float 64 ramp
// silent:
kernel void threadgroups_do_not_share_their_tiles(device float *out, device const float *in,
                                                  uint i [[thread_index_in_threadgroup]],
                                                  uint g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[64];
  tile[(i + g * 32) % 64] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[g * 64 + i] = tile[63 - i];
}

// case: broadcast_by_one_thread_without_barrier
// why: Thread 0 writes the scale that all threads read.
// run: broadcast_by_one_thread_without_barrier threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of scale at 0 size 4 times 32
// must: error lockstep_exchange A write, B read of scale at 0 size 4 times 31
kernel void broadcast_by_one_thread_without_barrier(device float *out, device const float *in,
                                                    uint i [[thread_index_in_threadgroup]]) {
  threadgroup float scale;
  if (i == 0) scale = in[63]; // A
  out[i] = in[i] * scale; // B
}

// case: staged_by_the_last_simdgroup
// why: The writers run last: readers find what nobody wrote, and the race is found when the writer comes.
// run: staged_by_the_last_simdgroup threads 96
// buffer: out float 96 output
// buffer: in float 32 ramp
// must: error uninitialized_threadgroup B read of tile at 0 size 4 times 64
// must: error race A write, B read of tile at 0 size 4
kernel void staged_by_the_last_simdgroup(device float *out, device const float *in,
                                         uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[32];
  if (i >= 64) tile[i - 64] = in[i - 64]; // A
  out[i] = tile[i % 32]; // B
}
