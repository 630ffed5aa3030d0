// MLA prefill on 8x8 simdgroup matrices: four simdgroups of eight query rows, keys and values in sub-tiles of eight.
#include <metal_stdlib>
using namespace metal;

#include "sequence.h"
#include "fragment_8x8.h"
#include "prefill.h"

// A threadgroup of 128 threads per (32 query rows, head, sequence).
kernel void mla_prefill_8x8(
    device const ELEMENT* q_nope [[buffer(0)]],
    device const ELEMENT* q_rope [[buffer(1)]],
    device const ELEMENT* k_nope [[buffer(2)]],
    device const ELEMENT* k_rope [[buffer(3)]],
    device const ELEMENT* v [[buffer(4)]],
    device const int* cu_seqlens_q [[buffer(5)]],
    device const int* cu_seqlens_k [[buffer(6)]],
    device const int* q_offset [[buffer(7)]],
    device ELEMENT* out [[buffer(8)]],
    device float* lse [[buffer(9)]],
    constant PrefillParams& params [[buffer(10)]],
    threadgroup ELEMENT* stage [[threadgroup(0)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  const Sequence sequence = sequence_at(cu_seqlens_q, cu_seqlens_k, q_offset, group.z);
  prefill<Fragment8x8>(
      q_nope, q_rope, k_nope, k_rope, v, sequence, out, lse, params, stage, group.x, group.y, thread_index, simdgroup,
      lane);
}
