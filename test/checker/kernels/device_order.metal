// Device memory: nothing orders the threadgroups of a dispatch, and dispatches only where the encoder is serial.
#include <metal_stdlib>
using namespace metal;

// case: histogram_without_atomics
// why: Two threadgroups count into the same bins with plain reads and writes.
// run: histogram_without_atomics threads 32 groups 2
// buffer: bins uint 32 0
// buffer: in float 64 ramp
// must: error device_race A write, A read of bins size 4
// may: error device_race A write, A write of bins size 4
// may: info same_value_write A write, A write of bins size 4
kernel void histogram_without_atomics(device uint *bins, device const float *in, uint i [[thread_position_in_grid]]) {
  bins[uint(in[i]) % 32] += 1; // A
}

// case: histogram_inside_a_threadgroup
// why: The bins belong to one threadgroup; its simdgroups still collide.
// run: histogram_inside_a_threadgroup threads 64
// buffer: out uint 32 output
// buffer: in float 64 ramp
// must: error race A write, A read of bins size 4
// may: error race A write, A write of bins size 4
// may: info same_value_write A write, A write of bins size 4
kernel void histogram_inside_a_threadgroup(device uint *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint bins[32];
  if (i < 32) bins[i] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  bins[uint(in[i]) % 32] += 1; // A
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 32) out[i] = bins[i];
}

// case: shared_boundary_row
// why: Each threadgroup writes 33 rows of 32: the first row of the next one is written by both, with other values.
// run: shared_boundary_row threads 32 groups 2
// buffer: out float 65 output
// buffer: in float 65 ramp
// must: error device_race A write, B write of out at 128 size 4 times 1
// must: warning written_twice A write, B write of out at 128 size 4
kernel void shared_boundary_row(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]],
                                uint g [[threadgroup_position_in_grid]]) {
  const uint first = g * 32;
  out[first + i] = in[first + i] + g; // A
  if (i == 0) {
    out[first + 32] = in[first + 32] - g; // B
  }
}

// case: neighbour_row_of_another_threadgroup
// why: A stencil in place: a threadgroup reads the row that its neighbour writes.
// run: neighbour_row_of_another_threadgroup threads 32 groups 2
// buffer: data float 64 ramp
// must: error device_race A read, B write of data size 4
// may: error lockstep_exchange A read, B write of data size 4
kernel void neighbour_row_of_another_threadgroup(device float *data, uint i [[thread_position_in_grid]]) {
  const float next = data[(i + 1) % 64]; // A
  data[i] = next * 0.5f; // B
}

// case: own_rows
// why: Each threadgroup its own rows, all of them the same inputs.
// run: own_rows threads 32 groups 4
// buffer: out float 128 output
// buffer: in float 32 ramp
// silent:
kernel void own_rows(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]],
                     uint g [[threadgroup_position_in_grid]]) {
  out[g * 32 + i] = in[i] * float(g) + in[31 - i];
}

// case: split_k_merged_in_the_same_dispatch
// why: Threadgroup 1 merges the partials of both without a grid-wide barrier, which Metal does not have.
// run: split_k_merged_in_the_same_dispatch threads 32 groups 2
// buffer: out float 32 output
// buffer: partials float 64 unwritten
// buffer: in float 64 ramp
// must: error device_race A write, B read of partials size 4 times 32
kernel void split_k_merged_in_the_same_dispatch(device float *out, device float *partials, device const float *in,
                                                uint i [[thread_index_in_threadgroup]],
                                                uint g [[threadgroup_position_in_grid]]) {
  partials[g * 32 + i] = in[g * 32 + i]; // A
  threadgroup_barrier(mem_flags::mem_device);
  if (g == 1) {
    out[i] = partials[i] + partials[32 + i]; // B
  }
}

// case: split_k_merged_by_the_first_threadgroup
// why: The same the other way round: what is read has not been written yet, and the writer comes later.
// run: split_k_merged_by_the_first_threadgroup threads 32 groups 2
// buffer: out float 32 output
// buffer: partials float 64 unwritten
// buffer: in float 64 ramp
// must: error uninitialized_device B read of partials size 4 times 32
// must: error device_race A write, B read of partials at 128 size 4 times 32
kernel void split_k_merged_by_the_first_threadgroup(device float *out, device float *partials, device const float *in,
                                                    uint i [[thread_index_in_threadgroup]],
                                                    uint g [[threadgroup_position_in_grid]]) {
  partials[g * 32 + i] = in[g * 32 + i]; // A
  threadgroup_barrier(mem_flags::mem_device);
  if (g == 0) {
    const float sum = partials[i] + partials[32 + i]; // B
    out[i] = sum;
  }
}

// case: split_k_in_two_dispatches
// why: The second dispatch of a serial encoder sees what the first wrote.
// run: split_k_partials threads 32 groups 2
// run: split_k_merge threads 32
// buffer: out float 32 output
// buffer: partials float 64 unwritten
// buffer: in float 64 ramp
// silent:

// case: split_k_in_two_concurrent_dispatches
// why: The same kernels in an encoder whose dispatches may overlap.
// from: ml-explore/mlx#3121
// run: split_k_partials threads 32 groups 2
// run: split_k_merge threads 32
// buffer: out float 32 output
// buffer: partials float 64 unwritten
// buffer: in float 64 ramp
// order: concurrent
// must: error device_race A write, B read of partials size 4
kernel void split_k_partials(device float *partials, device const float *in, uint i [[thread_position_in_grid]]) {
  partials[i] = in[i]; // A
}
kernel void split_k_merge(device float *out, device const float *partials, uint i [[thread_position_in_grid]]) {
  out[i] = partials[i] + partials[32 + i]; // B
}

// case: scratch_reused_while_it_is_read
// why: A third dispatch fills the scratch of the first for the next layer while the second may still read it.
// from: ml-explore/mlx#3121
// run: fill_scratch threads 32
// run: use_scratch threads 32
// run: refill_scratch threads 32
// buffer: out float 32 output
// buffer: scratch float 32 unwritten
// buffer: in float 32 ramp
// order: concurrent
// must: error device_race A write, B read of scratch size 4
// must: error device_race B read, C write of scratch size 4
// must: error device_race A write, C write of scratch size 4

// case: scratch_reused_in_order
// why: The same in a serial encoder.
// run: fill_scratch threads 32
// run: use_scratch threads 32
// run: refill_scratch threads 32
// buffer: out float 32 output
// buffer: scratch float 32 unwritten
// buffer: in float 32 ramp
// silent:
kernel void fill_scratch(device float *scratch, device const float *in, uint i [[thread_position_in_grid]]) {
  scratch[i] = in[i]; // A
}
kernel void use_scratch(device float *out, device const float *scratch, uint i [[thread_position_in_grid]]) {
  out[i] = scratch[i] * 2; // B
}
kernel void refill_scratch(device float *scratch, device const float *in, uint i [[thread_position_in_grid]]) {
  scratch[i] = in[i] + 7; // C
}

// case: same_value_from_all_threads
// why: Every thread stores the same flag: benign, and listed apart from races.
// run: same_value_from_all_threads threads 32 groups 2
// buffer: out float 64 output
// buffer: flag uint 1 0
// buffer: in float 64 ramp
// must: info same_value_write A write, A write of flag at 0 size 4
kernel void same_value_from_all_threads(device float *out, device uint *flag, device const float *in,
                                        uint i [[thread_position_in_grid]]) {
  out[i] = in[i];
  flag[0] = 1; // A
}

// case: query_staged_by_every_simdgroup
// why: Each simdgroup stages the whole query into the same array: equal values, benign.
// from: ggml-org/llama.cpp (kernel_flash_attn_ext_vec)
// run: query_staged_by_every_simdgroup threads 64
// buffer: out float 64 output
// buffer: in float 32 ramp
// must: info same_value_write A write, A write of query size 4 times 32
kernel void query_staged_by_every_simdgroup(device float *out, device const float *in,
                                            uint i [[thread_index_in_threadgroup]],
                                            uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float query[32];
  query[lane] = in[lane]; // A
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = query[31 - lane];
}
