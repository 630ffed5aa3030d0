/** Relational functions (specification section 6.4, `metal_relational`). */
#pragma once

#include "common.h"

#define LS_QUESTION(name, expression)                                                                                  \
  template <lockstep::arithmetic_operand A> LS_INLINE constexpr lockstep::like_t<bool, A> name(A a) {                  \
    return lockstep::test(LS_EACH(auto v) {                                                                            \
      const float x = static_cast<float>(v);                                                                           \
      return expression;                                                                                               \
    }, a);                                                                                                             \
  }

namespace metal {

LS_QUESTION(isnan, x != x)
LS_QUESTION(isinf, __builtin_fabsf(x) == __builtin_inff())
LS_QUESTION(isfinite, __builtin_fabsf(x) < __builtin_inff())
LS_QUESTION(signbit, __builtin_signbitf(x) != 0)

/** Neither zero, subnormal, infinite nor NaN in the format of the element type. */
template <lockstep::arithmetic_operand A> LS_INLINE constexpr lockstep::like_t<bool, A> isnormal(A a) {
  constexpr float smallest = static_cast<float>(numeric_limits<lockstep::element_t<lockstep::real_t<A>>>::min());
  return lockstep::test(LS_EACH(auto x) {
    const float size = __builtin_fabsf(static_cast<float>(x));
    return size >= smallest && size < __builtin_inff();
  }, a);
}

template <typename A, typename B>
  requires lockstep::operands<A, B>
LS_INLINE constexpr lockstep::like_t<bool, A, B> isordered(A a, B b) {
  return lockstep::test(LS_EACH(auto x, auto y) { return x == x && y == y; }, a, b);
}
template <typename A, typename B>
  requires lockstep::operands<A, B>
LS_INLINE constexpr lockstep::like_t<bool, A, B> isunordered(A a, B b) {
  return lockstep::test(LS_EACH(auto x, auto y) { return x != x || y != y; }, a, b);
}

/** True if every element of `a` is true. */
template <lockstep::arithmetic_operand A> LS_INLINE constexpr bool all(A a) {
  bool result = true;
  for (int i = 0; i < lockstep::count_v<A>; ++i) result = result & static_cast<bool>(lockstep::lane(a, i));
  return result;
}
/** True if any element of `a` is true. */
template <lockstep::arithmetic_operand A> LS_INLINE constexpr bool any(A a) {
  bool result = false;
  for (int i = 0; i < lockstep::count_v<A>; ++i) result = result | static_cast<bool>(lockstep::lane(a, i));
  return result;
}

} // namespace metal

#undef LS_QUESTION
