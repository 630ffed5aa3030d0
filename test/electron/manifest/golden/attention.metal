#include <metal_stdlib>
using namespace metal;

#include "shape.h"

/** One thread a (query, head): plain attention with strides, so that any layout can be tried. */
kernel void attention(device const ELEMENT *q [[buffer(0)]], device const ELEMENT *k [[buffer(1)]],
                      device const ELEMENT *v [[buffer(2)]], device float *out [[buffer(3)]],
                      constant Shape &shape [[buffer(4)]], uint2 at [[thread_position_in_grid]]) {
  const uint head = at.x, query = at.y, kv_head = head / (shape.heads / shape.kv_heads);
  const uint seen = shape.causal ? shape.keys - shape.queries + query + 1 : shape.keys;
  device const ELEMENT *row = q + head * shape.q_head + query * shape.q_row;
  float most = -INFINITY;
  for (uint j = 0; j < seen; ++j) {
    float score = 0;
    for (uint d = 0; d < shape.dim; ++d) score += float(row[d]) * float(k[kv_head * shape.k_head + j * shape.k_row + d]);
    most = max(most, score * shape.scale);
  }
  float sum = 0;
  for (uint d = 0; d < shape.value; ++d) out[head * shape.out_head + query * shape.value + d] = 0;
  for (uint j = 0; j < seen; ++j) {
    float score = 0;
    for (uint d = 0; d < shape.dim; ++d) score += float(row[d]) * float(k[kv_head * shape.k_head + j * shape.k_row + d]);
    const float weight = exp(score * shape.scale - most);
    sum += weight;
    for (uint d = 0; d < shape.value; ++d)
      out[head * shape.out_head + query * shape.value + d] += weight * float(v[kv_head * shape.v_head + j * shape.v_row + d]);
  }
  for (uint d = 0; d < shape.value; ++d) out[head * shape.out_head + query * shape.value + d] /= sum;
}
