#include <metal_stdlib>
using namespace metal;

// One thread a query head. q comes in two halves, keys and values as 4-bit codes with a scale and a bias for 8 of them.
static float element(device const uint* codes, device const float* scales, device const float* biases, uint at) {
  const uint code = (codes[at / 8] >> (4 * (at % 8))) & 15;
  return scales[at / 8] * float(code) + biases[at / 8];
}

kernel void quantised(device const float* q_low [[buffer(0)]], device const float* q_high [[buffer(1)]],
                      device const uint* k_codes [[buffer(2)]], device const float* k_scales [[buffer(3)]],
                      device const float* k_biases [[buffer(4)]], device const uint* v_codes [[buffer(5)]],
                      device const float* v_scales [[buffer(6)]], device const float* v_biases [[buffer(7)]],
                      device float* out [[buffer(8)]], constant uint2& size [[buffer(9)]],
                      uint head [[threadgroup_position_in_grid]]) {
  const uint keys = size.x;
  const uint kv = head / size.y * keys * 16;
  float top = -INFINITY;
  float sum = 0;
  float o[16] = {};
  for (uint key = 0; key < keys; ++key) {
    float score = 0;
    for (uint d = 0; d < 16; ++d) {
      const float q = d < 8 ? q_low[head * 8 + d] : q_high[head * 8 + d - 8];
      score += q * element(k_codes, k_scales, k_biases, kv + key * 16 + d);
    }
    score *= 0.25f;
    const float next = max(top, score);
    const float keep = exp(top - next);
    const float weight = exp(score - next);
    sum = sum * keep + weight;
    for (uint d = 0; d < 16; ++d) o[d] = o[d] * keep + weight * element(v_codes, v_scales, v_biases, kv + key * 16 + d);
    top = next;
  }
  for (uint d = 0; d < 16; ++d) out[head * 16 + d] = o[d] / sum;
}
