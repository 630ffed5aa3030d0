/** Barriers and fences (MSL specification section 6.9.1 and 6.15.3). */
#pragma once

#include "rendezvous.h"

namespace metal {

enum class mem_flags : uint32_t {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16
};

LOCKSTEP_INTERNAL constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
LOCKSTEP_INTERNAL constexpr mem_flags operator&(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));
}

enum memory_order : int {
  memory_order_relaxed = 0,
  memory_order_acquire = 2,
  memory_order_release = 3,
  memory_order_acq_rel = 4,
  memory_order_seq_cst = 5
};

enum thread_scope : int { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };

} // namespace metal

namespace lockstep {

/**
 * Waits for every thread of the threadgroup that has not returned. All of them must execute the *same* barrier: the
 * source position tells barriers apart, whatever the compiler made of the code around them.
 */
LOCKSTEP_INTERNAL void barrier_of_threadgroup(const char *file, int line, [[maybe_unused]] uint32_t order,
                                              [[maybe_unused]] const void *site) {
  LOCKSTEP_CHECK_LEAVES();
  Lane *const lane = lockstep_current;
  Simdgroup &group = *lane->simdgroup;
  ThreadgroupState &threadgroup = lockstep_threadgroup;
  const uint32_t arrived = threadgroup.at_barrier + 1;
  if (arrived == 1) {
    threadgroup.barrier = {file, line, site, order};
  } else if (__builtin_expect(threadgroup.barrier.line != line, 0)) {
    const BarrierSite here{file, line, site, order};
    lockstep_barrier_mismatch(&here);
  }
  if (arrived == threadgroup.live) {
#if LOCKSTEP_CHECKS
    lockstep_check_barrier(order, site);
#endif
    threadgroup.at_barrier = 0;
    for (uint32_t i = 0; i < threadgroup.simdgroups; ++i) {
      lockstep_simdgroups[i].at_barrier = 0;
    }
    return;
  }
  threadgroup.at_barrier = arrived;
  group.at_barrier |= lane->bit;
  yield(lane, group);
}

struct NothingToComplete {
  static constexpr Meeting meeting = Meeting::barrier;
  LOCKSTEP_INTERNAL void operator()(Simdgroup &, uint32_t) const {}
};

} // namespace lockstep

namespace metal {

LOCKSTEP_COLLECTIVE void threadgroup_barrier(mem_flags flags, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  const void *const site = LOCKSTEP_CHECKS ? LOCKSTEP_SITE() : nullptr;
  lockstep::barrier_of_threadgroup(file, line, static_cast<uint32_t>(flags), site);
}

/** `mem_none` orders nothing, as on the GPU, where it emits no instruction; any other flag makes the lanes meet. */
LOCKSTEP_COLLECTIVE void simdgroup_barrier(mem_flags flags) {
  if (flags == mem_flags::mem_none) {
    asm volatile("" ::: "memory");
  } else {
    lockstep::current_simdgroup().order = static_cast<uint32_t>(flags);
    lockstep::rendezvous(LOCKSTEP_SITE(), lockstep::NothingToComplete{});
  }
}

LOCKSTEP_INTERNAL void atomic_thread_fence(mem_flags flags, memory_order order = memory_order_seq_cst,
                                           thread_scope scope = thread_scope_device) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#if LOCKSTEP_CHECKS
  const bool device = (flags & mem_flags::mem_device) != mem_flags::mem_none;
  if (device && scope == thread_scope_device && order != memory_order_relaxed) lockstep_check_fence();
#else
  static_cast<void>(flags), static_cast<void>(order), static_cast<void>(scope);
#endif
}

} // namespace metal
