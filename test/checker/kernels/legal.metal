// Unusual and right: patterns that a careless checker complains of. Beside some of them, what a slip makes of it.
#include <metal_stdlib>
using namespace metal;

// case: roles_by_simdgroup
// why: One simdgroup produces blocks, the other consumes the block before; both meet at a barrier outside of the branch.
// run: roles_by_simdgroup threads 64
// buffer: out float 32 output
// buffer: in float 128 ramp
// flavours: check, check+lockstep
// silent:
kernel void roles_by_simdgroup(device float *out, device const float *in, uint lane [[thread_index_in_simdgroup]],
                               uint role [[simdgroup_index_in_threadgroup]]) {
  threadgroup float ring[2][32];
  float sum = 0;
  for (uint block = 0; block <= 4; ++block) {
    if (role == 0 && block < 4) ring[block % 2][lane] = in[block * 32 + lane];
    if (role == 1 && block > 0) sum += ring[(block - 1) % 2][31 - lane];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (role == 1) out[lane] = sum;
}

// case: roles_with_a_simdgroup_barrier
// why: The same roles behind a barrier that reaches the own simdgroup alone.
// run: roles_with_a_simdgroup_barrier threads 64
// buffer: out float 32 output
// buffer: in float 128 ramp
// may: error uninitialized_threadgroup B read of ring
// must: error race A write, B read of ring
kernel void roles_with_a_simdgroup_barrier(device float *out, device const float *in, uint lane [[thread_index_in_simdgroup]],
                                           uint role [[simdgroup_index_in_threadgroup]]) {
  threadgroup float ring[2][32];
  float sum = 0;
  for (uint block = 0; block <= 4; ++block) {
    if (role == 0 && block < 4) ring[block % 2][lane] = in[block * 32 + lane]; // A
    if (role == 1 && block > 0) sum += ring[(block - 1) % 2][31 - lane]; // B
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (role == 1) out[lane] = sum;
}

// case: fetched_two_ahead_into_three
// why: Three buffers, fetched two blocks ahead, one barrier a turn: the buffer that is filled was used a turn ago.
// run: fetched_two_ahead_into_three threads 64
// buffer: out float 64 output
// buffer: in float 384 ramp
// silent:
kernel void fetched_two_ahead_into_three(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float ring[3][64];
  ring[0][i] = in[i];
  ring[1][i] = in[64 + i];
  float sum = 0;
  for (uint block = 0; block < 6; ++block) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (block + 2 < 6) ring[(block + 2) % 3][i] = in[(block + 2) * 64 + i];
    sum += ring[block % 3][63 - i];
  }
  out[i] = sum;
}

// case: fetched_two_ahead_into_two
// why: The same distance with two buffers: the block in use is overwritten by faster simdgroups.
// run: fetched_two_ahead_into_two threads 64
// buffer: out float 64 output
// buffer: in float 384 ramp
// must: error race A write, B read of ring
kernel void fetched_two_ahead_into_two(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float ring[2][64];
  ring[0][i] = in[i];
  ring[1][i] = in[64 + i];
  float sum = 0;
  for (uint block = 0; block < 6; ++block) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (block + 2 < 6) ring[(block + 2) % 2][i] = in[(block + 2) * 64 + i]; // A
    sum += ring[block % 2][63 - i]; // B
  }
  out[i] = sum;
}

// case: tiles_from_a_counter
// why: Threadgroups take the next tile from an atomic counter until none is left. The number of turns differs from
//   threadgroup to threadgroup and is the same for all threads of one.
// run: tiles_from_a_counter threads 64 groups 3
// buffer: out float 640 output
// buffer: in float 640 ramp
// buffer: next uint 1 0
// silent:
kernel void tiles_from_a_counter(device float *out, device const float *in, device atomic_uint *next,
                                 uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint tile;
  while (true) {
    if (i == 0) tile = atomic_fetch_add_explicit(next, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint mine = tile;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (mine >= 10) break;
    out[mine * 64 + i] = in[mine * 64 + i] * 2;
  }
}

// case: tiles_from_a_counter_without_second_barrier
// why: Thread 0 takes the next tile while slower simdgroups still read the number of this one.
// run: tiles_from_a_counter_without_second_barrier threads 64 groups 3
// buffer: out float 640 output
// buffer: in float 640 ramp
// buffer: next uint 1 0
// must: error race A write, B read of tile at 0 size 4
// may: error lockstep_exchange A write, B read of tile at 0 size 4
// may: error unwritten_output - none of out
// may: warning exited_before_barrier C barrier, - exit
// may: info written_twice D write, D write of out
kernel void tiles_from_a_counter_without_second_barrier(device float *out, device const float *in, device atomic_uint *next,
                                                        uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint tile;
  while (true) {
    if (i == 0) tile = atomic_fetch_add_explicit(next, 1u, memory_order_relaxed); // A
    threadgroup_barrier(mem_flags::mem_threadgroup); // C
    const uint mine = tile; // B
    if (mine >= 10) break;
    out[mine * 64 + i] = in[mine * 64 + i] * 2; // D
  }
}

// case: turns_from_device_memory
// why: The number of turns is data, the same for every thread of a threadgroup.
// run: turns_from_device_memory threads 64 groups 2
// buffer: out float 128 output
// buffer: in float 512 ramp
// buffer: lengths uint 2 1,4
// silent:
kernel void turns_from_device_memory(device float *out, device const float *in, device const uint *lengths,
                                     uint i [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[64];
  float sum = 0;
  for (uint block = 0; block < lengths[g]; ++block) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tile[i] = in[block * 64 + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[(i + 33) % 64];
  }
  out[g * 64 + i] = sum;
}

// case: left_by_a_vote_of_each_simdgroup
// why: Each simdgroup leaves the loop by its own vote, and a barrier stands in the loop: they leave at different turns.
// run: left_by_a_vote_of_each_simdgroup threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error divergent_barrier A barrier, B barrier
// may: error unwritten_output - none of out
kernel void left_by_a_vote_of_each_simdgroup(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  float sum = in[i];
  for (uint turn = 0; turn < 8; ++turn) {
    tile[i] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[63 - i];
    if (simd_all(sum > 80 && i < 32)) break;
    threadgroup_barrier(mem_flags::mem_threadgroup); // A
  }
  threadgroup_barrier(mem_flags::mem_threadgroup); // B
  out[i] = sum;
}

// case: partials_as_structures
// why: Running maximum, sum and index of each simdgroup as one structure, merged behind a barrier.
// run: partials_as_structures threads 128
// buffer: out float 3 output
// buffer: in float 128 ramp
// flavours: check, check+lockstep
// silent:
struct Partial {
  float best;
  float sum;
  uint from;
};
kernel void partials_as_structures(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]],
                                   uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup Partial partials[4];
  const float best = simd_max(in[i]);
  const float sum = simd_sum(exp(in[i] - best));
  if (simd_is_first()) partials[s] = Partial{best, sum, s};
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) {
    Partial all = partials[0];
    for (uint k = 1; k < 4; ++k) {
      const Partial one = partials[k];
      const float most = max(all.best, one.best);
      all.sum = all.sum * exp(all.best - most) + one.sum * exp(one.best - most);
      all.from = one.best >= all.best ? one.from : all.from;
      all.best = most;
    }
    out[0] = all.best;
    out[1] = all.sum;
    out[2] = float(all.from);
  }
}

// case: partials_as_structures_without_barrier
// why: The same without its barrier; whole structures are copied.
// run: partials_as_structures_without_barrier threads 128
// buffer: out float 4 output
// buffer: in float 128 ramp
// may: error uninitialized_threadgroup B read of partials
// must: error race A write, B read of partials
// may: error lockstep_exchange A write, B read of partials
kernel void partials_as_structures_without_barrier(device float *out, device const float *in,
                                                   uint i [[thread_index_in_threadgroup]],
                                                   uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup Partial partials[4];
  const float best = simd_max(in[i]);
  if (simd_is_first()) partials[s] = Partial{best, in[i], s}; // A
  if (i < 4) {
    const Partial one = partials[3 - i]; // B
    out[i] = one.best + one.sum + float(one.from);
  }
}

// case: packed_rows_staged
// why: Positions of 12 bytes, staged packed and read reversed behind a barrier.
// run: packed_rows_staged threads 64
// buffer: out float 64 output
// buffer: in float 192 ramp
// silent:
kernel void packed_rows_staged(device float *out, device const packed_float3 *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup packed_float3 tile[64];
  tile[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = dot(float3(tile[63 - i]), float3(tile[i]));
}

// case: memory_used_twice_as_other_types
// why: Scores in float give way to weights in half in the same bytes, with a barrier between the two lives.
// run: memory_used_twice_as_other_types threads 64 memory 256
// buffer: out float 64 output
// buffer: in float 64 ramp
// flavours: check, check+lockstep
// silent:
kernel void memory_used_twice_as_other_types(device float *out, device const float *in, threadgroup char *memory [[threadgroup(0)]],
                                             uint i [[thread_index_in_threadgroup]]) {
  threadgroup float *scores = reinterpret_cast<threadgroup float *>(memory);
  threadgroup half *weights = reinterpret_cast<threadgroup half *>(memory);
  scores[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float score = scores[63 - i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  weights[i] = half(score / 64);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = float(weights[(i + 40) % 64]);
}

// case: ragged_tail_through_scratch
// why: A matrix result of 8 rows of which 5 exist goes through scratch of the simdgroup, and only those are copied.
// run: ragged_tail_through_scratch threads 64 memory 512
// buffer: out float 80 output
// buffer: in float 128 ramp
// flavours: check, check+lockstep
// silent:
kernel void ragged_tail_through_scratch(device float *out, device const float *in, threadgroup float *memory [[threadgroup(0)]],
                                        uint lane [[thread_index_in_simdgroup]], uint s [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 a, sum = make_filled_simdgroup_matrix<float, 8, 8>(0);
  threadgroup float *own = memory + s * 64;
  simdgroup_load(a, in + s * 64, 8);
  simdgroup_multiply_accumulate(sum, a, a, sum);
  simdgroup_store(sum, own, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = lane; k < 40; k += 32) out[s * 40 + k] = own[k];
}

// case: simdgroup_that_works_alone
// why: One simdgroup prepares a table by itself, in steps with its own barrier, while the other does something else.
// run: simdgroup_that_works_alone threads 64
// buffer: out float 64 output
// buffer: in float 64 ramp
// flavours: check, check+lockstep
// silent:
kernel void simdgroup_that_works_alone(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]],
                                       uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float table[32];
  float value = in[i];
  if (i < 32) {
    table[lane] = value;
    for (uint step = 1; step < 32; step *= 2) {
      simdgroup_barrier(mem_flags::mem_threadgroup);
      const float before = lane >= step ? table[lane - step] : 0;
      simdgroup_barrier(mem_flags::mem_threadgroup);
      table[lane] += before;
    }
  } else {
    value = simd_prefix_inclusive_sum(value);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = value + table[i % 32];
}

// case: accumulated_by_its_owner
// why: Each thread adds to its own element of the output, turn by turn: no fault, only traffic.
// run: accumulated_by_its_owner threads 64
// buffer: out float 64 output
// buffer: in float 256 ramp
// must: info written_twice A write, B write of out size 4 times 64
// must: info written_twice A write, A write of out size 4 times 192
kernel void accumulated_by_its_owner(device float *out, device const float *in, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  out[i] = 0; // B
  for (uint block = 0; block < 4; ++block) {
    tile[i] = in[block * 64 + i];
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    out[i] += tile[63 - i]; // A
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  }
}

// case: output_summed_by_atomics
// why: A dispatch clears the output, threadgroups add their parts by atomics: many writers, as it is meant.
// run: clear_sums threads 32
// run: output_summed_by_atomics threads 64 groups 4
// buffer: sums float 32 output
// buffer: in float 256 ramp
// silent:
kernel void clear_sums(device float *sums, uint i [[thread_position_in_grid]]) {
  sums[i] = 0;
}
kernel void output_summed_by_atomics(device atomic_float *sums, device const float *in, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&sums[i % 32], in[i], memory_order_relaxed);
}

// case: last_threadgroup_behind_fences
// why: The last threadgroup to arrive merges the partials of all, ordered by fences of MSL 3.2 on either side of the counter.
//   Right, but the checker follows no fences: it says so in a warning, where it calls the same without fences an error.
// run: last_threadgroup_behind_fences threads 32 groups 3
// buffer: out float 32 output
// buffer: partials float 96 unwritten
// buffer: count uint 1 0
// buffer: in float 96 ramp
// must: warning device_race A write, B read of partials size 4
kernel void last_threadgroup_behind_fences(device float *out, device float *partials, device atomic_uint *count,
                                           device const float *in, uint i [[thread_index_in_threadgroup]],
                                           uint g [[threadgroup_position_in_grid]]) {
  threadgroup uint arrived;
  partials[g * 32 + i] = in[g * 32 + i]; // A
  threadgroup_barrier(mem_flags::mem_device);
  if (i == 0) {
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    arrived = atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  if (arrived == 2) {
    float sum = 0;
    for (uint k = 0; k < 3; ++k) sum += partials[k * 32 + i]; // B
    out[i] = sum;
  }
}
