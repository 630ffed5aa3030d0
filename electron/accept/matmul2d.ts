/**
 * The smallest source on the path that M5 is for: one matmul2d of half with a cooperative tensor as its destination (MSL 4.0,
 * macOS 26). It is compiled and its pipeline built, never dispatched: on M1 to M4 it shows what Metal makes of it.
 */

export const MATMUL2D_LANGUAGE = "4.0";
export const MATMUL2D_FUNCTION = "product_16x16";
/** One simdgroup: matmul2d runs in the scope that it is declared for, and the pipeline must state its threads. */
export const MATMUL2D_THREADS = [32, 1, 1] as const;

export const MATMUL2D_SOURCE = {
  path: "accept/product_16x16.metal",
  text: `#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>

using namespace metal;

constant constexpr int side = 16;

kernel void ${MATMUL2D_FUNCTION}(device half* left [[buffer(0)]], device half* right [[buffer(1)]],
                          device float* out [[buffer(2)]]) {
  using half_matrix = tensor<device half, dextents<int32_t, 2>, tensor_inline>;
  using float_matrix = tensor<device float, dextents<int32_t, 2>, tensor_inline>;
  const auto extents = dextents<int32_t, 2>(side, side);
  half_matrix a(left, extents);
  half_matrix b(right, extents);
  float_matrix c(out, extents);

  constexpr auto descriptor = mpp::tensor_ops::matmul2d_descriptor(
      side, side, side, false, false, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply);
  mpp::tensor_ops::matmul2d<descriptor, execution_simdgroup> product;
  auto sum = product.get_destination_cooperative_tensor<half_matrix, half_matrix, float>();
  product.run(a, b, sum);
  sum.store(c);
}
`,
} as const;
