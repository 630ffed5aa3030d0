// Lanes of one simdgroup exchange data: legal with a barrier or a shuffle, lockstep-dependent without.
#include <metal_stdlib>
using namespace metal;

// case: exchange_with_nothing_between
// why: Right only where the lanes of a simdgroup advance together; in any other order lane 0 reads what lane 1 has not
//   written.
// run: exchange_with_nothing_between threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: error lockstep_exchange A write, B read of tile size 4 times 32
// must: error uninitialized_threadgroup B read of tile size 4 times 16
kernel void exchange_with_nothing_between(device float *out, device const float *in,
                                          uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[32];
  tile[lane] = in[lane]; // A
  out[lane] = tile[lane ^ 1]; // B
}

// case: exchange_with_nothing_between_in_lockstep
// why: In lockstep the values are right and the exchange is still named.
// run: exchange_with_nothing_between_in_lockstep threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// flavours: check+lockstep
// must: error lockstep_exchange A write, B read of tile size 4 times 32
kernel void exchange_with_nothing_between_in_lockstep(device float *out, device const float *in,
                                                      uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[32];
  tile[lane] = in[lane]; // A
  out[lane] = tile[lane ^ 1]; // B
}

// case: exchange_with_simd_max_between
// why: A vector kernel stores scores by lane and reads all of them with only the simd_max of the softmax between. The
//   collective makes the lanes meet but orders no memory; it works on Apple GPUs.
// from: ggml-org/llama.cpp (kernel_flash_attn_ext_vec)
// run: exchange_with_simd_max_between threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// flavours: check, check+lockstep
// must: warning lockstep_exchange A write, B read of scores size 4
kernel void exchange_with_simd_max_between(device float *out, device const float *in,
                                           uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float scores[32];
  scores[lane] = in[lane]; // A
  const float most = simd_max(in[lane]);
  float sum = 0;
  for (uint k = 0; k < 32; ++k) sum += scores[k]; // B
  out[lane] = sum - most;
}

// case: write_after_read_in_a_simdgroup
// why: Lane 0 stores sum and maximum over the scores that other lanes still read: the last lines of a vector kernel,
//   wrong as soon as lane 0 runs ahead.
// from: ggml-org/llama.cpp (kernel_flash_attn_ext_vec)
// run: write_after_read_in_a_simdgroup threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: error lockstep_exchange A read, B write of scores size 4
kernel void write_after_read_in_a_simdgroup(device float *out, device const float *in,
                                            uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float scores[32];
  scores[lane] = in[lane];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 32; ++k) sum += scores[k]; // A
  if (lane == 0) {
    scores[0] = sum; // B
  }
  out[lane] = sum;
}

// case: exchange_with_simdgroup_barrier
// why: The legal form.
// run: exchange_with_simdgroup_barrier threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// flavours: check, check+lockstep
// silent:
kernel void exchange_with_simdgroup_barrier(device float *out, device const float *in,
                                            uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float scores[32];
  scores[lane] = in[lane];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 32; ++k) sum += scores[k];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) scores[0] = sum;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[lane] = scores[0];
}

// case: exchange_by_shuffle
// why: Registers are exchanged; there is no memory to order.
// run: exchange_by_shuffle threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void exchange_by_shuffle(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  const float value = in[i];
  out[i] = simd_shuffle_xor(value, 1) + simd_shuffle_down(value, 4) + simd_shuffle(value, 7);
}

// case: simdgroup_barrier_with_mem_none
// why: Without a flag it is no instruction on the GPU.
// run: simdgroup_barrier_with_mem_none threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: error lockstep_exchange A write, B read of tile size 4 times 32
// may: error uninitialized_threadgroup B read of tile size 4
kernel void simdgroup_barrier_with_mem_none(device float *out, device const float *in,
                                            uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[32];
  tile[lane] = in[lane]; // A
  simdgroup_barrier(mem_flags::mem_none);
  out[lane] = tile[lane ^ 1]; // B
}

// case: simdgroup_barrier_with_mem_device
// why: The flag names the other memory; the lanes meet all the same.
// run: simdgroup_barrier_with_mem_device threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: warning lockstep_exchange A write, B read of tile size 4 times 32
kernel void simdgroup_barrier_with_mem_device(device float *out, device const float *in,
                                              uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[32];
  tile[lane] = in[lane]; // A
  simdgroup_barrier(mem_flags::mem_device);
  out[lane] = tile[lane ^ 1]; // B
}

// case: exchange_through_device_memory
// why: Device scratch between lanes of a simdgroup needs the same care.
// run: exchange_through_device_memory threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// buffer: scratch float 32 0
// must: error lockstep_exchange A write, B read of scratch size 4 times 32
kernel void exchange_through_device_memory(device float *out, device const float *in, device float *scratch,
                                           uint lane [[thread_index_in_simdgroup]]) {
  scratch[lane] = in[lane]; // A
  out[lane] = scratch[lane ^ 1]; // B
}

// case: barrier_of_half_the_lanes
// why: Lanes 0 to 15 exchange among themselves behind a barrier that only they execute. It orders them, and it is odd.
// run: barrier_of_half_the_lanes threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: warning divergent_collective A barrier, B collective
kernel void barrier_of_half_the_lanes(device float *out, device const float *in, uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[32];
  float value = in[lane];
  if (lane < 16) {
    tile[lane] = value;
    simdgroup_barrier(mem_flags::mem_threadgroup); // A
    value = tile[lane ^ 1];
  }
  out[lane] = simd_sum(value); // B
}
