/**
 * `metal::packed_vec<T, N>` (specification section 2.2.3): the same elements without padding, aligned like one element.
 * Arithmetic converts to `vec` first.
 */
#pragma once

#include "vector.h"

namespace metal {

template <typename T, int N> struct packed_vec : lockstep::swizzled<T, T[N], N> {
  using base = lockstep::swizzled<T, T[N], N>;
  using base::element;

  packed_vec() = default;
#if defined(LOCKSTEP_FLAVOUR_CHECK) || defined(LOCKSTEP_FLAVOUR_LOCKSTEP)
  packed_vec(const packed_vec &) = default;
  packed_vec &operator=(const packed_vec &) = default;
  /* Element by element: the instrumentation passes over a store of 3, 6 or 12 bytes at once. A loop would become one. */
  LS_INLINE packed_vec &operator=(const packed_vec &other)
    requires(N == 3)
  {
    element(0) = other.element(0);
    element(1) = other.element(1);
    element(2) = other.element(2);
    return *this;
  }
#endif
  LS_INLINE packed_vec(vec<T, N> other) {
    for (int i = 0; i < N; ++i) element(i) = other.element(i);
  }
  template <lockstep::scalar_like S> LS_INLINE packed_vec(S value) : packed_vec(vec<T, N>(value)) {}
  template <typename U>
    requires(!is_same_v<U, T>)
  LS_INLINE explicit packed_vec(vec<U, N> other) : packed_vec(vec<T, N>(other)) {}
  template <typename U>
    requires(!is_same_v<U, T>)
  LS_INLINE explicit packed_vec(packed_vec<U, N> other) : packed_vec(vec<T, N>(other)) {}
  template <typename A, typename B, typename... R>
    requires requires(A first, B second, R... rest) { vec<T, N>(first, second, rest...); }
  LS_INLINE packed_vec(A first, B second, R... rest) : packed_vec(vec<T, N>(first, second, rest...)) {}

  LS_INLINE T &operator[](int index) { return element(index); }
  LS_INLINE T operator[](int index) const { return element(index); }
  LS_INLINE vec<T, N> operator-() const { return -vec<T, N>(*this); }

#define LS_COMPOUND(op)                                                                                                \
  LS_INLINE packed_vec &operator op##=(vec<T, N> other) { return *this = vec<T, N>(*this) op other; }
  LS_COMPOUND(+)
  LS_COMPOUND(-)
  LS_COMPOUND(*)
  LS_COMPOUND(/)
  LS_COMPOUND(%)
  LS_COMPOUND(&)
  LS_COMPOUND(|)
  LS_COMPOUND(^)
  LS_COMPOUND(<<)
  LS_COMPOUND(>>)
#undef LS_COMPOUND
};

/** Packed with packed or scalar; packed with `vec` is found through the implicit conversion to `vec`. */
#define LS_OPERATOR(op)                                                                                                \
  template <typename T, int N> LS_INLINE auto operator op(packed_vec<T, N> a, packed_vec<T, N> b) {                    \
    return vec<T, N>(a) op vec<T, N>(b);                                                                               \
  }                                                                                                                    \
  template <typename T, int N, lockstep::scalar_like S> LS_INLINE auto operator op(packed_vec<T, N> a, S b) {          \
    return vec<T, N>(a) op vec<T, N>(b);                                                                               \
  }                                                                                                                    \
  template <typename T, int N, lockstep::scalar_like S> LS_INLINE auto operator op(S a, packed_vec<T, N> b) {          \
    return vec<T, N>(a) op vec<T, N>(b);                                                                               \
  }
LS_OPERATOR(+)
LS_OPERATOR(-)
LS_OPERATOR(*)
LS_OPERATOR(/)
LS_OPERATOR(%)
LS_OPERATOR(&)
LS_OPERATOR(|)
LS_OPERATOR(^)
LS_OPERATOR(<<)
LS_OPERATOR(>>)
LS_OPERATOR(==)
LS_OPERATOR(!=)
LS_OPERATOR(<)
LS_OPERATOR(<=)
LS_OPERATOR(>)
LS_OPERATOR(>=)
#undef LS_OPERATOR

} // namespace metal
