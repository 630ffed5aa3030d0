/** `metal::array<T, N>` (specification section 2.12.1): an array that is a value. */
#pragma once

#include "type_traits.h"

namespace metal {

template <typename T, size_t N> struct array {
  /** An aggregate: `array<float, 2> a = {1, 2}`. */
  T elements[N];

  LS_INLINE constexpr size_t size() const { return N; }
  LS_INLINE constexpr bool empty() const { return N == 0; }
  LS_INLINE constexpr T &operator[](size_t index) { return elements[index]; }
  LS_INLINE constexpr const T &operator[](size_t index) const { return elements[index]; }
  LS_INLINE constexpr T *data() { return elements; }
  LS_INLINE constexpr const T *data() const { return elements; }
  LS_INLINE constexpr T *begin() { return elements; }
  LS_INLINE constexpr const T *begin() const { return elements; }
  LS_INLINE constexpr T *end() { return elements + N; }
  LS_INLINE constexpr const T *end() const { return elements + N; }
};

} // namespace metal
