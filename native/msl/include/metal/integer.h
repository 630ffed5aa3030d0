/** Integer functions (specification section 6.3, `metal_integer`) of scalars and vectors of any width. */
#pragma once

#include "common.h"

namespace lockstep {

template <typename T> inline constexpr int bit_width = 8 * static_cast<int>(sizeof(T));
/** A type that holds every sum and product of two values of `T`. */
template <typename T>
using wide_integer = metal::conditional_t<(sizeof(T) < 4), int, metal::conditional_t<(sizeof(T) == 4), long, __int128>>;
/** Products of unsigned 64-bit values need all 128 bits. */
template <typename T>
using wide_product = metal::conditional_t<sizeof(T) == 8 && metal::is_unsigned_v<T>, unsigned __int128,
                                          metal::conditional_t<sizeof(T) == 4 && metal::is_unsigned_v<T>, ulong,
                                                               wide_integer<T>>>;
template <typename T> using unsigned_of = metal::make_unsigned_t<T>;

template <typename T> LS_INLINE constexpr T saturated(wide_integer<T> value) {
  constexpr wide_integer<T> low = metal::numeric_limits<T>::min();
  constexpr wide_integer<T> high = metal::numeric_limits<T>::max();
  return static_cast<T>(value < low ? low : (value > high ? high : value));
}

template <typename T> LS_INLINE constexpr T multiply_high(T a, T b) {
  return static_cast<T>((static_cast<wide_product<T>>(a) * static_cast<wide_product<T>>(b)) >> bit_width<T>);
}

template <typename T> LS_INLINE constexpr T leading_zeros(T a) {
  const auto bits = static_cast<unsigned_of<T>>(a);
  return static_cast<T>(bits == 0 ? bit_width<T> : __builtin_clzll(bits) - (64 - bit_width<T>));
}
template <typename T> LS_INLINE constexpr T trailing_zeros(T a) {
  const auto bits = static_cast<unsigned_of<T>>(a);
  return static_cast<T>(bits == 0 ? bit_width<T> : __builtin_ctzll(bits));
}
template <typename T> LS_INLINE constexpr T bits_reversed(T a) {
  return static_cast<T>(__builtin_bitreverse64(static_cast<unsigned_of<T>>(a)) >> (64 - bit_width<T>));
}
template <typename T> LS_INLINE constexpr T rotated(T a, T by) {
  using U = unsigned_of<T>;
  const uint left = static_cast<uint>(by) & (bit_width<T> - 1);
  const U bits = static_cast<U>(a);
  return static_cast<T>(left == 0 ? bits : static_cast<U>((bits << left) | (bits >> (bit_width<T> - left))));
}

/** `width` ones at bit `offset`; `width` may be the whole of `T`. */
template <typename T> LS_INLINE constexpr unsigned_of<T> bit_field(uint offset, uint width) {
  const ulong ones = width >= 64 ? ~0ul : (1ul << width) - 1;
  return static_cast<unsigned_of<T>>(offset >= 64 ? 0 : ones << offset);
}
template <typename T> LS_INLINE constexpr T extracted(T a, uint offset, uint width) {
  if (width == 0) return T(0);
  using U = unsigned_of<T>;
  const U raised = static_cast<U>(static_cast<U>(a) << (bit_width<T> - offset - width));
  return static_cast<T>(static_cast<T>(raised) >> (bit_width<T> - width));
}

} // namespace lockstep

/** One, two or three integer arguments; `T` is the element type. */
#define LS_INTEGER_1(name, expression)                                                                                 \
  template <lockstep::integer_operand A> LS_INLINE constexpr lockstep::common_t<A> name(A a) {                         \
    using T = lockstep::element_t<A>;                                                                                  \
    return lockstep::map(LS_EACH(T x) { return expression; }, a);                                                      \
  }
#define LS_INTEGER_2(name, expression)                                                                                 \
  template <lockstep::integer_operand A, lockstep::integer_operand B>                                                  \
  LS_INLINE constexpr lockstep::common_t<A, B> name(A a, B b) {                                                        \
    using T = lockstep::common_element_t<A, B>;                                                                        \
    return lockstep::map(LS_EACH(T x, T y) { return expression; }, a, b);                                              \
  }
#define LS_INTEGER_3(name, expression)                                                                                 \
  template <lockstep::integer_operand A, lockstep::integer_operand B, lockstep::integer_operand C>                     \
  LS_INLINE constexpr lockstep::common_t<A, B, C> name(A a, B b, C c) {                                                \
    using T = lockstep::common_element_t<A, B, C>;                                                                     \
    return lockstep::map(LS_EACH(T x, T y, T z) { return expression; }, a, b, c);                                      \
  }

namespace metal {

LS_INTEGER_2(addsat, lockstep::saturated<T>(static_cast<lockstep::wide_integer<T>>(x) + y))
LS_INTEGER_2(subsat, lockstep::saturated<T>(static_cast<lockstep::wide_integer<T>>(x) - y))
LS_INTEGER_2(hadd, static_cast<T>((static_cast<lockstep::wide_integer<T>>(x) + y) >> 1))
LS_INTEGER_2(rhadd, static_cast<T>((static_cast<lockstep::wide_integer<T>>(x) + y + 1) >> 1))
LS_INTEGER_2(mulhi, lockstep::multiply_high<T>(x, y))
LS_INTEGER_3(madhi, static_cast<T>(static_cast<lockstep::unsigned_of<T>>(lockstep::multiply_high<T>(x, y)) +
                                   static_cast<lockstep::unsigned_of<T>>(z)))
LS_INTEGER_1(popcount, static_cast<T>(__builtin_popcountll(static_cast<lockstep::unsigned_of<T>>(x))))
LS_INTEGER_1(clz, lockstep::leading_zeros<T>(x))
LS_INTEGER_1(ctz, lockstep::trailing_zeros<T>(x))
LS_INTEGER_1(reverse_bits, lockstep::bits_reversed<T>(x))
LS_INTEGER_2(rotate, lockstep::rotated<T>(x, y))

/** |x - y| without overflow, unsigned. */
template <lockstep::integer_operand A, lockstep::integer_operand B> LS_INLINE constexpr auto absdiff(A a, B b) {
  using T = lockstep::common_element_t<A, B>;
  using U = lockstep::unsigned_of<T>;
  using R = lockstep::common_t<A, B>;
  return lockstep::apply<lockstep::like_t<U, R>>(
      LS_EACH(T x, T y) { return static_cast<U>(x > y ? U(x) - U(y) : U(y) - U(x)); }, static_cast<R>(a),
      static_cast<R>(b));
}

/** x y + z, saturated. */
template <lockstep::integer_operand A, lockstep::integer_operand B, lockstep::integer_operand C>
LS_INLINE constexpr lockstep::common_t<A, B, C> madsat(A a, B b, C c) {
  using T = lockstep::common_element_t<A, B, C>;
  return lockstep::map(LS_EACH(T x, T y, T z) {
    T product = 0, sum = 0;
    const bool over = __builtin_mul_overflow(x, y, &product) | __builtin_add_overflow(product, z, &sum);
    if (!over) return sum;
    const __int128 exact = static_cast<__int128>(x) * y + z;
    const bool negative = numeric_limits<T>::is_signed && exact < 0;
    if (sizeof(T) < 8 && exact == static_cast<T>(exact)) return static_cast<T>(exact);
    return negative ? numeric_limits<T>::min() : numeric_limits<T>::max();
  }, a, b, c);
}

/** Product of the low 24 bits (sign-extended if signed), low 32 bits of the result. */
LS_INTEGER_2(mul24, static_cast<T>(static_cast<uint>(lockstep::extracted<T>(x, 0, 24)) *
                                   static_cast<uint>(lockstep::extracted<T>(y, 0, 24))))
LS_INTEGER_3(mad24, static_cast<T>(static_cast<uint>(lockstep::extracted<T>(x, 0, 24)) *
                                       static_cast<uint>(lockstep::extracted<T>(y, 0, 24)) +
                                   static_cast<uint>(z)))

/** `bits` bits of x from bit `offset`, sign-extended if x is signed. */
template <lockstep::integer_operand A> LS_INLINE constexpr A extract_bits(A a, uint offset, uint bits) {
  using T = lockstep::element_t<A>;
  return lockstep::apply<A>(LS_EACH(T x, uint o, uint n) { return lockstep::extracted<T>(x, o, n); }, a, offset, bits);
}

/** `base` with `bits` bits from bit `offset` replaced by the low bits of `inserted`. */
template <lockstep::integer_operand A> LS_INLINE constexpr A insert_bits(A base, A inserted, uint offset, uint bits) {
  using T = lockstep::element_t<A>;
  return lockstep::apply<A>(
      LS_EACH(T x, T y, uint o, uint n) {
        using U = lockstep::unsigned_of<T>;
        const U field = lockstep::bit_field<T>(o, n);
        return static_cast<T>((static_cast<U>(x) & ~field) | (static_cast<U>(static_cast<U>(y) << o) & field));
      },
      base, inserted, offset, bits);
}

} // namespace metal

#undef LS_INTEGER_1
#undef LS_INTEGER_2
#undef LS_INTEGER_3
