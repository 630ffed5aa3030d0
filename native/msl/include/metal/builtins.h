/**
 * Names that belong to Apple's compiler but that kernels in the wild use (MLX's `bf16_math.h`): `__metal_exp(x, fast)`
 * and its relatives. The last argument of most chooses the fast variant; it makes no difference here. The ones that
 * concern a simdgroup belong to the execution part.
 */
#pragma once

#include "math_variants.h"

#define LS_BUILTIN_1(name, function)                                                                                   \
  template <typename T> LS_INLINE T __metal_##name(T x, int = 0) { return metal::function(x); }
#define LS_BUILTIN_2(name, function)                                                                                   \
  template <typename T> LS_INLINE T __metal_##name(T x, T y, int = 0) { return metal::function(x, y); }
#define LS_BUILTIN_3(name, function)                                                                                   \
  template <typename T> LS_INLINE T __metal_##name(T x, T y, T z, int = 0) { return metal::function(x, y, z); }

LS_BUILTIN_1(acos, acos)
LS_BUILTIN_1(acosh, acosh)
LS_BUILTIN_1(asin, asin)
LS_BUILTIN_1(asinh, asinh)
LS_BUILTIN_1(atan, atan)
LS_BUILTIN_1(atanh, atanh)
LS_BUILTIN_1(ceil, ceil)
LS_BUILTIN_1(cos, cos)
LS_BUILTIN_1(cosh, cosh)
LS_BUILTIN_1(cospi, cospi)
LS_BUILTIN_1(exp, exp)
LS_BUILTIN_1(exp10, exp10)
LS_BUILTIN_1(exp2, exp2)
LS_BUILTIN_1(fabs, fabs)
LS_BUILTIN_1(floor, floor)
LS_BUILTIN_1(fract, fract)
LS_BUILTIN_1(log, log)
LS_BUILTIN_1(log10, log10)
LS_BUILTIN_1(log2, log2)
LS_BUILTIN_1(rint, rint)
LS_BUILTIN_1(round, round)
LS_BUILTIN_1(rsqrt, rsqrt)
LS_BUILTIN_1(sin, sin)
LS_BUILTIN_1(sinh, sinh)
LS_BUILTIN_1(sinpi, sinpi)
LS_BUILTIN_1(sqrt, sqrt)
LS_BUILTIN_1(tan, tan)
LS_BUILTIN_1(tanh, tanh)
LS_BUILTIN_1(tanpi, tanpi)
LS_BUILTIN_1(trunc, trunc)
LS_BUILTIN_2(atan2, atan2)
LS_BUILTIN_2(divide, divide)
LS_BUILTIN_2(fdim, fdim)
LS_BUILTIN_2(fmax, fmax)
LS_BUILTIN_2(fmin, fmin)
LS_BUILTIN_2(fmod, fmod)
LS_BUILTIN_2(nextafter, nextafter)
LS_BUILTIN_2(pow, pow)
LS_BUILTIN_2(powr, powr)
LS_BUILTIN_3(fma, fma)
LS_BUILTIN_3(fmax3, fmax3)
LS_BUILTIN_3(fmedian3, fmedian3)
LS_BUILTIN_3(fmin3, fmin3)

template <typename T> LS_INLINE T __metal_frexp(T x, int *exponent) { return metal::frexp(x, *exponent); }
template <typename T> LS_INLINE T __metal_ldexp(T x, int exponent, int = 0) { return metal::ldexp(x, exponent); }

#undef LS_BUILTIN_1
#undef LS_BUILTIN_2
#undef LS_BUILTIN_3
