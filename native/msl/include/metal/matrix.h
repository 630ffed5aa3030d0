/** `metal::matrix<T, C, R>` (specification section 2.3, 6.6): C columns, each a vector of R elements. */
#pragma once

#include "geometric.h"

namespace metal {

template <typename T, int C, int R> struct matrix {
  vec<T, R> columns[C];

  matrix() = default;

  /** `diagonal` on the diagonal, zero elsewhere. */
  template <lockstep::scalar_like S> LS_INLINE explicit matrix(S diagonal) {
    for (int c = 0; c < C; ++c) {
      for (int r = 0; r < R; ++r) columns[c].element(r) = c == r ? static_cast<T>(diagonal) : T(0);
    }
  }
  template <typename U>
    requires(!is_same_v<U, T>)
  LS_INLINE explicit matrix(matrix<U, C, R> other) {
    for (int c = 0; c < C; ++c) columns[c] = vec<T, R>(other.columns[c]);
  }
  /** C columns. */
  template <typename... V>
    requires(sizeof...(V) == C && ((lockstep::width_v<V> == R) && ...))
  LS_INLINE constexpr matrix(V... column) : columns{vec<T, R>(column)...} {}
  /** C times R elements, column by column. */
  template <lockstep::scalar_like... S>
    requires(sizeof...(S) == C * R)
  LS_INLINE matrix(S... value) {
    const T list[] = {static_cast<T>(value)...};
    for (int c = 0; c < C; ++c) {
      for (int r = 0; r < R; ++r) columns[c].element(r) = list[c * R + r];
    }
  }

  LS_INLINE vec<T, R> &operator[](int column) { return columns[column]; }
  LS_INLINE const vec<T, R> &operator[](int column) const { return columns[column]; }

  LS_INLINE matrix &operator+=(matrix other) {
    for (int c = 0; c < C; ++c) columns[c] += other.columns[c];
    return *this;
  }
  LS_INLINE matrix &operator-=(matrix other) {
    for (int c = 0; c < C; ++c) columns[c] -= other.columns[c];
    return *this;
  }
  LS_INLINE matrix &operator*=(T scale) {
    for (int c = 0; c < C; ++c) columns[c] *= scale;
    return *this;
  }
  LS_INLINE matrix &operator*=(matrix<T, C, C> other) { return *this = *this * other; }
  LS_INLINE matrix operator-() const {
    matrix result;
    for (int c = 0; c < C; ++c) result.columns[c] = -columns[c];
    return result;
  }

  LS_INLINE friend matrix operator+(matrix a, matrix b) { return a += b; }
  LS_INLINE friend matrix operator-(matrix a, matrix b) { return a -= b; }
  LS_INLINE friend matrix operator*(matrix a, T scale) { return a *= scale; }
  LS_INLINE friend matrix operator*(T scale, matrix a) { return a *= scale; }
  LS_INLINE friend bool operator==(matrix a, matrix b) {
    bool equal = true;
    for (int c = 0; c < C; ++c) equal = equal & all(a.columns[c] == b.columns[c]);
    return equal;
  }
  LS_INLINE friend bool operator!=(matrix a, matrix b) { return !(a == b); }

  /** The linear combination of the columns. */
  LS_INLINE friend vec<T, R> operator*(matrix m, vec<T, C> v) {
    vec<T, R> sum = m.columns[0] * v.element(0);
    for (int c = 1; c < C; ++c) sum = fma(m.columns[c], vec<T, R>(v.element(c)), sum);
    return sum;
  }
  /** The products of a row vector with the columns. */
  LS_INLINE friend vec<T, C> operator*(vec<T, R> v, matrix m) {
    vec<T, C> result;
    for (int c = 0; c < C; ++c) result.element(c) = dot(v, m.columns[c]);
    return result;
  }
};

template <typename T, int C, int R, int K>
LS_INLINE matrix<T, K, R> operator*(matrix<T, C, R> a, matrix<T, K, C> b) {
  matrix<T, K, R> result;
  for (int k = 0; k < K; ++k) result.columns[k] = a * b.columns[k];
  return result;
}

template <typename T, int C, int R> LS_INLINE matrix<T, R, C> transpose(matrix<T, C, R> m) {
  matrix<T, R, C> result;
  for (int c = 0; c < C; ++c) {
    for (int r = 0; r < R; ++r) result.columns[r].element(c) = m.columns[c].element(r);
  }
  return result;
}

template <typename T> LS_INLINE T determinant(matrix<T, 2, 2> m) { return m[0][0] * m[1][1] - m[1][0] * m[0][1]; }
template <typename T> LS_INLINE T determinant(matrix<T, 3, 3> m) { return dot(m[0], cross(m[1], m[2])); }
template <typename T> LS_INLINE T determinant(matrix<T, 4, 4> m) {
  // Laplace expansion by the 2x2 minors of the first two and the last two columns.
  const auto minor = [&](int c, int r, int s) { return m[c][r] * m[c + 1][s] - m[c][s] * m[c + 1][r]; };
  return minor(0, 0, 1) * minor(2, 2, 3) - minor(0, 0, 2) * minor(2, 1, 3) + minor(0, 0, 3) * minor(2, 1, 2) +
         minor(0, 1, 2) * minor(2, 0, 3) - minor(0, 1, 3) * minor(2, 0, 2) + minor(0, 2, 3) * minor(2, 0, 1);
}

} // namespace metal

#define LS_NAME_MATRIX(element, c, r)                                                                                  \
  using element##c##x##r = metal::matrix<element, c, r>;                                                               \
  namespace metal {                                                                                                    \
  using ::element##c##x##r;                                                                                            \
  }
#define LS_NAME_MATRICES(element)                                                                                      \
  LS_NAME_MATRIX(element, 2, 2) LS_NAME_MATRIX(element, 2, 3) LS_NAME_MATRIX(element, 2, 4)                            \
  LS_NAME_MATRIX(element, 3, 2) LS_NAME_MATRIX(element, 3, 3) LS_NAME_MATRIX(element, 3, 4)                            \
  LS_NAME_MATRIX(element, 4, 2) LS_NAME_MATRIX(element, 4, 3) LS_NAME_MATRIX(element, 4, 4)

LS_NAME_MATRICES(float)
LS_NAME_MATRICES(half)
LS_NAME_MATRICES(bfloat)

#undef LS_NAME_MATRICES
#undef LS_NAME_MATRIX
