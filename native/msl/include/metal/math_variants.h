/**
 * `metal::precise` and `metal::fast` (specification section 1.6.3): the two accuracies of float functions. The emulated
 * device computes both at the precise accuracy, which satisfies the wider bounds of the fast ones; only `fast::rsqrt`
 * takes the shorter way.
 */
#pragma once

#include "matrix.h"

#define LS_BOTH_VARIANTS                                                                                               \
  using metal::abs; using metal::acos; using metal::acosh; using metal::asin; using metal::asinh;                      \
  using metal::atan; using metal::atan2; using metal::atanh; using metal::ceil; using metal::clamp;                    \
  using metal::copysign; using metal::cos; using metal::cosh; using metal::cospi; using metal::distance;               \
  using metal::divide; using metal::dot; using metal::exp; using metal::exp10; using metal::exp2;                      \
  using metal::fabs; using metal::fdim; using metal::floor; using metal::fma; using metal::fmax;                       \
  using metal::fmax3; using metal::fmedian3; using metal::fmin; using metal::fmin3; using metal::fmod;                 \
  using metal::fract; using metal::frexp; using metal::ilogb; using metal::ldexp; using metal::length;                 \
  using metal::log; using metal::log10; using metal::log2; using metal::max; using metal::max3;                        \
  using metal::median3; using metal::min; using metal::min3; using metal::mix; using metal::modf;                      \
  using metal::nextafter; using metal::normalize; using metal::pow; using metal::powr; using metal::rint;              \
  using metal::round; using metal::saturate; using metal::sign; using metal::sin; using metal::sincos;                 \
  using metal::sinh; using metal::sinpi; using metal::smoothstep; using metal::sqrt; using metal::step;                \
  using metal::tan; using metal::tanh; using metal::tanpi; using metal::trunc;

namespace metal {
namespace precise {
LS_BOTH_VARIANTS
using metal::rsqrt;
} // namespace precise
namespace fast {
LS_BOTH_VARIANTS
LS_REAL_1(rsqrt, 1.0f / __builtin_sqrtf(x))
} // namespace fast
} // namespace metal

#undef LS_BOTH_VARIANTS
