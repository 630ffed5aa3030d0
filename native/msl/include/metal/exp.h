/**
 * exp, exp2 and exp10 for float, about 1 ulp, straight-line code that the compiler vectorises.
 *
 * All three write the argument as k ln2 + r and return 2^k (1 + q(r)). Adding 1.5 * 2^23 rounds to the integer k and
 * leaves its two's complement in the low bits of the sum; 2^k is then an integer addition to the exponent.
 * The coefficients are minimax fits of (e^r - 1 - r) / r^2 and (2^r - 1) / r on |r| <= 0.3466 and 0.5.
 *
 * NaN propagates, overflow gives infinity, and results below the smallest normal number are 0: the float32 ALU of an
 * Apple GPU flushes them. Nothing here depends on the floating-point environment.
 */
#pragma once

#include "elementwise.h"

namespace lockstep {

/** The unsigned integers with the shape of `Real`: float, or a compiler vector of float. */
template <typename Real> struct bits_of { using type = uint; };
template <int N> struct bits_of_vector { typedef uint type __attribute__((ext_vector_type(N))); };
template <typename Real>
  requires(!metal::is_same_v<Real, float>)
struct bits_of<Real> : bits_of_vector<sizeof(Real) / sizeof(float)> {};

template <typename Real> LS_INLINE Real fused(Real a, Real b, Real c) { return __builtin_elementwise_fma(a, b, c); }

inline constexpr float ROUND_TO_INTEGER = 12582912.0f; // 1.5 * 2^23

/** 1 + `q` scaled by 2^k, where k is in the low bits of `shifted`. */
template <typename Real> LS_INLINE Real scale_by_power(Real q, Real shifted) {
  using Bits = typename bits_of<Real>::type;
  const Bits exponent = __builtin_bit_cast(Bits, shifted) << 23;
  return __builtin_bit_cast(Real, __builtin_bit_cast(Bits, Real(1.0f) + q) + exponent);
}

#if defined(LOCKSTEP_FLAVOUR_CHECK) && defined(__x86_64__)

/** Overflows as the function does, so that the processor tells of it: the result itself is selected, not computed. */
LS_INLINE void tell_of_overflow() {
  float large = 3e38f;
  asm volatile("mulss %0, %0" : "+x"(large));
}

template <typename Real> LS_INLINE void overflow_beyond(Real x, float last_finite) {
  if constexpr (metal::is_same_v<Real, float>) {
    if (__builtin_expect(x > last_finite && x < __builtin_inff(), 0)) tell_of_overflow();
  } else {
    for (unsigned i = 0; i < sizeof(Real) / sizeof(float); ++i) overflow_beyond<float>(x[i], last_finite);
  }
}

#else
template <typename Real> LS_INLINE void overflow_beyond(Real, float) {}
#endif

/** Replaces what lies outside the range of normal results. */
template <typename Real> LS_INLINE Real outside_range(Real x, Real result, float first_zero, float last_finite) {
  overflow_beyond(x, last_finite);
  result = x > last_finite ? Real(__builtin_inff()) : result;
  result = x < first_zero ? Real(0.0f) : result;
  return x != x ? x : result;
}

/**
 * The argument of the polynomial. Check flavours trap on invalid operations, which an infinite argument would raise on the
 * way to a result that `outside_range` then replaces; it does so for all that is cut off here.
 */
template <typename Real> LS_INLINE Real finite_argument(Real x) {
#if defined(LOCKSTEP_FLAVOUR_CHECK)
  x = x > 200.0f ? Real(200.0f) : x;
  x = x < -200.0f ? Real(-200.0f) : x;
#endif
  return x;
}

/** e^r - 1 for |r| <= 0.3466. */
template <typename Real> LS_INLINE Real exp_minus_one(Real r) {
  const Real r2 = r * r;
  const Real low = fused<Real>(r, 0.16666521f, 0.49999994f);
  const Real high = fused<Real>(r2, 0.001381464f, fused<Real>(r, 0.008368708f, 0.041668385f));
  return fused(fused(high, r2, low), r2, r);
}

template <typename Real> LS_INLINE Real exp_real(Real given) {
  const Real x = finite_argument(given);
  const Real shifted = fused<Real>(x, 1.44269504088896341f, ROUND_TO_INTEGER);
  const Real k = shifted - ROUND_TO_INTEGER;
  const Real r = fused<Real>(k, 1.9046542e-9f, fused<Real>(k, -0.69314718246459961f, x));
  return outside_range(given, scale_by_power(exp_minus_one(r), shifted), -87.336544f, 88.722832f);
}

template <typename Real> LS_INLINE Real exp2_real(Real given) {
  const Real x = finite_argument(given);
  const Real shifted = x + ROUND_TO_INTEGER;
  const Real r = x - (shifted - ROUND_TO_INTEGER);
  const Real r2 = r * r;
  const Real low = fused<Real>(r, 0.055503324f, 0.24022648f);
  const Real high = fused<Real>(r2, 0.00015353362f, fused<Real>(r, 0.0013398874f, 0.009618437f));
  const Real q = fused(fused(high, r2, low), r2, r * 0.6931472f);
  return outside_range(given, scale_by_power(q, shifted), -126.0f, 127.99999f);
}

template <typename Real> LS_INLINE Real exp10_real(Real given) {
  const Real x = finite_argument(given);
  const Real shifted = fused<Real>(x, 3.32192809488736235f, ROUND_TO_INTEGER);
  const Real k = shifted - ROUND_TO_INTEGER;
  const Real r = fused<Real>(k, 1.4320989e-8f, fused<Real>(k, -0.30103000998497009f, x));
  const Real q = exp_minus_one(Real(r * 2.30258509299404568f));
  return outside_range(given, scale_by_power(q, shifted), -37.929779f, 38.531837f);
}

/** A real function given for float and compiler vectors of float, applied to any real operand. */
template <typename F, typename V> LS_INLINE real_t<V> map_native(F f, V value) {
  const like_t<float, V> wide = static_cast<like_t<float, V>>(static_cast<real_t<V>>(value));
  if constexpr (width_v<V> == 0) {
    return static_cast<real_t<V>>(f(wide));
  } else {
    return real_t<V>(metal::vec<float, width_v<V>>::wrap(f(wide.data)));
  }
}

} // namespace lockstep

namespace metal {

/** e^x. */
template <lockstep::arithmetic_operand V> LS_INLINE lockstep::real_t<V> exp(V x) {
  return lockstep::map_native(LS_EACH(auto v) { return lockstep::exp_real(v); }, x);
}
/** 2^x. */
template <lockstep::arithmetic_operand V> LS_INLINE lockstep::real_t<V> exp2(V x) {
  return lockstep::map_native(LS_EACH(auto v) { return lockstep::exp2_real(v); }, x);
}
/** 10^x. */
template <lockstep::arithmetic_operand V> LS_INLINE lockstep::real_t<V> exp10(V x) {
  return lockstep::map_native(LS_EACH(auto v) { return lockstep::exp10_real(v); }, x);
}

} // namespace metal
