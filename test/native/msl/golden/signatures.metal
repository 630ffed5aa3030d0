#include <metal_stdlib>
using namespace metal;

// Every way in which a kernel parameter is bound.
struct Params {
  uint count;
  float scale;
};

#define BASE 100
constant int kNext = 2;
constant bool has_mask [[function_constant(BASE + 0)]];
constant bool has_bias [[function_constant(BASE + kNext)]];
constant uint width [[function_constant(7)]];
constant bool has_both = has_mask && has_bias;

// Explicit indices, an implicit one after them, and values of the launch.
kernel void explicit_indices(device const float* x [[buffer(2)]], device float* y [[buffer(0)]], constant Params& p,
                             threadgroup half* scratch [[threadgroup(1)]], threadgroup half* more,
                             uint3 group [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {}

// No index at all.
kernel void implicit_indices(const device half* a, const constant float* b, device atomic_uint& counter,
                             threadgroup float* t, uint i [[thread_position_in_grid]]) {}

// Arguments that are there only with certain function constants; two of them share an index.
kernel void predicated(device float* out [[buffer(0)]], device const bool* mask [[buffer(1), function_constant(has_mask)]],
                       device const half* bias [[buffer(1), function_constant(has_bias)]],
                       device const float* both [[function_constant(has_both), buffer(3)]]) {}

[[max_total_threads_per_threadgroup(8 * 32)]] kernel void limited(constant const int64_t strides[3] [[buffer(0)]],
                                                                  device metal::vec<half, 4>* v [[buffer(1)]]) {}

[[kernel]] void attribute_form(device float* const x [[buffer(30)]]) {}

namespace inner {
kernel void nested(device float* x) {}
} // namespace inner

kernel void no_arguments() {}
kernel void declared_only(device float* x);
void not_a_kernel(device float* x) {}
