// 8x8 matrices of a simdgroup: their loads and stores touch 64 elements on behalf of all lanes.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// case: matrix_read_by_the_other_simdgroup
// why: A simdgroup stores its matrix, the other loads it; the barrier between is missing.
// run: matrix_read_by_the_other_simdgroup threads 64
// buffer: out float 128 output
// buffer: in float 128 ramp
// must: error race A write, B read of tile
// may: error uninitialized_threadgroup B read of tile
kernel void matrix_read_by_the_other_simdgroup(device float *out, device const float *in,
                                               uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[128];
  simdgroup_float8x8 a;
  simdgroup_load(a, in + s * 64, 8);
  simdgroup_store(a, tile + s * 64, 8); // A
  simdgroup_load(a, tile + (1 - s) * 64, 8); // B
  simdgroup_store(a, out + s * 64, 8);
}

// case: matrix_behind_a_barrier
// why: The same with its barrier.
// run: matrix_behind_a_barrier threads 64
// buffer: out float 128 output
// buffer: in float 128 ramp
// flavours: check, check+lockstep
// silent:
kernel void matrix_behind_a_barrier(device float *out, device const float *in, uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[128];
  simdgroup_float8x8 a;
  simdgroup_load(a, in + s * 64, 8);
  simdgroup_store(a, tile + s * 64, 8);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(a, tile + (1 - s) * 64, 8);
  simdgroup_store(a, out + s * 64, 8);
}

// case: matrix_transposed_in_place
// why: Store and transposed load of the same simdgroup: other lanes own those elements.
// run: matrix_transposed_in_place threads 32
// buffer: out float 64 output
// buffer: in float 64 ramp
// must: error lockstep_exchange A write, B read of tile
// may: error uninitialized_threadgroup B read of tile
// may: warning lockstep_exchange A write, B read of tile
kernel void matrix_transposed_in_place(device float *out, device const float *in) {
  threadgroup float tile[64];
  simdgroup_float8x8 a;
  simdgroup_load(a, in, 8);
  simdgroup_store(a, tile, 8); // A
  simdgroup_load(a, tile, 8, ulong2(0, 0), true); // B
  simdgroup_store(a, out, 8);
}

// case: matrix_transposed_behind_a_simdgroup_barrier
// why: The same with simdgroup_barrier.
// run: matrix_transposed_behind_a_simdgroup_barrier threads 32
// buffer: out float 64 output
// buffer: in float 64 ramp
// silent:
kernel void matrix_transposed_behind_a_simdgroup_barrier(device float *out, device const float *in) {
  threadgroup float tile[64];
  simdgroup_float8x8 a;
  simdgroup_load(a, in, 8);
  simdgroup_store(a, tile, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(a, tile, 8, ulong2(0, 0), true);
  simdgroup_store(a, out, 8);
}

// case: tile_staged_by_threads_and_loaded_as_matrix
// why: Threads of two simdgroups stage rows, both load the whole tile as a matrix without a barrier.
// run: tile_staged_by_threads_and_loaded_as_matrix threads 64
// buffer: out float 128 output
// buffer: in float 64 ramp
// must: error race A write, B read of tile
// must: error lockstep_exchange A write, B read of tile
// may: error uninitialized_threadgroup B read of tile
kernel void tile_staged_by_threads_and_loaded_as_matrix(device float *out, device const float *in,
                                                        uint i [[thread_index_in_threadgroup]],
                                                        uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = in[i]; // A
  simdgroup_float8x8 a, sum = make_filled_simdgroup_matrix<float, 8, 8>(0);
  simdgroup_load(a, tile, 8); // B
  simdgroup_multiply_accumulate(sum, a, a, sum);
  simdgroup_store(sum, out + s * 64, 8);
}

// case: scores_by_matrix
// why: Q K' by matrices, softmax of rows by threads, P V by matrices: the barriers of a prefill kernel, all there.
// run: scores_by_matrix threads 64
// buffer: out float 128 output
// buffer: q float 128 0.5,0.25,-0.5,1
// buffer: k float 64 0.5,-1,0.25,1,2
// buffer: v float 64 1,2,3,-4,5
// flavours: check, check+lockstep
// silent:
kernel void scores_by_matrix(device float *out, device const float *q, device const float *k, device const float *v,
                             uint i [[thread_index_in_threadgroup]], uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float scores[128];
  simdgroup_float8x8 a, b, product = make_filled_simdgroup_matrix<float, 8, 8>(0);
  simdgroup_load(a, q + s * 64, 8);
  simdgroup_load(b, k, 8, ulong2(0, 0), true);
  simdgroup_multiply_accumulate(product, a, b, product);
  simdgroup_store(product, scores + s * 64, 8);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 16) {
    threadgroup float *row = scores + i * 8;
    float most = row[0];
    for (uint c = 1; c < 8; ++c) most = max(most, row[c]);
    float sum = 0;
    for (uint c = 0; c < 8; ++c) sum += row[c] = exp(row[c] - most);
    for (uint c = 0; c < 8; ++c) row[c] /= sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(a, scores + s * 64, 8);
  simdgroup_load(b, v, 8);
  product = make_filled_simdgroup_matrix<float, 8, 8>(0);
  simdgroup_multiply_accumulate(product, a, b, product);
  simdgroup_store(product, out + s * 64, 8);
}

// case: matrix_load_behind_the_end
// why: The last tile of a matrix with 12 rows is loaded whole: rows 12 to 15 are not there.
// from: ml-explore/mlx#3912, ggml-org/llama.cpp#27450
// run: matrix_load_behind_the_end threads 32
// buffer: out float 64 output
// buffer: in float 96 ramp
// must: error out_of_bounds A read of in at 384
kernel void matrix_load_behind_the_end(device float *out, device const float *in) {
  simdgroup_float8x8 a;
  simdgroup_load(a, in + 64, 8); // A
  simdgroup_store(a, out, 8);
}

// case: tiles_that_overlap
// why: Row tiles of 8 at a stride of 4 rows: two simdgroups store the rows between, with different values.
// run: tiles_that_overlap threads 64
// buffer: out float 96 output
// buffer: in float 128 ramp
// must: error race A write, A write of out
// must: warning written_twice A write, A write of out
kernel void tiles_that_overlap(device float *out, device const float *in, uint s [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 a;
  simdgroup_load(a, in + s * 64, 8);
  simdgroup_store(a, out + s * 32, 8); // A
}
