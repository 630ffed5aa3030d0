// What the emulator relies on a compiler for, with results that are known exactly. One threadgroup of 64 threads writes
// eight values each; native/emulator/self_test.ts computes the same ones.
#include <metal_stdlib>
using namespace metal;

constant float factor [[function_constant(0)]];

float space_of(device const float*) { return 1; }
float space_of(threadgroup const float*) { return 2; }
float space_of(thread const float*) { return 3; }
float space_of(constant float*) { return 4; }

template <typename T>
[[kernel]] void self_test(device const T* input [[buffer(0)]],
                          device T* output [[buffer(1)]],
                          constant T& scale [[buffer(2)]],
                          threadgroup T* products [[threadgroup(0)]],
                          uint id [[thread_index_in_threadgroup]],
                          ushort lane [[thread_index_in_simdgroup]],
                          uint group [[simdgroup_index_in_threadgroup]]) {
  threadgroup T staged[64];
  staged[id] = input[id];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const T reversed = staged[63 - id];

  device T* out = output + id * 8;
  out[0] = simd_sum(reversed) * scale;
  out[1] = simd_max(reversed) + simd_shuffle_xor(reversed, 1) * 100;
  T divergent = lane & 1 ? simd_sum(T(1)) : simd_max(T(lane));
  for (ushort turn = 0; turn < lane % 3; ++turn) divergent += simd_sum(T(1));
  out[2] = divergent;

  simdgroup_matrix<T, 8, 8> a, b, c = make_filled_simdgroup_matrix<T, 8, 8>(T(1));
  simdgroup_load(a, input, 8);
  simdgroup_load(b, staged, 8, ulong2(0), true);
  simdgroup_multiply_accumulate(c, a, b, c);
  simdgroup_store(c, products + group * 64, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[3] = products[group * 64 + lane];
  out[4] = products[group * 64 + 32 + lane];

  T local[1] = {0};
  out[5] = space_of(input) + 10 * space_of(staged) + 100 * space_of(local) + 1000 * space_of(&scale);
  vec<T, 4> v = vec<T, 4>(1, 2, 3, 4);
  v.xy = v.yx;
  v.zw *= 2;
  out[6] = dot(v, vec<T, 4>(1, 10, 100, 1000));
  out[7] = is_function_constant_defined(factor) ? factor * T(id) : T(-1);
}

template [[host_name("self_test_float")]] [[kernel]] decltype(self_test<float>) self_test<float>;
