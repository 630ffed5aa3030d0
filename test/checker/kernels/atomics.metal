// Atomics do not race with each other, and they order nothing else.
#include <metal_stdlib>
using namespace metal;

// case: histogram_with_atomics
// why: Atomics alone, from two threadgroups.
// run: histogram_with_atomics threads 32 groups 2
// buffer: bins uint 32 0
// buffer: in float 64 ramp
// silent:
kernel void histogram_with_atomics(device atomic_uint *bins, device const float *in, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[uint(in[i]) % 8], 1u, memory_order_relaxed);
}

// case: threadgroup_atomics
// why: The same in threadgroup memory, cleared and read behind barriers.
// run: threadgroup_atomics threads 64
// buffer: out uint 8 output
// buffer: in float 64 ramp
// flavours: check, check+lockstep
// silent:
kernel void threadgroup_atomics(device uint *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint bins[8];
  if (i < 8) atomic_store_explicit(&bins[i], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&bins[uint(in[i]) % 8], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 8) out[i] = atomic_load_explicit(&bins[i], memory_order_relaxed);
}

// case: plain_read_of_an_atomic
// why: One threadgroup counts with atomics, the other looks at the count with a plain load.
// run: plain_read_of_an_atomic threads 32 groups 2
// buffer: count uint 1 0
// buffer: out uint 32 output
// must: error device_race A atomic, B read of count at 0 size 4
kernel void plain_read_of_an_atomic(device atomic_uint *count, device uint *out, uint i [[thread_index_in_threadgroup]],
                                    uint g [[threadgroup_position_in_grid]]) {
  if (g == 0) {
    atomic_fetch_add_explicit(count, 1u, memory_order_relaxed); // A
  } else {
    out[i] = *reinterpret_cast<device uint *>(count) + i; // B
  }
}

// case: plain_clear_of_an_atomic
// why: Thread 0 clears the counter with a plain store, the other simdgroup counts already.
// run: plain_clear_of_an_atomic threads 64
// buffer: out uint 1 output
// must: error race A write, B atomic of count at 0 size 4
// must: error lockstep_exchange A write, B atomic of count at 0 size 4
kernel void plain_clear_of_an_atomic(device uint *out, uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint count;
  if (i == 0) count = 0; // A
  atomic_fetch_add_explicit(reinterpret_cast<threadgroup atomic_uint *>(&count), 1u, memory_order_relaxed); // B
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) out[0] = count;
}

// case: uncleared_atomic
// why: Threadgroup memory comes undefined; counting starts from whatever is there.
// run: uncleared_atomic threads 64
// buffer: out uint 1 output
// must: error uninitialized_threadgroup A atomic of count at 0 size 4
kernel void uncleared_atomic(device uint *out, uint i [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint count;
  atomic_fetch_add_explicit(&count, 1u, memory_order_relaxed); // A
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) out[0] = atomic_load_explicit(&count, memory_order_relaxed);
}

// case: flag_by_relaxed_atomic
// why: The last threadgroup to arrive merges the partials of the others. A relaxed counter tells who is last; that the
//   partials are visible it does not promise, and MSL of this version has no order across threadgroups to ask for.
// run: flag_by_relaxed_atomic threads 32 groups 2
// buffer: out float 32 output
// buffer: partials float 64 unwritten
// buffer: count uint 1 0
// buffer: in float 64 ramp
// must: error device_race A write, B read of partials size 4
kernel void flag_by_relaxed_atomic(device float *out, device float *partials, device atomic_uint *count,
                                   device const float *in, uint i [[thread_index_in_threadgroup]],
                                   uint g [[threadgroup_position_in_grid]]) {
  threadgroup uint arrived;
  partials[g * 32 + i] = in[g * 32 + i]; // A
  threadgroup_barrier(mem_flags::mem_device);
  if (i == 0) arrived = atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (arrived == 1) {
    out[i] = partials[i] + partials[32 + i]; // B
  }
}

// case: maximum_by_atomics
// why: Atomic maxima of two threadgroups, read by a later dispatch with plain loads.
// run: maximum_by_atomics threads 32 groups 2
// run: read_maximum threads 32
// buffer: most uint 1 0
// buffer: out uint 32 output
// buffer: in uint 64 ramp
// silent:
kernel void maximum_by_atomics(device atomic_uint *most, device const uint *in, uint i [[thread_position_in_grid]]) {
  atomic_fetch_max_explicit(most, in[i], memory_order_relaxed);
}
kernel void read_maximum(device const uint *most, device uint *out, uint i [[thread_position_in_grid]]) {
  out[i] = most[0] + i;
}
