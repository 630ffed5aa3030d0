// A barrier orders only the memory that its flags name.
#include <metal_stdlib>
using namespace metal;

// case: barrier_with_mem_none
// why: mem_none makes the threads meet and orders no memory.
// run: barrier_with_mem_none threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile size 4 times 64
kernel void barrier_with_mem_none(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i]; // A
  threadgroup_barrier(mem_flags::mem_none);
  out[i] = tile[63 - i]; // B
}

// case: barrier_with_mem_device_for_threadgroup_memory
// why: The flags name the other memory.
// run: barrier_with_mem_device_for_threadgroup_memory threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// flavours: check, check+lockstep
// must: error race A write, B read of tile size 4 times 64
kernel void barrier_with_mem_device_for_threadgroup_memory(device float *out, device const float *in,
                                                           uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i]; // A
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = tile[63 - i]; // B
}

// case: barrier_with_mem_threadgroup_for_device_memory
// why: Scratch in device memory is exchanged, and the barrier orders threadgroup memory.
// run: barrier_with_mem_threadgroup_for_device_memory threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// buffer: scratch float 64 unwritten
// must: error race A write, B read of scratch size 4 times 64
kernel void barrier_with_mem_threadgroup_for_device_memory(device float *out, device const float *in, device float *scratch,
                                                           uint i [[thread_index_in_threadgroup]]) {
  scratch[i] = in[i]; // A
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = scratch[63 - i]; // B
}

// case: barrier_with_mem_device
// why: The same with the right flag.
// run: barrier_with_mem_device threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// buffer: scratch float 64 unwritten
// silent:
kernel void barrier_with_mem_device(device float *out, device const float *in, device float *scratch,
                                    uint i [[thread_index_in_threadgroup]]) {
  scratch[i] = in[i];
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = scratch[63 - i];
}

// case: barrier_with_both_flags
// why: Both memories are exchanged and one barrier names both.
// run: barrier_with_both_flags threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// buffer: scratch float 64 unwritten
// silent:
kernel void barrier_with_both_flags(device float *out, device const float *in, device float *scratch,
                                    uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i];
  scratch[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  out[i] = scratch[63 - i] + tile[i ^ 32];
}

// case: two_barriers_of_which_one_names_the_memory
// why: A weak barrier after the right one takes nothing away.
// run: two_barriers_of_which_one_names_the_memory threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void two_barriers_of_which_one_names_the_memory(device float *out, device const float *in,
                                                       uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup_barrier(mem_flags::mem_none);
  out[i] = tile[63 - i];
}

// case: simdgroup_barrier_between_simdgroups
// why: simdgroup_barrier reaches no other simdgroup.
// run: simdgroup_barrier_between_simdgroups threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile size 4
// may: error uninitialized_threadgroup B read of tile size 4
kernel void simdgroup_barrier_between_simdgroups(device float *out, device const float *in,
                                                 uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i]; // A
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = tile[63 - i]; // B
}
