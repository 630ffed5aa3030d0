/**
 * The lockstep flavour. Kernels are compiled with `-fsanitize=thread`, but these are the callbacks: before each access to
 * threadgroup memory the lanes of the simdgroup meet, so that all of them do access k before any does access k + 1, as
 * lanes that execute one instruction together would.
 *
 * The rendezvous is keyed by the address of the access. Where lanes have diverged, the group at the lowest address goes
 * first, and accesses before collectives.
 */
#include "barrier.h"
#include "module_memory.h"

using lockstep::lockstep_current;

namespace {

inline __attribute__((always_inline)) void meet(const void *address, const void *site) {
  if (lockstep_current != nullptr && lockstep::in_threadgroup_memory(address)) {
    lockstep::rendezvous(site, lockstep::AccessToComplete{});
  }
}

} // namespace

extern "C" {

LOCKSTEP_HIDDEN void lockstep_matrix_access(const void *address, unsigned long, unsigned, int, const void *site) {
  meet(address, site);
}

#define SITE __builtin_return_address(0)
#define ACCESS(name)                                                                                                   \
  LOCKSTEP_HIDDEN void __tsan_##name(void *address) { meet(address, SITE); }
#define ACCESSES(bytes)                                                                                                \
  ACCESS(read##bytes)                                                                                                  \
  ACCESS(write##bytes)                                                                                                 \
  ACCESS(read_write##bytes)                                                                                            \
  ACCESS(unaligned_read##bytes)                                                                                        \
  ACCESS(unaligned_write##bytes)                                                                                       \
  ACCESS(unaligned_read_write##bytes)                                                                                  \
  ACCESS(volatile_read##bytes)                                                                                         \
  ACCESS(volatile_write##bytes)                                                                                        \
  ACCESS(unaligned_volatile_read##bytes)                                                                               \
  ACCESS(unaligned_volatile_write##bytes)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

LOCKSTEP_HIDDEN void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
  meet(from, SITE);
  meet(to, SITE);
  return __builtin_memcpy(to, from, bytes);
}
LOCKSTEP_HIDDEN void *__tsan_memmove(void *to, const void *from, size_t bytes) {
  meet(from, SITE);
  meet(to, SITE);
  return __builtin_memmove(to, from, bytes);
}
LOCKSTEP_HIDDEN void *__tsan_memset(void *to, int value, size_t bytes) {
  meet(to, SITE);
  return __builtin_memset(to, value, bytes);
}

#define ATOMIC_FETCH(bits, type, operation)                                                                            \
  LOCKSTEP_HIDDEN type __tsan_atomic##bits##_fetch_##operation(volatile type *object, type operand, int) {             \
    meet(const_cast<type *>(object), SITE);                                                                            \
    return __atomic_fetch_##operation(object, operand, __ATOMIC_SEQ_CST);                                              \
  }
#define ATOMICS(bits, type)                                                                                            \
  LOCKSTEP_HIDDEN type __tsan_atomic##bits##_load(const volatile type *object, int) {                                  \
    meet(const_cast<const type *>(object), SITE);                                                                      \
    return __atomic_load_n(object, __ATOMIC_SEQ_CST);                                                                  \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN void __tsan_atomic##bits##_store(volatile type *object, type value, int) {                           \
    meet(const_cast<type *>(object), SITE);                                                                            \
    __atomic_store_n(object, value, __ATOMIC_SEQ_CST);                                                                 \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN type __tsan_atomic##bits##_exchange(volatile type *object, type value, int) {                        \
    meet(const_cast<type *>(object), SITE);                                                                            \
    return __atomic_exchange_n(object, value, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN int __tsan_atomic##bits##_compare_exchange_strong(volatile type *object, type *expected, type desired, \
                                                                    int, int) {                                        \
    meet(const_cast<type *>(object), SITE);                                                                            \
    return __atomic_compare_exchange_n(object, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN int __tsan_atomic##bits##_compare_exchange_weak(volatile type *object, type *expected, type desired, \
                                                                  int, int) {                                          \
    meet(const_cast<type *>(object), SITE);                                                                            \
    return __atomic_compare_exchange_n(object, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
  }                                                                                                                    \
  LOCKSTEP_HIDDEN type __tsan_atomic##bits##_compare_exchange_val(volatile type *object, type expected, type desired, int, \
                                                                  int) {                                               \
    meet(const_cast<type *>(object), SITE);                                                                            \
    __atomic_compare_exchange_n(object, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                \
    return expected;                                                                                                   \
  }                                                                                                                    \
  ATOMIC_FETCH(bits, type, add)                                                                                        \
  ATOMIC_FETCH(bits, type, sub)                                                                                        \
  ATOMIC_FETCH(bits, type, and)                                                                                        \
  ATOMIC_FETCH(bits, type, or)                                                                                         \
  ATOMIC_FETCH(bits, type, xor)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

LOCKSTEP_HIDDEN void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
LOCKSTEP_HIDDEN void __tsan_atomic_signal_fence(int) {}
/* Called by the constructor that the instrumentation adds to every module. */
LOCKSTEP_HIDDEN void __tsan_init() {}
LOCKSTEP_HIDDEN void __tsan_func_entry(void *) {}
LOCKSTEP_HIDDEN void __tsan_func_exit() {}

} // extern "C"
