/**
 * How a function of scalars becomes a function of scalars and vectors.
 *
 * Mixed arguments follow the operators: a scalar beside a vector is broadcast and takes the element type; scalars of
 * different types take their common type. `map` works in the element type (min, select, integer functions), `map_real`
 * in float with one rounding to the element type at the end, which is how half and bfloat functions are computed.
 */
#pragma once

#include "vector_names.h"

/** A lambda that is always inlined into its caller. */
#define LS_EACH(...) [](__VA_ARGS__) __attribute__((always_inline, nodebug, no_sanitize("undefined", "integer")))

namespace lockstep {

template <typename... V> inline constexpr int widest = 0;
template <typename V, typename... R>
inline constexpr int widest<V, R...> = width_v<V> > widest<R...> ? width_v<V> : widest<R...>;

/**
 * Element type of the result: that of the vectors if there are any, otherwise the common type. Types of the kernel's own
 * have none, so that its overloads of `fma` or `max` for them are not mistaken.
 */
template <bool HasVector, typename... V> struct common_element : metal::common_type<V...> {};
template <typename V, typename... R>
struct common_element<true, V, R...> : metal::conditional_t<width_v<V> != 0, metal::type_identity<element_t<V>>,
                                                            common_element<(widest<R...>) != 0, R...>> {};
template <typename... V> using common_element_t = typename common_element<(widest<V...>) != 0, V...>::type;

/** half and bfloat stay what they are, everything else is computed as float. */
template <typename T>
using real_element_t = metal::conditional_t<metal::is_same_v<T, half> || metal::is_same_v<T, bfloat>, T, float>;

template <typename T, int N> struct with_width { using type = metal::vec<T, N>; };
template <typename T> struct with_width<T, 0> { using type = T; };
/** A scalar (`N` = 0) or a vector of `T`. */
template <typename T, int N> using with_width_t = typename with_width<T, N>::type;

template <typename... V> using common_t = with_width_t<common_element_t<V...>, widest<V...>>;
template <typename... V> using real_t = with_width_t<real_element_t<common_element_t<V...>>, widest<V...>>;
/** A vector of `T` (or a `T`) as wide as the arguments. */
template <typename T, typename... V> using like_t = with_width_t<T, widest<V...>>;

template <typename T> concept arithmetic_operand = vector<T> || metal::is_arithmetic_v<T>;
template <typename... V> concept operands = (arithmetic_operand<V> && ...);
template <typename... V> concept vector_operands = operands<V...> && (widest<V...>) != 0;
template <typename V> concept integer_operand = arithmetic_operand<V> && metal::is_integral_v<element_t<V>>;
template <typename V> concept real_operand = arithmetic_operand<V> && metal::is_floating_point_v<element_t<V>>;

/** `f` on every element, arguments already of their element types; the result has the type `R`. */
template <typename R, typename F, typename... V> LS_INLINE constexpr R apply(F f, V... values) {
  if constexpr (width_v<R> == 0) {
    return static_cast<R>(f(values...));
  } else {
    R result;
    for (int i = 0; i < width_v<R>; ++i) result.element(i) = static_cast<element_t<R>>(f(lane(values, i)...));
    return result;
  }
}

/** `f` on every element in the common element type. */
template <typename F, typename... V> LS_INLINE constexpr common_t<V...> map(F f, V... values) {
  return apply<common_t<V...>>(f, static_cast<common_t<V...>>(values)...);
}

/** `f` on every element in float, rounded once to the element type. */
template <typename F, typename... V> LS_INLINE constexpr real_t<V...> map_real(F f, V... values) {
  using wide = like_t<float, V...>;
  return apply<real_t<V...>>(f, static_cast<wide>(static_cast<real_t<V...>>(values))...);
}

/** A question of every element: bool, or a vector of bool. */
template <typename F, typename... V> LS_INLINE constexpr like_t<bool, V...> test(F f, V... values) {
  return apply<like_t<bool, V...>>(f, static_cast<common_t<V...>>(values)...);
}

} // namespace lockstep

/** Functions of one, two or three real arguments from an expression in the floats `x`, `y`, `z`. */
#define LS_REAL_1(name, expression)                                                                                    \
  template <lockstep::arithmetic_operand A> LS_INLINE constexpr lockstep::real_t<A> name(A a) {                        \
    return lockstep::map_real(LS_EACH(float x) { return expression; }, a);                                             \
  }
#define LS_REAL_2(name, expression)                                                                                    \
  template <typename A, typename B>                                                                                    \
    requires lockstep::operands<A, B>                                                                                  \
  LS_INLINE constexpr lockstep::real_t<A, B> name(A a, B b) {                                                          \
    return lockstep::map_real(LS_EACH(float x, float y) { return expression; }, a, b);                                 \
  }
#define LS_REAL_3(name, expression)                                                                                    \
  template <typename A, typename B, typename C>                                                                        \
    requires lockstep::operands<A, B, C>                                                                               \
  LS_INLINE constexpr lockstep::real_t<A, B, C> name(A a, B b, C c) {                                                  \
    return lockstep::map_real(LS_EACH(float x, float y, float z) { return expression; }, a, b, c);                     \
  }

/** The same in the element type itself, integers included. */
#define LS_MAP_1(name, expression)                                                                                     \
  template <lockstep::arithmetic_operand A> LS_INLINE constexpr lockstep::common_t<A> name(A a) {                      \
    return lockstep::map(LS_EACH(auto x) { return expression; }, a);                                                   \
  }
#define LS_MAP_2(name, expression)                                                                                     \
  template <typename A, typename B>                                                                                    \
    requires lockstep::operands<A, B>                                                                                  \
  LS_INLINE constexpr lockstep::common_t<A, B> name(A a, B b) {                                                        \
    return lockstep::map(LS_EACH(auto x, auto y) { return expression; }, a, b);                                        \
  }
#define LS_MAP_3(name, expression)                                                                                     \
  template <typename A, typename B, typename C>                                                                        \
    requires lockstep::operands<A, B, C>                                                                               \
  LS_INLINE constexpr lockstep::common_t<A, B, C> name(A a, B b, C c) {                                                \
    return lockstep::map(LS_EACH(auto x, auto y, auto z) { return expression; }, a, b, c);                             \
  }
