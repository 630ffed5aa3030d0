/** `as_type<To>(from)`: the same bits as another type (specification section 2.22). */
#pragma once

#include "vector_names.h"

/** Reinterprets the bits of `from`. Both types have the same size. */
template <typename To, typename From> LS_INLINE constexpr To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From), "as_type needs types of the same size");
  return __builtin_bit_cast(To, from);
}

namespace metal {
using ::as_type;
}
