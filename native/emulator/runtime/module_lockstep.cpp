/**
 * The lockstep flavour. Kernels are compiled with `-fsanitize=thread`, but these are the callbacks: before each access to
 * threadgroup memory the lanes of the simdgroup meet, so that all of them do access k before any does access k + 1, as
 * lanes that execute one instruction together would.
 *
 * The rendezvous is keyed by the address of the access. Where lanes have diverged, the group at the lowest address goes
 * first, and accesses before collectives.
 */
#include "barrier.h"
#include "module_callbacks.h"
#include "module_memory.h"

using lockstep::lockstep_current;

namespace {

template <lockstep::Access> inline __attribute__((always_inline)) void on_access(const void *address, size_t, bool, const void *site) {
  if (lockstep_current != nullptr && lockstep::in_threadgroup_memory(address)) {
    lockstep::rendezvous(site, lockstep::AccessToComplete{});
  }
}

} // namespace

extern "C" LOCKSTEP_HIDDEN void lockstep_matrix_access(const void *address, unsigned long, unsigned, int, int, const void *site,
                                                       const void *) {
  on_access<lockstep::Access::read>(address, 0, false, site);
}

LOCKSTEP_DEFINE_CALLBACKS()
