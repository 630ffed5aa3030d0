// What the check flavours rely on a compiler for: accesses that are counted exactly, at their lines. Two threadgroups of
// 64 threads; native/emulator/self_test_traffic.ts knows every count.
#include <metal_stdlib>
using namespace metal;

kernel void self_test_traffic(device const float4* input [[buffer(0)]],
                              device float* output [[buffer(1)]],
                              constant uint& step [[buffer(2)]],
                              threadgroup float* stage [[threadgroup(0)]],
                              uint id [[thread_index_in_threadgroup]],
                              uint group [[threadgroup_position_in_grid]]) {
  const float4 x = input[group * 64 + id];
  stage[id] = x.x + x.y;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float y = stage[63 - id];
  for (uint i = 0; i < 3; ++i) {
    y += stage[(id / 8 + i * step) % 64];
    y = simd_max(y);
  }
  simdgroup_float8x8 m;
  simdgroup_load(m, stage, 8, ulong2(0), true);
  output[group * 64 + id] = y + m.thread_elements()[0] + x.z + x.w;
}
