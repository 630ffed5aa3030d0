/** Where the check flavours look at rendezvous: what order they give to memory, and who took part. */
#pragma once

#include "fiber.h"

namespace lockstep {

/** What lanes meet for. */
enum class Meeting : int {
  /** An access of the lockstep flavour, or lanes that catch up with each other: no order. */
  access,
  /** A collective: the lanes have come this far, but memory is not ordered. */
  collective,
  /** `simdgroup_barrier`: orders the memory that its flags name. */
  barrier
};

} // namespace lockstep

#if LOCKSTEP_CHECKS

extern "C" {
/** True while something waits to be looked at before another lane runs. */
extern LOCKSTEP_HIDDEN bool lockstep_check_waits;
LOCKSTEP_HIDDEN void lockstep_check_settle();
/** The lanes of `active` have met at `site`; `order` holds the flags of a barrier. */
LOCKSTEP_HIDDEN void lockstep_check_met(lockstep::Simdgroup *group, uint32_t active, int meeting, uint32_t order, const void *site);
/** All threads that are left have reached the barrier at `site`. */
LOCKSTEP_HIDDEN void lockstep_check_barrier(uint32_t order, const void *site);
/** The current thread has executed a fence that orders device memory for the whole device. */
LOCKSTEP_HIDDEN void lockstep_check_fence();
/** The current thread is at the barrier at `site`, others wait at another one: reports and does not return. */
LOCKSTEP_HIDDEN void lockstep_check_divergent_barrier(const void *site, const void *waiting);
/** The current thread has returned from the kernel. */
LOCKSTEP_HIDDEN void lockstep_check_exit();
/** Before the first and after the last lane of a threadgroup. */
LOCKSTEP_HIDDEN void lockstep_check_begin(const lockstep_launch *launch);
LOCKSTEP_HIDDEN void lockstep_check_end();
LOCKSTEP_HIDDEN uint64_t lockstep_check_image_bytes();
/** The current lane brings a float (or a half, bfloat) with these bits to the collective at `site`. */
LOCKSTEP_HIDDEN void lockstep_check_exchanged(uint32_t bits, int half, const void *site);
}

#define LOCKSTEP_CHECK_LEAVES()                                                                                        \
  do {                                                                                                                 \
    if (__builtin_expect(lockstep_check_waits, 0)) lockstep_check_settle();                                            \
  } while (0)

#else

#define LOCKSTEP_CHECK_LEAVES() ((void)0)

#endif
