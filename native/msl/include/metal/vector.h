/**
 * `metal::vec<T, N>` (specification section 2.2): the compiler's vector with MSL's constructors, swizzles and
 * operators. Trivially copyable, so it is passed in registers and may lie in any address space.
 */
#pragma once

#include "initializer_list.h"
#include "vector_swizzle.h"

namespace metal {

template <typename T, int N>
struct LS_VECTOR_ALIGNMENT(T, N) vec : lockstep::swizzled<T, lockstep::native_vector_t<T, N>, N> {
  using native = lockstep::native_vector_t<T, N>;
  using base = lockstep::swizzled<T, native, N>;
  using base::data;
  using base::element;

  vec() = default;

  /** A scalar converts to a vector implicitly (a real to integers explicitly): every element is `value`. */
  template <lockstep::scalar_like S>
  LS_INLINE constexpr explicit(is_floating_point_v<S> && is_integral_v<T>) vec(S value)
      : base{{native(cast(value))}} {}

  /** Vectors of another element type convert explicitly, element by element. */
  template <typename U>
    requires(!is_same_v<U, T>)
  LS_INLINE constexpr explicit vec(vec<U, N> other) : base{{convert<U>(other.data)}} {}

  LS_INLINE constexpr vec(packed_vec<T, N> other) {
    for (int i = 0; i < N; ++i) element(i) = other.element(i);
  }
  template <typename U>
    requires(!is_same_v<U, T>)
  LS_INLINE explicit vec(packed_vec<U, N> other) : vec(vec<U, N>(other)) {}

  /** Any mix of scalars and vectors with `N` elements in all: `float4(xy, 0, 1)`. */
  template <typename A, typename B, typename... R>
    requires(lockstep::count_v<A> + lockstep::count_v<B> + (0 + ... + lockstep::count_v<R>) == N)
  LS_INLINE constexpr vec(A first, B second, R... rest) {
    if constexpr (2 + sizeof...(R) == N) { // scalars only
      data = native{cast(first), cast(second), cast(rest)...};
    } else {
      int next = 0;
      append(next, first);
      append(next, second);
      (append(next, rest), ...);
    }
  }

  /** `uint4 v = {a, b, c}`: braces with scalars, as for an array; elements that are not listed are 0. */
  LS_INLINE constexpr vec(std::initializer_list<T> list)
      : base{{listed(list, make_index_sequence<N>{})}} {}

  LS_INLINE static constexpr vec wrap(native value) {
    vec result;
    result.data = value;
    return result;
  }

  LS_INLINE T &operator[](int index) { return element(index); }
  LS_INLINE T operator[](int index) const { return element(index); }

#define LS_ARITHMETIC(op)                                                                                              \
  LS_INLINE friend constexpr vec operator op(vec a, vec b) { return wrap(a.data op b.data); }                          \
  LS_INLINE constexpr vec &operator op##=(vec other) {                                                                 \
    data = data op other.data;                                                                                         \
    return *this;                                                                                                      \
  }
  LS_ARITHMETIC(+)
  LS_ARITHMETIC(-)
  LS_ARITHMETIC(*)
  LS_ARITHMETIC(/)
  LS_ARITHMETIC(%)
  LS_ARITHMETIC(&)
  LS_ARITHMETIC(|)
  LS_ARITHMETIC(^)
#undef LS_ARITHMETIC

/** Shift counts are taken modulo the width of the element (specification section 3.1). */
#define LS_SHIFT(op)                                                                                                   \
  LS_INLINE friend constexpr vec operator op(vec a, vec b) {                                                           \
    return wrap(a.data op(b.data & native(static_cast<T>(8 * sizeof(T) - 1))));                                        \
  }                                                                                                                    \
  LS_INLINE constexpr vec &operator op##=(vec other) { return *this = *this op other; }
  LS_SHIFT(<<)
  LS_SHIFT(>>)
#undef LS_SHIFT

#define LS_COMPARISON(op)                                                                                              \
  LS_INLINE friend constexpr vec<bool, N> operator op(vec a, vec b) { return truth(a.data op b.data); }
  LS_COMPARISON(==)
  LS_COMPARISON(!=)
  LS_COMPARISON(<)
  LS_COMPARISON(<=)
  LS_COMPARISON(>)
  LS_COMPARISON(>=)
#undef LS_COMPARISON

  LS_INLINE friend constexpr vec<bool, N> operator&&(vec a, vec b) { return truth((a.data != 0) & (b.data != 0)); }
  LS_INLINE friend constexpr vec<bool, N> operator||(vec a, vec b) { return truth((a.data != 0) | (b.data != 0)); }
  LS_INLINE constexpr vec<bool, N> operator!() const { return truth(data == 0); }
  LS_INLINE constexpr vec operator-() const { return wrap(-data); }
  LS_INLINE constexpr vec operator+() const { return *this; }
  LS_INLINE constexpr vec operator~() const { return wrap(~data); }
  LS_INLINE constexpr vec &operator++() { return *this += vec(T(1)); }
  LS_INLINE constexpr vec &operator--() { return *this -= vec(T(1)); }
  LS_INLINE constexpr vec operator++(int) {
    const vec before = *this;
    ++*this;
    return before;
  }
  LS_INLINE constexpr vec operator--(int) {
    const vec before = *this;
    --*this;
    return before;
  }

private:
  template <size_t... I>
  LS_INLINE static constexpr native listed(std::initializer_list<T> list, index_sequence<I...>) {
    return native{(I < list.size() ? lockstep::native_element<T>(list.begin()[I]) : lockstep::native_element<T>(0))...};
  }
  /** A comparison of compiler vectors gives 0 or -1 per element; a bool vector holds 0 or 1. */
  template <typename M> LS_INLINE static constexpr vec<bool, N> truth(M mask) {
    using bytes = lockstep::native_vector_t<bool, N>;
    return vec<bool, N>::wrap(__builtin_convertvector(mask, bytes) & bytes(1));
  }
  template <typename U, typename M> LS_INLINE static constexpr native convert(M other) {
    if constexpr (is_same_v<T, bool>) {
      return truth(other != 0).data;
    } else if constexpr (lockstep::converts_through_float<T, U>) {
      return __builtin_convertvector(vec<float, N>(vec<U, N>::wrap(other)).data, native);
    } else {
      return __builtin_convertvector(other, native);
    }
  }
  template <typename S> LS_INLINE static constexpr lockstep::native_element<T> cast(S value) {
    return static_cast<lockstep::native_element<T>>(lockstep::element_cast<T>(value));
  }
  template <typename V> LS_INLINE void append(int &next, const V &value) {
    for (int i = 0; i < lockstep::count_v<V>; ++i) {
      element(next++) = lockstep::element_cast<T>(lockstep::lane(value, i));
    }
  }
};

} // namespace metal
