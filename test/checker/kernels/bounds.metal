// Accesses outside of buffers and of threadgroup arrays.
#include <metal_stdlib>
using namespace metal;

// case: off_by_one_at_the_end
// why: A sliding sum takes one element too many at the end of the row.
// run: off_by_one_at_the_end threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error out_of_bounds A read of in at 256 size 4 times 1
kernel void off_by_one_at_the_end(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  const float next = in[i + 1]; // A
  out[i] = next;
}

// case: guarded_end
// why: The same with its guard, on a grid that is larger than the row.
// run: guarded_end threads 64 groups 2
// buffer: out float 70 output
// buffer: in float 70 ramp
// silent:
kernel void guarded_end(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  if (i >= 70) return;
  out[i] = i + 1 < 70 ? in[i + 1] : 0;
}

// case: tail_guard_dropped
// why: The grid is rounded up to whole threadgroups and nothing keeps the last threads back.
// from: ml-explore/mlx#3912, ggml-org/llama.cpp#27450
// run: tail_guard_dropped threads 64 groups 2
// buffer: out float 70 output
// buffer: in float 70 ramp
// must: error out_of_bounds A read of in at 280 size 4 times 58
// must: error out_of_bounds B write of out at 280 size 4 times 58
kernel void tail_guard_dropped(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  const float value = in[i]; // A
  out[i] = value * 2; // B
}

// case: negative_index
// why: A causal window reaches before the first row.
// run: negative_index threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: error out_of_bounds A read of in at -8 size 4 times 2
kernel void negative_index(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  const float before = in[int(i) - 2]; // A
  out[i] = before;
}

// case: wrong_stride
// why: Rows are 24 apart and read as if they were 32 apart: the third row lies behind the end.
// from: ml-explore/mlx#2152, pytorch/pytorch#163597
// run: wrong_stride threads 24
// buffer: out float 24 output
// buffer: in float 72 ramp
// must: error out_of_bounds A read of in at 288 size 4 times 16
kernel void wrong_stride(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  float sum = 0;
#pragma clang loop unroll(disable)
  for (uint row = 0; row < 3; ++row) {
    sum += in[row * 32 + i]; // A
  }
  out[i] = sum;
}

// case: wrong_head_map
// why: Query head h of 8 reads KV head h instead of h / 4: six heads read behind the two that there are.
// run: wrong_head_map threads 32 groups 8
// buffer: out float 256 output
// buffer: k float 64 ramp
// must: error out_of_bounds A read of k at 256 size 4 times 192
kernel void wrong_head_map(device float *out, device const float *k, uint i [[thread_index_in_threadgroup]],
                           uint head [[threadgroup_position_in_grid]]) {
  const float key = k[head * 32 + i]; // A
  out[head * 32 + i] = key;
}

// case: wrong_head_map_inside_the_buffer
// why: Query head h of 8 reads KV head h % 2 instead of h / 4.
// run: wrong_head_map_inside_the_buffer threads 32 groups 8
// buffer: out float 256 output
// buffer: k float 64 ramp
// unseen: Every access is to bytes that exist and have a value; only a comparison with the oracle shows the wrong head.
// silent:
kernel void wrong_head_map_inside_the_buffer(device float *out, device const float *k,
                                             uint i [[thread_index_in_threadgroup]],
                                             uint head [[threadgroup_position_in_grid]]) {
  out[head * 32 + i] = k[head % 2 * 32 + i];
}

// case: row_padding_that_the_host_never_wrote
// why: Rows of 24 elements are padded to 32, and the kernel sums 32: inside the buffer, but nobody wrote it.
// run: row_padding_that_the_host_never_wrote threads 32
// buffer: out float 32 output
// buffer: k float 32 ramp first 24
// must: error uninitialized_device A read of k at 96 size 4 times 8
kernel void row_padding_that_the_host_never_wrote(device float *out, device const float *k,
                                                  uint i [[thread_position_in_grid]]) {
  const float key = k[i]; // A
  out[i] = key;
}

// case: threadgroup_array_into_the_next_one
// why: The first array is overrun into the second, which somebody else fills.
// unseen: The overrun itself stays inside of one object; what it does to the other array is a race and is reported.
// run: threadgroup_array_into_the_next_one threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B write of tiles at 128 size 4 times 8
struct TwoTiles {
  float first[32];
  float second[32];
};
kernel void threadgroup_array_into_the_next_one(device float *out, device const float *in,
                                                uint i [[thread_index_in_threadgroup]]) {
  threadgroup TwoTiles tiles;
  threadgroup float *p = tiles.first;
  if (i >= 56) p[i - 24] = in[i] + 100; // A
  if (i < 32) tiles.second[i] = in[i]; // B
  if (i < 32) tiles.first[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = tiles.first[i % 32] + tiles.second[i % 32];
}

// case: threadgroup_array_by_its_index
// why: The same by index: the compiler knows the size, and the index itself is reported before there is an access.
// run: threadgroup_array_by_its_index threads 64
// buffer: out float 64 unwritten
// buffer: in float 64 ramp
// must: error out_of_bounds A none times 1
kernel void threadgroup_array_by_its_index(device float *out, device const float *in,
                                           uint i [[thread_index_in_threadgroup]]) {
  threadgroup float first[32];
  threadgroup float second[32];
  if (i < 32) second[i] = in[i];
  if (i < 32) first[i] = in[i];
  if (i >= 56) first[i - 24] = in[i]; // A
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = first[i % 32] + second[i % 32];
}

// case: local_array_by_its_index
// why: Registers are counted from 0 to 7, the head has 9 parts.
// run: local_array_by_its_index threads 32
// buffer: out float 32 unwritten
// buffer: parts uint 1 9
// must: error out_of_bounds A none
kernel void local_array_by_its_index(device float *out, device const uint *parts, uint i [[thread_position_in_grid]]) {
  float sums[8] = {0};
#pragma clang loop unroll(disable)
  for (uint part = 0; part < parts[0]; ++part) {
    sums[part] += float(i); // A
  }
  float sum = 0;
  for (uint part = 0; part < 8; ++part) sum += sums[part];
  out[i] = sum;
}

// case: threadgroup_array_behind_the_last_one
// why: The only array is overrun.
// run: threadgroup_array_behind_the_last_one threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error out_of_bounds A write of tile at 256 size 4 times 8
kernel void threadgroup_array_behind_the_last_one(device float *out, device const float *in,
                                                  uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  threadgroup float *p = tile;
  p[i + 8] = in[i]; // A
  if (i < 8) tile[i] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = tile[63 - i];
}

// case: dynamic_memory_too_small
// why: The kernel clears 256 bytes more than its host asks for.
// from: ggml-org/llama.cpp (kernel_flash_attn_ext_vec, 192/128 and 576/512)
// run: dynamic_memory_too_small threads 64 memory 256
// buffer: out float 64 output
// must: error out_of_bounds A write of shared at 256 size 4 times 64
kernel void dynamic_memory_too_small(device float *out, threadgroup float *shared [[threadgroup(0)]],
                                     uint i [[thread_index_in_threadgroup]]) {
#pragma clang loop unroll(disable)
  for (uint k = i; k < 128; k += 64) {
    shared[k] = 0; // A
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[63 - i];
}

// case: dynamic_memory_with_padding
// why: The same with 256 bytes of padding asked for: the oversight is known and not reported again.
// run: dynamic_memory_with_padding threads 64 memory 256 padding 256
// buffer: out float 64 output
// silent:
kernel void dynamic_memory_with_padding(device float *out, threadgroup float *shared [[threadgroup(0)]],
                                        uint i [[thread_index_in_threadgroup]]) {
  for (uint k = i; k < 128; k += 64) shared[k] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[63 - i];
}

// case: two_dynamic_arrays
// why: The first of two arrays is overrun; the second is not touched by that.
// run: two_dynamic_arrays threads 32 memory 112,128
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: error out_of_bounds A write of first at 112 size 4 times 4
// must: error out_of_bounds B read of first size 4 times 4
kernel void two_dynamic_arrays(device float *out, device const float *in, threadgroup float *first [[threadgroup(0)]],
                               threadgroup float *second [[threadgroup(1)]], uint i [[thread_index_in_threadgroup]]) {
  first[i] = in[i]; // A
  second[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float value = first[i]; // B
  out[i] = value + second[i];
}

// case: vector_load_across_the_end
// why: 66 floats are read as 17 float4: the last one ends 8 bytes behind the buffer.
// run: vector_load_across_the_end threads 17
// buffer: out float 17 output
// buffer: in float 66 ramp
// must: error out_of_bounds A read of in at 256 size 16 times 1
kernel void vector_load_across_the_end(device float *out, device const float4 *in, uint i [[thread_position_in_grid]]) {
  const float4 value = in[i]; // A
  out[i] = dot(value, float4(1));
}

// case: constant_buffer_behind_its_end
// why: A table in constant memory is indexed by the number of heads instead of the head.
// run: constant_buffer_behind_its_end threads 32
// buffer: out float 32 output
// buffer: slopes float 8 ramp
// must: error out_of_bounds A read of slopes at 32 size 4 times 32
kernel void constant_buffer_behind_its_end(device float *out, constant float *slopes, uint i [[thread_position_in_grid]]) {
  const float slope = slopes[8 + i / 32]; // A
  out[i] = slope;
}

// case: page_table_entry_of_nothing
// why: The block table of a paged cache names a page that is not there; -1 marks an unused one.
// run: page_table_entry_of_nothing threads 32
// buffer: out float 64 output
// buffer: table int 2 1,-1
// buffer: pages float 64 ramp
// must: error out_of_bounds A read of pages at -128 size 4 times 32
kernel void page_table_entry_of_nothing(device float *out, device const int *table, device const float *pages,
                                        uint i [[thread_position_in_grid]]) {
#pragma clang loop unroll(disable)
  for (uint block = 0; block < 2; ++block) {
    const float key = pages[table[block] * 32 + int(i)]; // A
    out[block * 32 + i] = key;
  }
}

// case: page_table_with_guard
// why: The same, looked at before it is used.
// run: page_table_with_guard threads 32
// buffer: out float 64 output
// buffer: table int 2 1,-1
// buffer: pages float 64 ramp
// silent:
kernel void page_table_with_guard(device float *out, device const int *table, device const float *pages,
                                  uint i [[thread_position_in_grid]]) {
  for (uint block = 0; block < 2; ++block) {
    const int page = table[block];
    out[block * 32 + i] = page < 0 ? 0 : pages[page * 32 + int(i)];
  }
}
