/**
 * Atomic functions (MSL specification section 6.15) on device and threadgroup memory. They are real atomics of the CPU,
 * since threadgroups run on several workers. Any order other than relaxed is sequentially consistent.
 */
#pragma once

#include "barrier.h"

namespace metal {

template <typename T> struct atomic {
  T value;
};

using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_bool = atomic<bool>;
using atomic_float = atomic<float>;
using atomic_ulong = atomic<ulong>;

} // namespace metal

namespace lockstep {

/** Replaces the value by `change(value)` and returns the old one: for operations that the CPU has no instruction for. */
template <typename T, typename Change> LOCKSTEP_INTERNAL T atomic_update(T *object, Change change) {
  T before;
  __atomic_load(object, &before, __ATOMIC_RELAXED);
  for (;;) {
    T after = change(before);
    if (__atomic_compare_exchange(object, &before, &after, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return before;
  }
}

template <typename T> LOCKSTEP_INTERNAL T atomic_load(T *object, bool relaxed) {
  T value;
  if (relaxed) {
    __atomic_load(object, &value, __ATOMIC_RELAXED);
  } else {
    __atomic_load(object, &value, __ATOMIC_SEQ_CST);
  }
  return value;
}

template <typename T> LOCKSTEP_INTERNAL void atomic_store(T *object, T value, bool relaxed) {
  if (relaxed) {
    __atomic_store(object, &value, __ATOMIC_RELAXED);
  } else {
    __atomic_store(object, &value, __ATOMIC_SEQ_CST);
  }
}

/** The type of an argument that must not take part in deduction: `atomic_fetch_add_explicit(p, 1, order)` on a uint. */
template <typename T> struct same_as_object {
  using type = T;
};
template <typename T> using same_as_object_t = typename same_as_object<T>::type;

} // namespace lockstep

namespace metal {

#define LOCKSTEP_ATOMIC_FETCH(space, name, expression)                                                                 \
  template <typename T>                                                                                                \
  LOCKSTEP_INTERNAL T name(volatile space atomic<T> *object, lockstep::same_as_object_t<T> operand, memory_order) {    \
    T *const target = (T *)&object->value;                                                                             \
    return expression;                                                                                                 \
  }

#define LOCKSTEP_ATOMICS(space)                                                                                        \
  template <typename T> LOCKSTEP_INTERNAL T atomic_load_explicit(const volatile space atomic<T> *object, memory_order order) { \
    return lockstep::atomic_load((T *)&object->value, order == memory_order_relaxed);                                  \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  LOCKSTEP_INTERNAL void atomic_store_explicit(volatile space atomic<T> *object, lockstep::same_as_object_t<T> desired, \
                                               memory_order order) {                                                   \
    lockstep::atomic_store((T *)&object->value, desired, order == memory_order_relaxed);                               \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  LOCKSTEP_INTERNAL T atomic_exchange_explicit(volatile space atomic<T> *object, lockstep::same_as_object_t<T> desired, \
                                               memory_order) {                                                         \
    T before;                                                                                                          \
    __atomic_exchange((T *)&object->value, &desired, &before, __ATOMIC_SEQ_CST);                                       \
    return before;                                                                                                     \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  LOCKSTEP_INTERNAL bool atomic_compare_exchange_weak_explicit(volatile space atomic<T> *object, T *expected,          \
                                                               lockstep::same_as_object_t<T> desired, memory_order,    \
                                                               memory_order) {                                         \
    return __atomic_compare_exchange((T *)&object->value, expected, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                                    \
  LOCKSTEP_ATOMIC_FETCH(space, atomic_fetch_and_explicit, __atomic_fetch_and(target, operand, __ATOMIC_SEQ_CST))       \
  LOCKSTEP_ATOMIC_FETCH(space, atomic_fetch_or_explicit, __atomic_fetch_or(target, operand, __ATOMIC_SEQ_CST))         \
  LOCKSTEP_ATOMIC_FETCH(space, atomic_fetch_xor_explicit, __atomic_fetch_xor(target, operand, __ATOMIC_SEQ_CST))       \
  template <typename T>                                                                                                \
  LOCKSTEP_INTERNAL T atomic_fetch_add_explicit(volatile space atomic<T> *object, lockstep::same_as_object_t<T> operand, \
                                                memory_order) {                                                        \
    if constexpr (is_integral_v<T>) {                                                                                  \
      return __atomic_fetch_add((T *)&object->value, operand, __ATOMIC_SEQ_CST);                                       \
    } else {                                                                                                           \
      return lockstep::atomic_update((T *)&object->value, [operand](T value) { return static_cast<T>(value + operand); }); \
    }                                                                                                                  \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  LOCKSTEP_INTERNAL T atomic_fetch_sub_explicit(volatile space atomic<T> *object, lockstep::same_as_object_t<T> operand, \
                                                memory_order) {                                                        \
    if constexpr (is_integral_v<T>) {                                                                                  \
      return __atomic_fetch_sub((T *)&object->value, operand, __ATOMIC_SEQ_CST);                                       \
    } else {                                                                                                           \
      return lockstep::atomic_update((T *)&object->value, [operand](T value) { return static_cast<T>(value - operand); }); \
    }                                                                                                                  \
  }                                                                                                                    \
  LOCKSTEP_ATOMIC_FETCH(space, atomic_fetch_max_explicit,                                                              \
                        lockstep::atomic_update(target, [operand](T value) { return value < operand ? operand : value; })) \
  LOCKSTEP_ATOMIC_FETCH(space, atomic_fetch_min_explicit,                                                              \
                        lockstep::atomic_update(target, [operand](T value) { return operand < value ? operand : value; })) \
  template <typename T>                                                                                                \
  LOCKSTEP_INTERNAL void atomic_max_explicit(volatile space atomic<T> *object, lockstep::same_as_object_t<T> operand,  \
                                             memory_order order) {                                                     \
    atomic_fetch_max_explicit(object, operand, order);                                                                 \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  LOCKSTEP_INTERNAL void atomic_min_explicit(volatile space atomic<T> *object, lockstep::same_as_object_t<T> operand,  \
                                             memory_order order) {                                                     \
    atomic_fetch_min_explicit(object, operand, order);                                                                 \
  }

LOCKSTEP_ATOMICS(LS_DEVICE)
LOCKSTEP_ATOMICS(LS_THREADGROUP)
#undef LOCKSTEP_ATOMICS
#undef LOCKSTEP_ATOMIC_FETCH

} // namespace metal
