/**
 * Geometric functions (specification section 6.8, `metal_geometric`). Sums are chains of fused multiply-adds in the
 * order of the elements, each rounded to the element type.
 */
#pragma once

#include "relational.h"

namespace metal {

/** Sum of a[i] b[i]. */
template <typename A, typename B>
  requires lockstep::vector_operands<A, B>
LS_INLINE lockstep::common_element_t<A, B> dot(A a, B b) {
  using V = lockstep::common_t<A, B>;
  const V x = a, y = b;
  lockstep::element_t<V> sum = x.element(0) * y.element(0);
  for (int i = 1; i < lockstep::width_v<V>; ++i) sum = fma(x.element(i), y.element(i), sum);
  return sum;
}

template <lockstep::vector V> LS_INLINE lockstep::element_t<V> length_squared(V v) { return dot(v, v); }
template <lockstep::vector V> LS_INLINE lockstep::element_t<V> length(V v) { return sqrt(dot(v, v)); }
template <lockstep::vector A, lockstep::vector B>
LS_INLINE lockstep::common_element_t<A, B> distance_squared(A a, B b) {
  return length_squared(a - b);
}
template <lockstep::vector A, lockstep::vector B>
LS_INLINE lockstep::common_element_t<A, B> distance(A a, B b) {
  return length(a - b);
}

/** v / |v|; a zero vector stays zero. */
template <lockstep::vector V> LS_INLINE lockstep::common_t<V> normalize(V v) {
  using T = lockstep::element_t<V>;
  const T square = dot(v, v);
  return square == T(0) ? lockstep::common_t<V>(v) : lockstep::common_t<V>(v * rsqrt(square));
}

template <lockstep::vector A, lockstep::vector B>
  requires(lockstep::width_v<A> == 3 && lockstep::width_v<B> == 3)
LS_INLINE lockstep::common_t<A, B> cross(A a, B b) {
  using V = lockstep::common_t<A, B>;
  const V x = a, y = b;
  return V(x.yzx) * V(y.zxy) - V(x.zxy) * V(y.yzx);
}

/** `n` turned so that it faces against `i` as `reference` does. */
template <lockstep::vector V> LS_INLINE V faceforward(V n, V i, V reference) {
  return dot(reference, i) < lockstep::element_t<V>(0) ? n : -n;
}

/** i - 2 (n . i) n with n normalised first, as the specification has it. */
template <lockstep::vector V> LS_INLINE V reflect(V i, V n) {
  const V unit = normalize(n);
  return i - unit * (lockstep::element_t<V>(2) * dot(unit, i));
}

/** Refraction of `i` at a surface with the normal `n` and the ratio of indices `eta`; zero at total reflection. */
template <lockstep::vector V> LS_INLINE V refract(V i, V n, lockstep::element_t<V> eta) {
  using T = lockstep::element_t<V>;
  const T cosine = dot(n, i);
  const T k = T(1) - eta * eta * (T(1) - cosine * cosine);
  return k < T(0) ? V(T(0)) : V(i * eta - n * (eta * cosine + sqrt(k)));
}

} // namespace metal
