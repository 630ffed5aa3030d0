/** Storage of vectors and access to single elements; the traits that tell a vector from a scalar. */
#pragma once

#include "type_traits.h"

namespace metal {
template <typename T, int N> struct vec;
template <typename T, int N> struct packed_vec;
} // namespace metal

namespace lockstep {

/** The type that an element has in a compiler vector: bool is a byte that holds 0 or 1. */
template <typename T> using native_element = metal::conditional_t<metal::is_same_v<T, bool>, uchar, T>;

/** The compiler's vector of `N` elements: aligned to its size, three elements as four (specification section 2.2). */
template <typename T, int N> struct native_vector {
  typedef native_element<T> type __attribute__((ext_vector_type(N)));
};
template <typename T, int N> using native_vector_t = typename native_vector<T, N>::type;

/* On arm64 the compiler aligns vectors to 16 bytes at most; the specification wants 32 for long3, long4, ulong3, ulong4. */
#if defined(__aarch64__)
#define LS_VECTOR_ALIGNMENT(T, N) alignas(sizeof(::lockstep::native_vector_t<T, N>))
#else
#define LS_VECTOR_ALIGNMENT(T, N)
#endif

/**
 * Storage and element access. Elements are reached through a pointer to `T`, so that reading or writing one component
 * of a vector in memory touches the bytes of that component only, as on the GPU.
 */
template <typename T, typename Storage, int N> struct elements {
  Storage data;
  LS_INLINE T &element(int index) { return reinterpret_cast<T *>(&data)[index]; }
  LS_INLINE T element(int index) const { return reinterpret_cast<const T *>(&data)[index]; }
};

/** What a numeric type consists of: its element type and how many; 0 for a scalar. */
template <typename T> struct shape {
  using element = T;
  static constexpr int width = 0;
};
template <typename T, int N> struct shape<metal::vec<T, N>> {
  using element = T;
  static constexpr int width = N;
};
template <typename T, int N> struct shape<metal::packed_vec<T, N>> {
  using element = T;
  static constexpr int width = N;
};

template <typename T> using element_t = typename shape<T>::element;
template <typename T> inline constexpr int width_v = shape<T>::width;
/** How many elements `T` contributes to a constructor's list. */
template <typename T> inline constexpr int count_v = width_v<T> == 0 ? 1 : width_v<T>;

template <typename T> concept scalar = width_v<T> == 0 && metal::is_arithmetic_v<T>;
template <typename T> concept vector = width_v<T> != 0;
template <typename T> concept numeric = scalar<T> || vector<T>;
/** A scalar, or anything that converts to one without being a vector (unscoped enumerations, wrappers). */
template <typename T> concept scalar_like = width_v<T> == 0 && metal::is_convertible_v<T, float>;

/** half and bfloat have no conversion to each other in clang: neither holds all values of the other. */
template <typename A, typename B>
inline constexpr bool converts_through_float = (metal::is_same_v<A, half> && metal::is_same_v<B, bfloat>) ||
                                               (metal::is_same_v<A, bfloat> && metal::is_same_v<B, half>);

/** `value` as a `T`, rounded once. */
template <typename T, typename S> LS_INLINE constexpr T element_cast(S value) {
  if constexpr (converts_through_float<T, S>) {
    return static_cast<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/** `static_cast<T>(value)` or `(T)value`, also between half and bfloat. The front end writes it. */
template <typename T, typename V> LS_INLINE constexpr T cast(V &&value) {
  if constexpr (converts_through_float<T, copied_t<V>>) {
    return static_cast<T>(static_cast<float>(value));
  } else {
    return (T)value;
  }
}

/** Element `index` of a vector, or the scalar itself. */
template <typename V> LS_INLINE constexpr element_t<V> lane(const V &value, int index) {
  if constexpr (width_v<V> == 0) {
    return value;
  } else {
    return value.element(index);
  }
}

/**
 * `v ->* unit` is a copy of `v`, whatever its type. Where the type of a swizzle depends on a template parameter, clang
 * does not look for operators of `a.xy * b.yx` or `2 * a.xy`, because it takes the property for a scalar; behind
 * `->* ::lockstep::unit`, which binds tighter than any other binary operator, it is an ordinary value. The front end
 * appends it to swizzles that are read.
 */
struct unit_selector {
  template <typename T> friend LS_INLINE constexpr copied_t<T> operator->*(T &&value, unit_selector) { return value; }
};
inline constexpr unit_selector unit;

} // namespace lockstep
