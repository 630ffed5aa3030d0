/**
 * Math functions (specification section 6.5, `metal_math`): scalars and vectors of float, half and bfloat. Half and
 * bfloat are computed in float and rounded once.
 */
#pragma once

#include "exp.h"
#include "limits.h"

namespace lockstep {

inline constexpr float PI = 3.14159265358979323846f;

/** x modulo 2 in quarters: `x` = n / 2 + r (modulo 2) with |r| <= 1/4; every step is exact. */
struct half_turns {
  int quadrant;
  float rest;
};
LS_INLINE half_turns reduce_half_turns(float x) {
  const float turn = __builtin_fmodf(x, 2.0f);
  const float n = __builtin_rintf(2.0f * turn);
  return {static_cast<int>(n == n ? n : 0.0f) & 3, turn - 0.5f * n};
}
LS_INLINE float sinpi(float x) {
  const half_turns t = reduce_half_turns(x);
  const float value = (t.quadrant & 1) ? __builtin_cosf(PI * t.rest) : __builtin_sinf(PI * t.rest);
  return (t.quadrant & 2) ? -value : value;
}
LS_INLINE float cospi(float x) {
  const half_turns t = reduce_half_turns(x);
  const float value = (t.quadrant & 1) ? -__builtin_sinf(PI * t.rest) : __builtin_cosf(PI * t.rest);
  return (t.quadrant & 2) ? -value : value;
}
/** Infinite at odd multiples of 1/2, with the sign of the sine there. */
LS_INLINE float tanpi(float x) {
  const half_turns t = reduce_half_turns(x);
  const float value = __builtin_tanf(PI * t.rest);
  if ((t.quadrant & 1) == 0) return value;
  return t.rest == 0.0f ? (t.quadrant & 2 ? -1.0f : 1.0f) * __builtin_inff() : -1.0f / value;
}

/** Correctly rounded in nearly all cases: the double quotient has 29 spare bits. */
LS_INLINE float rsqrt(float x) {
  return static_cast<float>(static_cast<double>(1.0f) / __builtin_sqrt(static_cast<double>(x)));
}

template <typename T> using bits_for = metal::conditional_t<sizeof(T) == 2, ushort, uint>;

/** The neighbour of `x` in the direction of `y` in the format of `T`. */
template <typename T> LS_INLINE T next_after(T x, T y) {
  using Bits = bits_for<T>;
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  constexpr Bits sign = Bits(1) << (8 * sizeof(T) - 1);
  const Bits bits = __builtin_bit_cast(Bits, x);
  // By a comparison, not by the sign bit: clang 19 makes a copysign of that, which loses the sign of a bfloat.
  if (x == T(0)) return __builtin_bit_cast(T, y > x ? Bits(1) : Bits(sign | 1));
  const bool away = (x < y) == ((bits & sign) == 0);
  return __builtin_bit_cast(T, Bits(away ? bits + 1 : bits - 1));
}

/**
 * `high + low` as the nearest float with an odd last bit, unless it is a float: rounding that to half or bfloat gives what
 * one rounding of the sum would.
 */
LS_INLINE constexpr float rounded_to_odd(double high, double low) {
  const float near = static_cast<float>(high);
  const double rest = (high - static_cast<double>(near)) + low;
  const uint bits = __builtin_bit_cast(uint, near);
  const bool settled = !(rest != static_cast<double>(0.0f)) || (bits & 1u) != 0 || high != high;
  const bool away = (rest > static_cast<double>(0.0f)) == ((bits >> 31) == 0);
  return settled ? near : __builtin_bit_cast(float, away ? bits + 1 : bits - 1);
}

/** x y + z in half or bfloat, rounded once: the product is exact in a double, the error of the sum is kept. */
template <typename T> LS_INLINE constexpr T fused_narrow(T x, T y, T z) {
  const double product = static_cast<double>(x) * static_cast<double>(y);
  const double sum = product + static_cast<double>(z);
  const bool finite = __builtin_fabs(sum) < static_cast<double>(__builtin_inff());
  // Zeros instead of infinities, whose differences would be NaN: check flavours report where those come from.
  const double zero = static_cast<double>(0.0f), a = finite ? product : zero, b = finite ? static_cast<double>(z) : zero;
  const double part = (a + b) - a;
  const double low = (a - ((a + b) - part)) + (b - part);
  return static_cast<T>(finite ? rounded_to_odd(sum, low) : static_cast<float>(sum));
}

/** The largest value of `T` below 1: what `fract` returns at most (specification section 6.5). */
template <typename T> LS_INLINE constexpr float below_one() {
  return 1.0f - static_cast<float>(metal::numeric_limits<T>::epsilon()) / 2.0f;
}

} // namespace lockstep

namespace metal {

LS_REAL_1(acos, __builtin_acosf(x))
LS_REAL_1(acosh, __builtin_acoshf(x))
LS_REAL_1(asin, __builtin_asinf(x))
LS_REAL_1(asinh, __builtin_asinhf(x))
LS_REAL_1(atan, __builtin_atanf(x))
LS_REAL_2(atan2, __builtin_atan2f(x, y))
LS_REAL_1(atanh, __builtin_atanhf(x))
LS_REAL_1(ceil, __builtin_ceilf(x))
LS_REAL_2(copysign, __builtin_copysignf(x, y))
LS_REAL_1(cos, __builtin_cosf(x))
LS_REAL_1(cosh, __builtin_coshf(x))
LS_REAL_1(cospi, lockstep::cospi(x))
LS_REAL_2(divide, x / y)
LS_REAL_1(fabs, __builtin_fabsf(x))
LS_REAL_2(fdim, x > y ? x - y : (x <= y ? 0.0f : x + y))
LS_REAL_1(floor, __builtin_floorf(x))
LS_REAL_2(fmax, __builtin_fmaxf(x, y))
LS_REAL_2(fmin, __builtin_fminf(x, y))
LS_REAL_3(fmax3, __builtin_fmaxf(__builtin_fmaxf(x, y), z))
LS_REAL_3(fmin3, __builtin_fminf(__builtin_fminf(x, y), z))
LS_REAL_3(fmedian3, __builtin_fmaxf(__builtin_fminf(x, y), __builtin_fminf(__builtin_fmaxf(x, y), z)))
LS_REAL_2(fmod, __builtin_fmodf(x, y))
LS_REAL_1(log, __builtin_logf(x))
LS_REAL_1(log2, __builtin_log2f(x))
LS_REAL_1(log10, __builtin_log10f(x))
LS_REAL_2(pow, __builtin_powf(x, y))
LS_REAL_2(powr, x < 0.0f ? __builtin_nanf("") : __builtin_powf(x, y))
LS_REAL_1(rint, __builtin_rintf(x))
LS_REAL_1(round, __builtin_roundf(x))
LS_REAL_1(rsqrt, lockstep::rsqrt(x))
LS_REAL_1(sin, __builtin_sinf(x))
LS_REAL_1(sinh, __builtin_sinhf(x))
LS_REAL_1(sinpi, lockstep::sinpi(x))
LS_REAL_1(sqrt, __builtin_sqrtf(x))
LS_REAL_1(tan, __builtin_tanf(x))
LS_REAL_1(tanh, __builtin_tanhf(x))
LS_REAL_1(tanpi, lockstep::tanpi(x))
LS_REAL_1(trunc, __builtin_truncf(x))

/** x y + z, rounded once to the element type. */
template <typename A, typename B, typename C>
  requires lockstep::operands<A, B, C>
LS_INLINE constexpr lockstep::real_t<A, B, C> fma(A a, B b, C c) {
  using R = lockstep::real_t<A, B, C>;
  return lockstep::apply<R>(
      LS_EACH(auto x, auto y, auto z) {
        if constexpr (sizeof(x) == sizeof(float)) {
          return __builtin_fmaf(x, y, z);
        } else {
          return lockstep::fused_narrow(x, y, z);
        }
      },
      static_cast<R>(a), static_cast<R>(b), static_cast<R>(c));
}

/** x - floor(x), below 1 also where the subtraction rounds up. */
template <lockstep::arithmetic_operand A> LS_INLINE constexpr lockstep::real_t<A> fract(A a) {
  constexpr float limit = lockstep::below_one<lockstep::element_t<lockstep::real_t<A>>>();
  return lockstep::map_real(LS_EACH(float x) {
    const float rest = x - __builtin_floorf(x);
    return rest > limit ? limit : rest;
  }, a);
}

/** Unbiased exponent of x. */
template <lockstep::arithmetic_operand A> LS_INLINE lockstep::like_t<int, A> ilogb(A a) {
  return lockstep::apply<lockstep::like_t<int, A>>(
      LS_EACH(auto x) { return __builtin_ilogbf(static_cast<float>(x)); }, a);
}

/** x * 2^k. */
template <lockstep::arithmetic_operand A, typename K> LS_INLINE lockstep::real_t<A> ldexp(A a, K k) {
  return lockstep::apply<lockstep::real_t<A>>(
      LS_EACH(auto x, int n) { return __builtin_ldexpf(static_cast<float>(x), n); },
      static_cast<lockstep::real_t<A>>(a), static_cast<lockstep::like_t<int, A>>(k));
}

/** Fraction in [1/2, 1) and exponent: x = fraction * 2^exponent. */
template <lockstep::arithmetic_operand A> LS_INLINE lockstep::real_t<A> frexp(A a, lockstep::like_t<int, A> &exponent) {
  if constexpr (lockstep::width_v<A> == 0) {
    return static_cast<lockstep::real_t<A>>(__builtin_frexpf(static_cast<float>(a), &exponent));
  } else {
    lockstep::real_t<A> fraction;
    for (int i = 0; i < lockstep::width_v<A>; ++i) fraction.element(i) = frexp(a.element(i), exponent[i]);
    return fraction;
  }
}

/** Fractional part, with the integral part in `integral`; both have the sign of x. */
template <lockstep::arithmetic_operand A> LS_INLINE lockstep::real_t<A> modf(A a, lockstep::real_t<A> &integral) {
  integral = trunc(a);
  return lockstep::map_real(
      LS_EACH(float x, float whole) { return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - whole, x); }, a,
      integral);
}

/** sin(x), with cos(x) in `cosine`. */
template <lockstep::arithmetic_operand A> LS_INLINE lockstep::real_t<A> sincos(A a, lockstep::real_t<A> &cosine) {
  cosine = cos(a);
  return sin(a);
}

/** The next value after x towards y in the format of the element type. */
template <typename A, typename B>
  requires lockstep::operands<A, B>
LS_INLINE lockstep::real_t<A, B> nextafter(A a, B b) {
  using R = lockstep::real_t<A, B>;
  return lockstep::apply<R>(LS_EACH(auto x, auto y) { return lockstep::next_after(x, y); }, static_cast<R>(a),
                            static_cast<R>(b));
}

} // namespace metal
