/**
 * Elements of simdgroup functions and matrices: eight or 32 of them as one vector, with arithmetic that is rounded to
 * the element type at every step.
 *
 * half and bfloat are computed in float and rounded once per operation, which for one addition, multiplication or
 * comparison of two elements is the correctly rounded result.
 */
#pragma once

#include "fiber.h"

/* Vectors wider than the target's registers are passed between functions that are always inlined; no ABI is involved. */
#pragma clang diagnostic ignored "-Wpsabi"

namespace lockstep {

/** N elements side by side. */
template <typename T, int N> struct row {
  using type = T __attribute__((ext_vector_type(N)));
};
template <typename T, int N> using row_t = typename row<T, N>::type;

/** What `T` is computed in. */
template <typename T> struct compute {
  using type = T;
};
template <> struct compute<_Float16> {
  using type = float;
};
template <> struct compute<__bf16> {
  using type = float;
};
template <typename T> using compute_t = typename compute<T>::type;

template <typename T> struct is_bfloat {
  static constexpr bool value = false;
};
template <> struct is_bfloat<__bf16> {
  static constexpr bool value = true;
};

template <int N> using words = uint32_t __attribute__((ext_vector_type(N)));
template <int N> using halfwords = uint16_t __attribute__((ext_vector_type(N)));

/** A compiler vector read from or written to any address: elements in memory are aligned to one element only. */
template <typename V> LOCKSTEP_INTERNAL V read_vector(const void *source) {
  V vector;
  __builtin_memcpy(&vector, source, sizeof vector);
  return vector;
}
template <typename V> LOCKSTEP_INTERNAL void write_vector(void *destination, V vector) {
  __builtin_memcpy(destination, &vector, sizeof vector);
}

/** N elements at `source`, exactly, as what they are computed in. bfloat is the upper half of a float. */
template <int N, typename T> LOCKSTEP_INTERNAL row_t<compute_t<T>, N> load_row(const T *source) {
  if constexpr (is_bfloat<T>::value) {
    const auto bits = read_vector<halfwords<N>>(source);
    return __builtin_bit_cast(row_t<float, N>, __builtin_convertvector(bits, words<N>) << 16);
  } else {
    return __builtin_convertvector(read_vector<row_t<T, N>>(source), row_t<compute_t<T>, N>);
  }
}

/** Stores N elements, rounded to nearest even. */
template <int N, typename T> LOCKSTEP_INTERNAL void store_row(T *destination, row_t<compute_t<T>, N> values) {
  if constexpr (is_bfloat<T>::value) {
    const auto bits = __builtin_bit_cast(words<N>, values);
    const words<N> rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const words<N> quiet = (bits >> 16) | 0x40u;
    const words<N> narrow = (bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded;
    write_vector(destination, __builtin_convertvector(narrow, halfwords<N>));
  } else {
    write_vector(destination, __builtin_convertvector(values, row_t<T, N>));
  }
}

/** N values rounded to `T` and widened again. */
template <typename T, int N> LOCKSTEP_INTERNAL row_t<compute_t<T>, N> rounded(row_t<compute_t<T>, N> values) {
  if constexpr (__is_same(T, compute_t<T>)) {
    return values;
  } else {
    T narrow[N];
    store_row<N>(narrow, values);
    return load_row<N>(narrow);
  }
}

} // namespace lockstep
