// The same bytes under several types, and different bytes of one word.
#include <metal_stdlib>
using namespace metal;

// case: halves_of_one_word
// why: Neighbours write the two halves of each 32-bit word: different bytes, no race.
// run: halves_of_one_word threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void halves_of_one_word(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup half tile[64];
  tile[i] = half(in[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = tile[63 - i];
}

// case: halves_of_one_word_from_two_simdgroups
// why: The two halves of a word belong to different simdgroups; a checker with cells of 4 bytes would call that a race.
// run: halves_of_one_word_from_two_simdgroups threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void halves_of_one_word_from_two_simdgroups(device float *out, device const float *in,
                                                   uint i [[thread_index_in_threadgroup]]) {
  threadgroup half tile[64];
  const uint mine = i % 32 * 2 + i / 32;
  tile[mine] = half(in[i]);
  out[i] = tile[mine];
}

// case: bytes_of_one_word_from_four_simdgroups
// why: Four simdgroups write the four bytes of each word of an output.
// run: bytes_of_one_word_from_four_simdgroups threads 128
// buffer: out uchar 128 output
// buffer: in float 128 ramp
// silent:
kernel void bytes_of_one_word_from_four_simdgroups(device uchar *out, device const float *in,
                                                   uint i [[thread_index_in_threadgroup]]) {
  out[i % 32 * 4 + i / 32] = uchar(in[i]);
}

// case: half_beside_half_read_as_a_word
// why: Each simdgroup writes its half of the word, and then both halves are read at once.
// run: half_beside_half_read_as_a_word threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile
// must: error uninitialized_threadgroup B read of tile
kernel void half_beside_half_read_as_a_word(device float *out, device const float *in,
                                            uint i [[thread_index_in_threadgroup]]) {
  threadgroup half tile[64];
  tile[i % 32 * 2 + i / 32] = half(in[i]); // A
  const half2 both = reinterpret_cast<threadgroup half2 *>(tile)[i % 32]; // B
  out[i] = both.x + both.y;
}

// case: aliased_pointers
// why: Two pointers into one array; nothing in their names says that they overlap.
// run: aliased_pointers threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile size 4 times 64
kernel void aliased_pointers(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[96];
  threadgroup float *queries = tile;
  threadgroup float *scores = tile + 32;
  queries[i] = in[i];
  if (i < 32) queries[64 + i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float query = queries[95 - i]; // B
  scores[i] = query * 2; // A
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = scores[i];
}

// case: buffer_bound_twice
// why: Input and output are the same memory: each thread reads what its neighbour writes.
// run: buffer_bound_twice threads 64
// buffer: data float 64 ramp
// must: error race A write, B read of data size 4
// may: error lockstep_exchange A write, B read of data size 4
kernel void buffer_bound_twice(device float *data, uint i [[thread_index_in_threadgroup]]) {
  device const float *source = data;
  device float *target = data;
  const float next = source[(i + 1) % 64]; // B
  target[i] = next; // A
}

// case: vectors_over_scalars
// why: One simdgroup writes floats, the other reads them as float4: an overlap of different widths.
// run: vectors_over_scalars threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile size 16
kernel void vectors_over_scalars(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float4 tile[8];
  threadgroup float *flat = reinterpret_cast<threadgroup float *>(tile);
  if (i < 32) flat[i] = in[i]; // A
  float value = in[i];
  if (i >= 56) value = dot(tile[i - 56], float4(1)); // B
  out[i] = value;
}

// case: last_component_of_a_vector
// why: Only the last 4 bytes of a 16-byte store are shared with the reader.
// run: last_component_of_a_vector threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile at 508 size 4 times 1
kernel void last_component_of_a_vector(device float *out, device const float *in,
                                       uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[256];
  if (i < 32) {
    const uint from = i * 4;
    *reinterpret_cast<threadgroup float4 *>(tile + from) = float4(in[i]); // A
  }
  float value = 1;
  if (i == 40) {
    value = tile[127]; // B
  }
  out[i] = in[i] * value;
}

// case: vectors_beside_each_other
// why: Threads store vectors that touch and do not overlap, then scalars of their own.
// run: vectors_beside_each_other threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void vectors_beside_each_other(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float4 tile[64];
  tile[i] = float4(in[i], 1, 2, 3);
  tile[i].y = tile[i].x;
  out[i] = tile[i].y;
}

// case: structure_fields_of_different_threads
// why: Threads write different fields of one structure: no race, though it is one object.
// run: structure_fields_of_different_threads threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
struct Statistics {
  float most;
  half scale;
  half shift;
};
kernel void structure_fields_of_different_threads(device float *out, device const float *in,
                                                  uint i [[thread_index_in_threadgroup]]) {
  threadgroup Statistics row;
  if (i == 0) row.most = in[0];
  if (i == 1) row.scale = half(in[1]);
  if (i == 40) row.shift = half(in[2]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = row.most + row.scale + row.shift;
}
