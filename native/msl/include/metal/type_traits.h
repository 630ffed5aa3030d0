/**
 * Type traits of MSL (`metal_type_traits`), on the compiler's own intrinsics: kernels need no C++ standard library.
 *
 * Kernels in the wild define `void_t`, `is_empty` and `pointer_element` in `metal` and variables named `forward` beside
 * it, so `metal` must not have these names.
 */
#pragma once

#include "scalar.h"

namespace metal {

template <typename T, T V> struct integral_constant {
  static constexpr T value = V;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return V; }
  constexpr T operator()() const { return V; }
};
template <bool V> using bool_constant = integral_constant<bool, V>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <typename T> struct type_identity { using type = T; };
template <bool C, typename T = void> struct enable_if {};
template <typename T> struct enable_if<true, T> { using type = T; };
template <bool C, typename T = void> using enable_if_t = typename enable_if<C, T>::type;
template <bool C, typename A, typename B> struct conditional { using type = A; };
template <typename A, typename B> struct conditional<false, A, B> { using type = B; };
template <bool C, typename A, typename B> using conditional_t = typename conditional<C, A, B>::type;

/** A trait that maps a type to a type: the struct and its `_t`. */
#define LS_TYPE_TRAIT(name, ...)                                                                                       \
  template <typename T> struct name { using type = __VA_ARGS__; };                                                     \
  template <typename T> using name##_t = typename name<T>::type;

/** A trait that asks a question of a type: the struct and its `_v`. */
#define LS_PREDICATE(name, ...)                                                                                        \
  template <typename T> struct name : bool_constant<(__VA_ARGS__)> {};                                                 \
  template <typename T> inline constexpr bool name##_v = name<T>::value;

/** The same for a question of two types. */
#define LS_RELATION(name, ...)                                                                                         \
  template <typename A, typename B> struct name : bool_constant<(__VA_ARGS__)> {};                                     \
  template <typename A, typename B> inline constexpr bool name##_v = name<A, B>::value;

LS_TYPE_TRAIT(remove_const, __remove_const(T))
LS_TYPE_TRAIT(remove_volatile, __remove_volatile(T))
LS_TYPE_TRAIT(remove_cv, __remove_cv(T))
LS_TYPE_TRAIT(remove_reference, __remove_reference_t(T))
LS_TYPE_TRAIT(remove_pointer, __remove_pointer(T))
LS_TYPE_TRAIT(remove_extent, __remove_extent(T))
LS_TYPE_TRAIT(remove_all_extents, __remove_all_extents(T))
LS_TYPE_TRAIT(remove_addrspace, typename lockstep::without_address_space<T>::type)
LS_TYPE_TRAIT(decay, __decay(T))
LS_TYPE_TRAIT(add_const, const T)
LS_TYPE_TRAIT(add_volatile, volatile T)
LS_TYPE_TRAIT(add_cv, const volatile T)
LS_TYPE_TRAIT(add_pointer, __add_pointer(T))
LS_TYPE_TRAIT(add_lvalue_reference, __add_lvalue_reference(T))
LS_TYPE_TRAIT(add_rvalue_reference, __add_rvalue_reference(T))
LS_TYPE_TRAIT(make_signed, __make_signed(T))
LS_TYPE_TRAIT(make_unsigned, __make_unsigned(T))
LS_TYPE_TRAIT(underlying_type, __underlying_type(T))

LS_RELATION(is_same, __is_same(A, B))
LS_RELATION(is_base_of, __is_base_of(A, B))
LS_RELATION(is_convertible, __is_convertible(A, B))
LS_RELATION(is_assignable, __is_assignable(A, B))

/** half and bfloat are floating-point types of MSL. */
LS_PREDICATE(is_floating_point, __is_floating_point(T) || __is_same(__remove_cv(T), half) ||
                                    __is_same(__remove_cv(T), bfloat))
LS_PREDICATE(is_integral, __is_integral(T))
LS_PREDICATE(is_arithmetic, is_floating_point<T>::value || __is_integral(T))
LS_PREDICATE(is_void, __is_void(T))
LS_PREDICATE(is_enum, __is_enum(T))
LS_PREDICATE(is_union, __is_union(T))
LS_PREDICATE(is_class, __is_class(T))
LS_PREDICATE(is_array, __is_array(T))
LS_PREDICATE(is_pointer, __is_pointer(T))
LS_PREDICATE(is_function, __is_function(T))
LS_PREDICATE(is_reference, __is_reference(T))
LS_PREDICATE(is_lvalue_reference, __is_lvalue_reference(T))
LS_PREDICATE(is_rvalue_reference, __is_rvalue_reference(T))
LS_PREDICATE(is_scalar, is_arithmetic<T>::value || __is_enum(T) || __is_pointer(T))
LS_PREDICATE(is_const, __is_const(T))
LS_PREDICATE(is_volatile, __is_volatile(T))
LS_PREDICATE(is_final, __is_final(T))
LS_PREDICATE(is_polymorphic, __is_polymorphic(T))
LS_PREDICATE(is_abstract, __is_abstract(T))
LS_PREDICATE(is_signed, is_floating_point<T>::value || __is_signed(T))
LS_PREDICATE(is_unsigned, __is_unsigned(T))
LS_PREDICATE(is_trivially_copyable, __is_trivially_copyable(T))
LS_PREDICATE(is_standard_layout, __is_standard_layout(T))

template <typename T, typename... A> struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <typename T, typename... A> inline constexpr bool is_constructible_v = is_constructible<T, A...>::value;

template <typename T> struct rank : integral_constant<size_t, __array_rank(T)> {};
template <typename T, unsigned I = 0> struct extent : integral_constant<size_t, __array_extent(T, I)> {};
template <typename T> struct alignment_of : integral_constant<size_t, alignof(T)> {};

template <typename T> __add_rvalue_reference(T) declval() noexcept;

/** The type of `c ? a : b`; one type stays itself, so that two shorts give a short. No `type` where there is none. */
template <typename... T> struct common_type {};
template <typename T> struct common_type<T> { using type = __decay(T); };
template <typename A, typename B>
  requires requires { true ? declval<__decay(A)>() : declval<__decay(B)>(); }
struct common_type<A, B> {
  using type = __decay(decltype(true ? declval<__decay(A)>() : declval<__decay(B)>()));
};
template <typename A, typename B, typename C, typename... R>
  requires requires { typename common_type<A, B>::type; }
struct common_type<A, B, C, R...> : common_type<typename common_type<A, B>::type, C, R...> {};
template <typename... T> using common_type_t = typename common_type<T...>::type;

template <typename T, T... I> struct integer_sequence {
  using value_type = T;
  static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <typename T, T N> using make_integer_sequence = __make_integer_seq<integer_sequence, T, N>;
template <size_t N> using make_index_sequence = make_integer_sequence<size_t, N>;

/** Apple's own names for these; kernels use them under `#pragma METAL internals`. */
template <typename... B> struct _conjunction : bool_constant<(true && ... && B::value)> {};
template <typename... B> struct _disjunction : bool_constant<(false || ... || B::value)> {};
template <typename B> struct _negation : bool_constant<!B::value> {};

#undef LS_TYPE_TRAIT
#undef LS_PREDICATE
#undef LS_RELATION

} // namespace metal
