/**
 * `metal::uniform<T>` (specification section 2.14): a value that all threads share. Here it is the value itself; that
 * all threads pass the same one is the kernel's promise.
 */
#pragma once

#include "type_traits.h"

namespace metal {

template <typename T> struct uniform {
  T value;

  uniform() = default;
  LS_INLINE constexpr explicit uniform(T shared) : value(shared) {}
  LS_INLINE constexpr operator T() const { return value; }
};

template <typename T> LS_INLINE constexpr uniform<T> make_uniform(T value) { return uniform<T>(value); }

/** Operations on uniform values give uniform values. */
#define LS_UNIFORM(op)                                                                                                 \
  template <typename A, typename B> LS_INLINE constexpr auto operator op(uniform<A> a, uniform<B> b) {                 \
    return make_uniform(a.value op b.value);                                                                           \
  }
LS_UNIFORM(+)
LS_UNIFORM(-)
LS_UNIFORM(*)
LS_UNIFORM(/)
LS_UNIFORM(%)
LS_UNIFORM(&)
LS_UNIFORM(|)
LS_UNIFORM(^)
LS_UNIFORM(<<)
LS_UNIFORM(>>)
LS_UNIFORM(==)
LS_UNIFORM(!=)
LS_UNIFORM(<)
LS_UNIFORM(<=)
LS_UNIFORM(>)
LS_UNIFORM(>=)
LS_UNIFORM(&&)
LS_UNIFORM(||)
#undef LS_UNIFORM

} // namespace metal
