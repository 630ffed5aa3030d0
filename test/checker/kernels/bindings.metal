// Alignment, and writes through what is bound to be read.
#include <metal_stdlib>
using namespace metal;

// case: misaligned_float4
// why: A row starts 4 bytes into the buffer and is read as float4.
// run: misaligned_float4 threads 8
// buffer: out float 8 output
// buffer: in float 36 ramp
// must: error misaligned A read of in at 4 size 16
// may: error unwritten_output - none of out
kernel void misaligned_float4(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  const float4 row = *reinterpret_cast<device const float4 *>(in + 1 + 4 * i); // A
  out[i] = dot(row, float4(1));
}

// case: packed_vector
// why: The same with a packed vector, which needs only the alignment of its elements.
// run: packed_vector threads 8
// buffer: out float 8 output
// buffer: in float 36 ramp
// silent:
kernel void packed_vector(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  const float4 row = float4(*reinterpret_cast<device const packed_float4 *>(in + 1 + 4 * i));
  out[i] = dot(row, float4(1));
}

// case: misaligned_uint
// why: A 32-bit scale is read at byte 2 of a block of quantised weights.
// run: misaligned_uint threads 8
// buffer: out uint 8 output
// buffer: in uchar 64 ramp
// must: error misaligned A read of in at 2 size 4 times 8
kernel void misaligned_uint(device uint *out, device const uchar *in, uint i [[thread_position_in_grid]]) {
  const uint scale = *reinterpret_cast<device const uint *>(in + 2 + 4 * i); // A
  out[i] = scale;
}

// case: scale_of_two_bytes
// why: The same read as two halves of a word.
// run: scale_of_two_bytes threads 8
// buffer: out uint 8 output
// buffer: in uchar 64 ramp
// silent:
kernel void scale_of_two_bytes(device uint *out, device const uchar *in, uint i [[thread_position_in_grid]]) {
  device const ushort *parts = reinterpret_cast<device const ushort *>(in + 2 + 4 * i);
  out[i] = uint(parts[0]) | uint(parts[1]) << 16;
}

// case: write_to_constant_memory
// why: A cast takes the constant away; on the GPU that memory is read-only.
// run: write_to_constant_memory threads 4
// buffer: out float 4 output
// buffer: params float 4 ramp
// must: error read_only_write A write of params size 4 times 4
kernel void write_to_constant_memory(device float *out, constant float *params, uint i [[thread_position_in_grid]]) {
  out[i] = params[i];
  *(device float *)(ulong)(params + i) = 0; // A
}

// case: write_through_const
// why: A write into an input that is bound as const.
// run: write_through_const threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// must: error read_only_write A write of in at 0 size 4 times 32
kernel void write_through_const(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  const float value = in[i];
  const_cast<device float *>(in)[i] = 0; // A
  out[i] = value;
}
