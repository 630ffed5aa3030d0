/**
 * The callbacks of clang's thread-sanitizer instrumentation, once for all instrumented flavours. A flavour defines
 * `on_access(address, bytes, kind, aligned, site)`, which is called before each load and store of the kernel, and
 * includes this file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "flavour.h"

namespace lockstep {

/** `atomic_update` reads what it replaces. */
enum class Access { read, write, atomic_read, atomic_write, atomic_update };

} // namespace lockstep

/** `ON_ACCESS(address, bytes, kind, aligned)` with the return address of the callback as the site. */
#define LS_ON(address, bytes, kind, aligned)                                                                           \
  on_access<::lockstep::Access::kind>(const_cast<const void *>(static_cast<const volatile void *>(address)), bytes, aligned, \
                                      __builtin_return_address(0))

#define LS_READ(name, bytes, aligned)                                                                                  \
  LOCKSTEP_HIDDEN void __tsan_##name##bytes(void *address) { LS_ON(address, bytes, read, aligned); }
#define LS_WRITE(name, bytes, aligned)                                                                                 \
  LOCKSTEP_HIDDEN void __tsan_##name##bytes(void *address) { LS_ON(address, bytes, write, aligned); }
#define LS_READ_WRITE(name, bytes, aligned)                                                                            \
  LOCKSTEP_HIDDEN void __tsan_##name##bytes(void *address) {                                                           \
    LS_ON(address, bytes, read, aligned);                                                                              \
    LS_ON(address, bytes, write, aligned);                                                                             \
  }
#define LS_ACCESSES(bytes)                                                                                             \
  LS_READ(read, bytes, true)                                                                                           \
  LS_WRITE(write, bytes, true)                                                                                         \
  LS_READ_WRITE(read_write, bytes, true)                                                                               \
  LS_READ(unaligned_read, bytes, false)                                                                                \
  LS_WRITE(unaligned_write, bytes, false)                                                                              \
  LS_READ_WRITE(unaligned_read_write, bytes, false)                                                                    \
  LS_READ(volatile_read, bytes, true)                                                                                  \
  LS_WRITE(volatile_write, bytes, true)                                                                                \
  LS_READ(unaligned_volatile_read, bytes, false)                                                                       \
  LS_WRITE(unaligned_volatile_write, bytes, false)

#define LS_ATOMIC_FETCH(bits, type, operation)                                                                         \
  LOCKSTEP_HIDDEN type __tsan_atomic##bits##_fetch_##operation(volatile type *object, type operand, int) {             \
    LS_ON(object, bits / 8, atomic_update, true);                                                                      \
    return __atomic_fetch_##operation(object, operand, __ATOMIC_SEQ_CST);                                              \
  }
#define LS_ATOMICS(bits, type)                                                                                         \
  LOCKSTEP_HIDDEN type __tsan_atomic##bits##_load(const volatile type *object, int) {                                  \
    LS_ON(object, bits / 8, atomic_read, true);                                                                        \
    return __atomic_load_n(object, __ATOMIC_SEQ_CST);                                                                  \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN void __tsan_atomic##bits##_store(volatile type *object, type value, int) {                           \
    LS_ON(object, bits / 8, atomic_write, true);                                                                       \
    __atomic_store_n(object, value, __ATOMIC_SEQ_CST);                                                                 \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN type __tsan_atomic##bits##_exchange(volatile type *object, type value, int) {                        \
    LS_ON(object, bits / 8, atomic_update, true);                                                                      \
    return __atomic_exchange_n(object, value, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN int __tsan_atomic##bits##_compare_exchange_strong(volatile type *object, type *expected, type desired, \
                                                                    int, int) {                                        \
    LS_ON(object, bits / 8, atomic_update, true);                                                                      \
    return __atomic_compare_exchange_n(object, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN int __tsan_atomic##bits##_compare_exchange_weak(volatile type *object, type *expected, type desired, \
                                                                  int, int) {                                          \
    LS_ON(object, bits / 8, atomic_update, true);                                                                      \
    return __atomic_compare_exchange_n(object, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN type __tsan_atomic##bits##_compare_exchange_val(volatile type *object, type expected, type desired, int, \
                                                                  int) {                                               \
    LS_ON(object, bits / 8, atomic_update, true);                                                                      \
    __atomic_compare_exchange_n(object, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                \
    return expected;                                                                                                   \
  }                                                                                                                    \
  LS_ATOMIC_FETCH(bits, type, add)                                                                                     \
  LS_ATOMIC_FETCH(bits, type, sub)                                                                                     \
  LS_ATOMIC_FETCH(bits, type, and)                                                                                     \
  LS_ATOMIC_FETCH(bits, type, or)                                                                                      \
  LS_ATOMIC_FETCH(bits, type, xor)

/** Defines all callbacks. At namespace scope, after `on_access`. */
#define LOCKSTEP_DEFINE_CALLBACKS()                                                                                    \
  extern "C" {                                                                                                         \
  LS_ACCESSES(1)                                                                                                       \
  LS_ACCESSES(2)                                                                                                       \
  LS_ACCESSES(4)                                                                                                       \
  LS_ACCESSES(8)                                                                                                       \
  LS_ACCESSES(16)                                                                                                      \
  LOCKSTEP_HIDDEN void *__tsan_memcpy(void *to, const void *from, size_t bytes) {                                      \
    LS_ON(from, bytes, read, false);                                                                                   \
    LS_ON(to, bytes, write, false);                                                                                    \
    return __builtin_memcpy(to, from, bytes);                                                                          \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN void *__tsan_memmove(void *to, const void *from, size_t bytes) {                                     \
    LS_ON(from, bytes, read, false);                                                                                   \
    LS_ON(to, bytes, write, false);                                                                                    \
    return __builtin_memmove(to, from, bytes);                                                                         \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN void *__tsan_memset(void *to, int value, size_t bytes) {                                             \
    LS_ON(to, bytes, write, false);                                                                                    \
    return __builtin_memset(to, value, bytes);                                                                         \
  }                                                                                                                    \
  LS_ATOMICS(8, uint8_t)                                                                                               \
  LS_ATOMICS(16, uint16_t)                                                                                             \
  LS_ATOMICS(32, uint32_t)                                                                                             \
  LS_ATOMICS(64, uint64_t)                                                                                             \
  LOCKSTEP_HIDDEN void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }                    \
  LOCKSTEP_HIDDEN void __tsan_atomic_signal_fence(int) {}                                                              \
  /* Called by the constructor that the instrumentation adds to every module. */                                       \
  LOCKSTEP_HIDDEN void __tsan_init() {}                                                                                \
  LOCKSTEP_HIDDEN void __tsan_func_entry(void *) {}                                                                    \
  LOCKSTEP_HIDDEN void __tsan_func_exit() {}                                                                           \
  }
