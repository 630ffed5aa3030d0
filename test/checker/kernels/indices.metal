// Arithmetic of indices that leaves the width of its type.
#include <metal_stdlib>
using namespace metal;

// case: index_of_16_bits
// why: 40,000 does not fit a short: it comes out negative and the access lies before the buffer.
// from: ml-explore/mlx#3092, ml-explore/mlx#3631
// run: index_of_16_bits threads 32
// buffer: out float 32 output
// buffer: in half 40064 1
// must: error integer_overflow A arithmetic times 32
// must: error out_of_bounds B read of in at -51072 size 2 times 32
kernel void index_of_16_bits(device float *out, device const half *in, uint i [[thread_position_in_grid]]) {
  const short row = 40000 + i; // A
  const float value = in[row]; // B
  out[i] = value;
}

// case: index_of_16_bits_by_a_cast
// why: The same with the conversion written out.
// from: ml-explore/mlx#3092, ml-explore/mlx#3631
// run: index_of_16_bits_by_a_cast threads 32
// buffer: out float 32 output
// buffer: in half 40064 1
// unseen: A cast says that bits may go; the access that comes of it is reported.
// must: error out_of_bounds A read of in at -51072 size 2 times 32
kernel void index_of_16_bits_by_a_cast(device float *out, device const half *in, uint i [[thread_position_in_grid]]) {
  const short row = short(40000 + i);
  const float value = in[row]; // A
  out[i] = value;
}

// case: index_of_16_bits_inside_the_buffer
// why: 70,000 as ushort is 4,464: a row that exists, and the wrong one.
// from: ml-explore/mlx#3092
// run: index_of_16_bits_inside_the_buffer threads 32
// buffer: out float 32 output
// buffer: in half 70400 1
// unseen: A cast says that bits may go, and the bytes exist: the oracle sees it.
// silent:
kernel void index_of_16_bits_inside_the_buffer(device float *out, device const half *in, uint i [[thread_position_in_grid]]) {
  const ushort row = ushort(70000 + i);
  out[i] = in[row];
}

// case: signed_product_of_32_bits
// why: Token times stride in int: 65,536 x 32,768 is 2^31. The offset is negative in the 64-bit address.
// from: pytorch/pytorch#179592, ml-explore/mlx#3631
// run: signed_product_of_32_bits threads 32
// buffer: out float 32 output
// buffer: in float 64 ramp
// buffer: size int 2 65536,32768
// must: error integer_overflow A arithmetic
// must: error out_of_bounds B read of in size 4 times 32
kernel void signed_product_of_32_bits(device float *out, device const float *in, device const int *size,
                                      uint i [[thread_position_in_grid]]) {
  const int offset = size[0] * size[1]; // A
  const float value = in[offset + int(i)]; // B
  out[i] = value;
}

// case: unsigned_product_of_32_bits
// why: The same in uint wraps to 0 and reads the first row: legal, in bounds, and wrong. Only told as information.
// from: pytorch/pytorch#179592
// run: unsigned_product_of_32_bits threads 32
// buffer: out float 32 output
// buffer: in float 64 ramp
// buffer: size uint 2 65536,65536
// must: info integer_overflow A arithmetic
kernel void unsigned_product_of_32_bits(device float *out, device const float *in, device const uint *size,
                                        uint i [[thread_position_in_grid]]) {
  const uint offset = size[0] * size[1]; // A
  out[i] = in[offset + i];
}

// case: product_of_64_bits
// why: The same product in ulong, then reduced to a row that exists.
// run: product_of_64_bits threads 32
// buffer: out float 32 output
// buffer: in float 64 ramp
// buffer: size uint 2 65536,65536
// silent:
kernel void product_of_64_bits(device float *out, device const float *in, device const uint *size,
                               uint i [[thread_position_in_grid]]) {
  const ulong offset = ulong(size[0]) * size[1];
  out[i] = in[offset % 32 + i];
}

// case: unsigned_difference_below_zero
// why: Query position minus window in uint wraps where the window is longer than the history.
// from: ml-explore/mlx#1999
// run: unsigned_difference_below_zero threads 32
// buffer: out float 32 output
// buffer: in float 32 ramp
// unseen: Kernels count down and compare by unsigned differences below zero, so these are not reported.
// silent:
kernel void unsigned_difference_below_zero(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  const uint first = i - 8;
  float sum = 0;
  for (uint k = first; k <= i && k < 32; ++k) sum += in[k];
  out[i] = sum;
}

// case: hash_that_is_meant_to_wrap
// why: Unsigned arithmetic may wrap on purpose, as in a random number: it must never be more than information.
// run: hash_that_is_meant_to_wrap threads 32
// buffer: out uint 32 output
// must: info integer_overflow A arithmetic
kernel void hash_that_is_meant_to_wrap(device uint *out, uint i [[thread_position_in_grid]]) {
  const uint seed = i + 1;
  out[i] = seed * 2654435761u; // A
}

// case: signed_sum_at_the_limit
// why: A saturating counter adds 1 to the greatest int.
// run: signed_sum_at_the_limit threads 32
// buffer: out int 32 output
// buffer: in int 32 2147483647
// must: error integer_overflow A arithmetic times 32
kernel void signed_sum_at_the_limit(device int *out, device const int *in, uint i [[thread_position_in_grid]]) {
  out[i] = in[i] + 1; // A
}

// case: addsat_at_the_limit
// why: The same by the function that saturates.
// run: addsat_at_the_limit threads 32
// buffer: out int 32 output
// buffer: in int 32 2147483647
// silent:
kernel void addsat_at_the_limit(device int *out, device const int *in, uint i [[thread_position_in_grid]]) {
  out[i] = addsat(in[i], 1);
}
