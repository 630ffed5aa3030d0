/** `as_type<To>(from)`: the same bits as another type (specification section 2.22). */
#pragma once

#include "vector_names.h"

/** Reinterprets the bits of `from`. Both types have the same size. */
template <typename To, typename From> LS_INLINE constexpr To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From), "as_type needs types of the same size");
#if defined(__x86_64__)
  // Clang 19 makes a copysign of `sign bit of y | constant`, and for a bfloat on x86 that loses the sign: hide the bits.
  if constexpr (metal::is_same_v<To, bfloat>) {
    ushort bits = __builtin_bit_cast(ushort, from);
    if (!__builtin_is_constant_evaluated()) asm("" : "+r"(bits));
    return __builtin_bit_cast(To, bits);
  }
#endif
  return __builtin_bit_cast(To, from);
}

namespace metal {
using ::as_type;
}
