/**
 * Curves (specification section 6.18.6, `metal_curves`): position and derivatives at parameter `t` for control points that
 * are scalars or vectors of float or half. Computed in the type of the points.
 */
#pragma once

#include "common.h"

namespace lockstep {

/** Weighted sum of points. */
template <typename P> LS_INLINE P blend(element_t<P> a, P p, element_t<P> b, P q, element_t<P> c, P r) {
  return p * P(a) + q * P(b) + r * P(c);
}
template <typename P>
LS_INLINE P blend(element_t<P> a, P p, element_t<P> b, P q, element_t<P> c, P r, element_t<P> d, P s) {
  return p * P(a) + q * P(b) + r * P(c) + s * P(d);
}

} // namespace lockstep

namespace metal {

/** `s` is the parameter in the type of an element. */
#define LS_CURVE_3(name, ...)                                                                                          \
  template <typename P> LS_INLINE P name([[maybe_unused]] lockstep::element_t<P> s, P p0, P p1, P p2) {                \
    using T = lockstep::element_t<P>;                                                                                  \
    return lockstep::blend(__VA_ARGS__);                                                                               \
  }
#define LS_CURVE_4(name, ...)                                                                                          \
  template <typename P> LS_INLINE P name(lockstep::element_t<P> s, P p0, P p1, P p2, P p3) {                           \
    using T = lockstep::element_t<P>;                                                                                  \
    return lockstep::blend(__VA_ARGS__);                                                                               \
  }

LS_CURVE_3(bezier, T((T(1) - s) * (T(1) - s)), p0, T(T(2) * s * (T(1) - s)), p1, T(s * s), p2)
LS_CURVE_3(bezier_derivative, T(T(2) * s - T(2)), p0, T(T(2) - T(4) * s), p1, T(T(2) * s), p2)
LS_CURVE_3(bezier_second_derivative, T(2), p0, T(-4), p1, T(2), p2)
LS_CURVE_4(bezier, T((T(1) - s) * (T(1) - s) * (T(1) - s)), p0, T(T(3) * s * (T(1) - s) * (T(1) - s)), p1,
           T(T(3) * s * s * (T(1) - s)), p2, T(s * s * s), p3)
LS_CURVE_4(bezier_derivative, T(T(-3) * (T(1) - s) * (T(1) - s)), p0, T(T(3) * (T(1) - s) * (T(1) - T(3) * s)), p1,
           T(T(3) * s * (T(2) - T(3) * s)), p2, T(T(3) * s * s), p3)
LS_CURVE_4(bezier_second_derivative, T(T(6) * (T(1) - s)), p0, T(T(18) * s - T(12)), p1, T(T(6) - T(18) * s), p2,
           T(T(6) * s), p3)
LS_CURVE_3(bspline, T((T(1) - s) * (T(1) - s) / T(2)), p0, T((T(1) + T(2) * s - T(2) * s * s) / T(2)), p1,
           T(s * s / T(2)), p2)
LS_CURVE_3(bspline_derivative, T(s - T(1)), p0, T(T(1) - T(2) * s), p1, s, p2)
LS_CURVE_3(bspline_second_derivative, T(1), p0, T(-2), p1, T(1), p2)
LS_CURVE_4(bspline, T((T(1) - s) * (T(1) - s) * (T(1) - s) / T(6)), p0, T((T(4) - T(6) * s * s + T(3) * s * s * s) / T(6)),
           p1, T((T(1) + T(3) * s + T(3) * s * s - T(3) * s * s * s) / T(6)), p2, T(s * s * s / T(6)), p3)
LS_CURVE_4(bspline_derivative, T(-(T(1) - s) * (T(1) - s) / T(2)), p0, T((T(3) * s * s - T(4) * s) / T(2)), p1,
           T((T(1) + T(2) * s - T(3) * s * s) / T(2)), p2, T(s * s / T(2)), p3)
LS_CURVE_4(bspline_second_derivative, T(T(1) - s), p0, T(T(3) * s - T(2)), p1, T(T(1) - T(3) * s), p2, s, p3)
/** Hermite: two points, then their tangents. */
LS_CURVE_4(hermite, T(T(2) * s * s * s - T(3) * s * s + T(1)), p0, T(T(3) * s * s - T(2) * s * s * s), p1,
           T(s * s * s - T(2) * s * s + s), p2, T(s * s * s - s * s), p3)
LS_CURVE_4(hermite_derivative, T(T(6) * s * s - T(6) * s), p0, T(T(6) * s - T(6) * s * s), p1,
           T(T(3) * s * s - T(4) * s + T(1)), p2, T(T(3) * s * s - T(2) * s), p3)
LS_CURVE_4(hermite_second_derivative, T(T(12) * s - T(6)), p0, T(T(6) - T(12) * s), p1, T(T(6) * s - T(4)), p2,
           T(T(6) * s - T(2)), p3)
LS_CURVE_4(catmull_rom, T((T(2) * s * s - s - s * s * s) / T(2)), p0, T((T(2) - T(5) * s * s + T(3) * s * s * s) / T(2)), p1,
           T((s + T(4) * s * s - T(3) * s * s * s) / T(2)), p2, T((s * s * s - s * s) / T(2)), p3)
LS_CURVE_4(catmull_rom_derivative, T((T(4) * s - T(1) - T(3) * s * s) / T(2)), p0, T((T(9) * s * s - T(10) * s) / T(2)), p1,
           T((T(1) + T(8) * s - T(9) * s * s) / T(2)), p2, T((T(3) * s * s - T(2) * s) / T(2)), p3)
LS_CURVE_4(catmull_rom_second_derivative, T(T(2) - T(3) * s), p0, T(T(9) * s - T(5)), p1, T(T(4) - T(9) * s), p2,
           T(T(3) * s - T(1)), p3)

#undef LS_CURVE_3
#undef LS_CURVE_4

} // namespace metal
