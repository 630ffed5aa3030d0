/** The names that `<simd/simd.h>` gives vectors and matrices, for headers that host and kernel share. */
#pragma once

#include "matrix.h"

namespace simd {}

#define LS_SIMD_VECTOR(element, n)                                                                                     \
  using simd_##element##n = element##n;                                                                                \
  using vector_##element##n = element##n;                                                                              \
  namespace simd {                                                                                                     \
  using ::element##n;                                                                                                  \
  }
#define LS_SIMD_VECTORS(element)                                                                                       \
  LS_SIMD_VECTOR(element, 2) LS_SIMD_VECTOR(element, 3) LS_SIMD_VECTOR(element, 4)
#define LS_SIMD_MATRIX(element, c, r)                                                                                  \
  using simd_##element##c##x##r = element##c##x##r;                                                                    \
  using matrix_##element##c##x##r = element##c##x##r;                                                                  \
  namespace simd {                                                                                                     \
  using ::element##c##x##r;                                                                                            \
  }
#define LS_SIMD_MATRICES(element)                                                                                      \
  LS_SIMD_MATRIX(element, 2, 2) LS_SIMD_MATRIX(element, 2, 3) LS_SIMD_MATRIX(element, 2, 4)                            \
  LS_SIMD_MATRIX(element, 3, 2) LS_SIMD_MATRIX(element, 3, 3) LS_SIMD_MATRIX(element, 3, 4)                            \
  LS_SIMD_MATRIX(element, 4, 2) LS_SIMD_MATRIX(element, 4, 3) LS_SIMD_MATRIX(element, 4, 4)

LS_SIMD_VECTORS(char)
LS_SIMD_VECTORS(uchar)
LS_SIMD_VECTORS(short)
LS_SIMD_VECTORS(ushort)
LS_SIMD_VECTORS(int)
LS_SIMD_VECTORS(uint)
LS_SIMD_VECTORS(long)
LS_SIMD_VECTORS(ulong)
LS_SIMD_VECTORS(half)
LS_SIMD_VECTORS(float)
LS_SIMD_MATRICES(half)
LS_SIMD_MATRICES(float)

#undef LS_SIMD_VECTOR
#undef LS_SIMD_VECTORS
#undef LS_SIMD_MATRIX
#undef LS_SIMD_MATRICES
