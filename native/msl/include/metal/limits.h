/** `metal::numeric_limits` (specification section 6.1, `metal_limits`) for every scalar type. */
#pragma once

#include "type_traits.h"

namespace lockstep {

template <typename T> struct integer_limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr bool is_integer = true;
  static constexpr bool is_exact = true;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = false;
  static constexpr int radix = 2;
  static constexpr int digits = metal::is_same_v<T, bool> ? 1 : 8 * int(sizeof(T)) - int(is_signed);
  static constexpr int digits10 = digits * 643 / 2136;
  static constexpr T max() {
    if constexpr (is_signed) return static_cast<T>((1ull << digits) - 1);
    return static_cast<T>(-1);
  }
  static constexpr T min() { return is_signed ? T(-max() - 1) : T(0); }
  static constexpr T lowest() { return min(); }
  static constexpr T epsilon() { return T(0); }
  static constexpr T infinity() { return T(0); }
  static constexpr T quiet_NaN() { return T(0); }
};

/** A binary floating-point format with `Digits` bits of significand and exponents up to `MaxExponent`. */
template <typename T, int Digits, int MaxExponent> struct real_limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr int radix = 2;
  static constexpr int digits = Digits;
  static constexpr int max_exponent = MaxExponent;
  static constexpr int min_exponent = 3 - MaxExponent;
  static constexpr int digits10 = (Digits - 1) * 643 / 2136;
  static constexpr int max_digits10 = Digits * 643 / 2136 + 2;
  static constexpr int max_exponent10 = MaxExponent * 643 / 2136;
  static constexpr int min_exponent10 = -((MaxExponent - 3) * 643 / 2136);
  static constexpr T power(int exponent) {
    T result = T(1.0f);
    for (; exponent > 0; --exponent) result = T(result * T(2.0f));
    for (; exponent < 0; ++exponent) result = T(result * T(0.5f));
    return result;
  }
  static constexpr T epsilon() { return power(1 - Digits); }
  static constexpr T min() { return power(min_exponent - 1); }
  static constexpr T denorm_min() { return T(min() * epsilon()); }
  static constexpr T max() { return T(T(T(2.0f) - epsilon()) * power(MaxExponent - 1)); }
  static constexpr T lowest() { return -max(); }
  static constexpr T round_error() { return T(0.5f); }
  static constexpr T infinity() { return T(__builtin_inff()); }
  static constexpr T quiet_NaN() { return T(__builtin_nanf("")); }
  static constexpr T signaling_NaN() { return T(__builtin_nansf("")); }
};

} // namespace lockstep

namespace metal {

template <typename T> struct numeric_limits {
  static constexpr bool is_specialized = false;
};
template <typename T> struct numeric_limits<const T> : numeric_limits<T> {};
template <typename T> requires(is_integral_v<T>) struct numeric_limits<T> : lockstep::integer_limits<T> {};
template <> struct numeric_limits<float> : lockstep::real_limits<float, 24, 128> {};
template <> struct numeric_limits<half> : lockstep::real_limits<half, 11, 16> {};
template <> struct numeric_limits<bfloat> : lockstep::real_limits<bfloat, 8, 128> {};

} // namespace metal
