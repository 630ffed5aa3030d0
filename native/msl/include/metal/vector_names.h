/** The names `float4`, `packed_half3`, ...: in the global namespace, as in MSL, and in `metal`. */
#pragma once

#include "packed_vector.h"

#define LS_NAME_VECTOR(element, n)                                                                                     \
  using element##n = metal::vec<element, n>;                                                                           \
  using packed_##element##n = metal::packed_vec<element, n>;                                                           \
  namespace metal {                                                                                                    \
  using ::element##n;                                                                                                  \
  using ::packed_##element##n;                                                                                         \
  }
#define LS_NAME_VECTORS(element) LS_NAME_VECTOR(element, 2) LS_NAME_VECTOR(element, 3) LS_NAME_VECTOR(element, 4)

LS_NAME_VECTORS(bool)
LS_NAME_VECTORS(char)
LS_NAME_VECTORS(uchar)
LS_NAME_VECTORS(short)
LS_NAME_VECTORS(ushort)
LS_NAME_VECTORS(int)
LS_NAME_VECTORS(uint)
LS_NAME_VECTORS(long)
LS_NAME_VECTORS(ulong)
LS_NAME_VECTORS(half)
LS_NAME_VECTORS(bfloat)
LS_NAME_VECTORS(float)

#undef LS_NAME_VECTORS
#undef LS_NAME_VECTOR

/** Size and alignment are part of the language: host and kernel share structures (specification table 2.3, 2.5). */
static_assert(sizeof(float2) == 8 && sizeof(float3) == 16 && alignof(float3) == 16 && sizeof(float4) == 16);
static_assert(sizeof(half3) == 8 && alignof(half3) == 8 && sizeof(bool3) == 4 && sizeof(long4) == 32);
static_assert(sizeof(packed_float3) == 12 && alignof(packed_float3) == 4 && sizeof(packed_char3) == 3);
