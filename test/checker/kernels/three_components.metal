// Vectors of three components in memory: the instrumentation passes over whole ones.
#include <metal_stdlib>
using namespace metal;

// case: whole_float3_without_barrier
// why: Positions are staged as float3 and read by another simdgroup; the barrier between is missing.
// unseen: Accesses of 12 bytes at once have no callback. Such a source is never called exact, and the texts say so.
// run: whole_float3_without_barrier threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void whole_float3_without_barrier(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float3 tile[64];
  tile[i] = float3(in[i], in[i] + 1, in[i] + 2);
  const float3 other = tile[63 - i];
  out[i] = other.x + other.y + other.z;
}

// case: packed_float3_built_and_staged
// why: Packed positions are built, staged and read behind a barrier: right.
// run: packed_float3_built_and_staged threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void packed_float3_built_and_staged(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup packed_float3 tile[64];
  tile[i] = float3(in[i], in[i] + 1, in[i] + 2);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float3 other = float3(tile[63 - i]);
  out[i] = other.x + other.y + other.z;
}
