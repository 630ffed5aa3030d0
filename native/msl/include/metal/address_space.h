/**
 * Address spaces as real types.
 *
 * A kernel module is compiled in clang's SYCL device mode on the host triple. There the OpenCL address-space attributes
 * are part of the type, so `device float*` and `threadgroup float*` select different overloads and specialisations,
 * while the default address space is a superset of all of them: `this`, references and copies bind from any space.
 * On the host all of them lower to address space 0, so the generated code is the same as without them.
 */
#pragma once

#define LS_DEVICE __attribute__((opencl_global))
#define LS_THREADGROUP __attribute__((opencl_local))
#define LS_CONSTANT __attribute__((opencl_global_host))

/**
 * Storage of a `threadgroup` variable declared in a function body. A worker runs one threadgroup at a time on its own
 * copy of the module, so a plain static is per threadgroup. The section makes the bytes countable
 * (`__start_ls_tgmem` to `__stop_ls_tgmem`); `used` keeps the optimiser from assuming that one thread alone sees it.
 */
#if defined(__APPLE__)
#define LS_STATIC_THREADGROUP __attribute__((used, section("__DATA,ls_tgmem")))
#else
#define LS_STATIC_THREADGROUP __attribute__((used, section("ls_tgmem")))
#endif

/**
 * Address-space qualifiers of methods (`float get() const device`). C++ has no such qualifier; a different number of
 * always-true `enable_if` attributes makes the overloads distinct, and the one with the most wins. Limit: where a class
 * has a `thread` overload it is the one called, whatever the space of the object.
 */
#define LS_ALWAYS __attribute__((enable_if(1, "")))
#define LS_METHOD_constant LS_ALWAYS
#define LS_METHOD_threadgroup LS_ALWAYS LS_ALWAYS
#define LS_METHOD_device LS_ALWAYS LS_ALWAYS LS_ALWAYS
#define LS_METHOD_thread LS_ALWAYS LS_ALWAYS LS_ALWAYS LS_ALWAYS

/**
 * Functions of the library are part of their caller: no call, and the caller's line in debug information. Their own
 * arithmetic is none of the kernel's.
 */
#define LS_INLINE inline __attribute__((always_inline, nodebug, no_sanitize("undefined", "integer")))

namespace lockstep {

/** `T` without its address space, at the top level only. */
template <typename T> struct without_address_space { using type = T; };
template <typename T> struct without_address_space<LS_DEVICE T> { using type = T; };
template <typename T> struct without_address_space<LS_THREADGROUP T> { using type = T; };
template <typename T> struct without_address_space<LS_CONSTANT T> { using type = T; };

/** The type of a copy of an expression of type `T`: no reference, no qualifier, arrays decayed. */
template <typename T> struct copied {
  using type = __remove_cv(typename without_address_space<__remove_cv(T)>::type);
};
template <typename T> struct copied<T &> : copied<T> {};
template <typename T> struct copied<T &&> : copied<T> {};
template <typename T, __SIZE_TYPE__ N> struct copied<T[N]> { using type = T *; };
template <typename T> using copied_t = typename copied<T>::type;

/**
 * A copy of `value` in no particular address space. `c ? buffer[i] : float4(0)` has operands of two spaces and so no
 * common type; the front end wraps both operands.
 */
template <typename T> LS_INLINE constexpr copied_t<T> rvalue(T &&value) { return value; }

} // namespace lockstep
