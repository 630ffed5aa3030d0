/**
 * Common functions (specification section 6.2, `metal_common`) and the ones shared by integers and reals: abs, min,
 * max, clamp, select.
 */
#pragma once

#include "math.h"

namespace lockstep {

/** The smaller value; a NaN loses against a number. */
template <typename T> LS_INLINE constexpr T smaller(T a, T b) {
  if constexpr (metal::is_floating_point_v<T>) {
    return static_cast<T>(__builtin_fminf(static_cast<float>(a), static_cast<float>(b)));
  } else {
    return b < a ? b : a;
  }
}
/** The larger value; a NaN loses against a number. */
template <typename T> LS_INLINE constexpr T larger(T a, T b) {
  if constexpr (metal::is_floating_point_v<T>) {
    return static_cast<T>(__builtin_fmaxf(static_cast<float>(a), static_cast<float>(b)));
  } else {
    return a < b ? b : a;
  }
}
template <typename T> LS_INLINE constexpr T magnitude(T a) {
  if constexpr (metal::is_floating_point_v<T>) {
    return static_cast<T>(__builtin_fabsf(static_cast<float>(a)));
  } else {
    return static_cast<T>(a < T(0) ? -a : a);
  }
}

} // namespace lockstep

namespace metal {

LS_MAP_1(abs, lockstep::magnitude(x))
LS_MAP_2(min, lockstep::smaller(x, y))
LS_MAP_2(max, lockstep::larger(x, y))
LS_MAP_3(min3, lockstep::smaller(lockstep::smaller(x, y), z))
LS_MAP_3(max3, lockstep::larger(lockstep::larger(x, y), z))
LS_MAP_3(median3, lockstep::larger(lockstep::smaller(x, y), lockstep::smaller(lockstep::larger(x, y), z)))

/** min(max(x, low), high) in the type of x. */
template <typename A, typename B, typename C>
  requires lockstep::operands<A, B, C>
LS_INLINE constexpr lockstep::common_t<A, B, C> clamp(A value, B low, C high) {
  return min(max(value, low), high);
}

LS_REAL_1(saturate, __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f))
LS_REAL_1(sign, x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : (x == 0.0f ? x : 0.0f)))
LS_REAL_2(step, y < x ? 0.0f : 1.0f)

/** x + (y - x) a, every operation rounded to the element type. */
template <typename A, typename B, typename C>
  requires lockstep::operands<A, B, C>
LS_INLINE constexpr lockstep::real_t<A, B, C> mix(A x, B y, C a) {
  using R = lockstep::real_t<A, B, C>;
  return fma(R(R(y) - R(x)), R(a), R(x));
}

/** t^2 (3 - 2t) with t = saturate((x - edge0) / (edge1 - edge0)). */
template <typename A, typename B, typename C>
  requires lockstep::operands<A, B, C>
LS_INLINE constexpr lockstep::real_t<A, B, C> smoothstep(A edge0, B edge1, C x) {
  using R = lockstep::real_t<A, B, C>;
  const R t = saturate(R(R(R(x) - R(edge0)) / R(R(edge1) - R(edge0))));
  return R(R(t * t) * R(R(3.0f) - R(R(2.0f) * t)));
}

/** `b` where `condition` holds, else `a`, per element. */
template <typename A, typename B, typename C>
  requires lockstep::operands<A, B, C>
LS_INLINE constexpr lockstep::common_t<A, B> select(A a, B b, C condition) {
  using R = lockstep::common_t<A, B>;
  return lockstep::apply<R>(LS_EACH(auto x, auto y, bool c) { return c ? y : x; }, static_cast<R>(a),
                            static_cast<R>(b), static_cast<lockstep::like_t<bool, R>>(condition));
}

} // namespace metal
