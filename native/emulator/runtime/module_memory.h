/** The threadgroup memory of a module: its static part (one section) and the dynamic regions of the current launch. */
#pragma once

#include "fiber.h"

#if defined(__APPLE__)
extern "C" char lockstep_static_start[] __asm("section$start$__DATA$ls_tgmem");
extern "C" char lockstep_static_stop[] __asm("section$end$__DATA$ls_tgmem");
#else
/* Weak: a kernel without static threadgroup memory has no such section. */
extern "C" __attribute__((weak, visibility("hidden"))) char __start_ls_tgmem[];
extern "C" __attribute__((weak, visibility("hidden"))) char __stop_ls_tgmem[];
#define lockstep_static_start __start_ls_tgmem
#define lockstep_static_stop __stop_ls_tgmem
#endif

#if LOCKSTEP_CHECKS
/** Ends the section, behind the kernel's own arrays: what runs over them lands here, where it is seen and harms nothing. */
enum { LOCKSTEP_STATIC_GUARD_BYTES = 65536 };
extern "C" LOCKSTEP_HIDDEN char lockstep_static_guard[LOCKSTEP_STATIC_GUARD_BYTES];
#endif

namespace lockstep {

inline char *static_begin() { return lockstep_static_start; }
#if LOCKSTEP_CHECKS
inline size_t static_bytes() { return static_cast<size_t>(lockstep_static_guard - lockstep_static_start); }
#else
inline size_t static_bytes() { return static_cast<size_t>(lockstep_static_stop - lockstep_static_start); }
#endif

/** True if `address` lies in static or dynamic threadgroup memory. */
inline bool in_threadgroup_memory(const void *address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (at - reinterpret_cast<uintptr_t>(static_begin()) < static_bytes()) {
    return true;
  }
  const lockstep_launch *launch = lockstep_threadgroup.launch;
  for (int i = 0; i < LOCKSTEP_THREADGROUP_SLOTS; ++i) {
    if (at - reinterpret_cast<uintptr_t>(launch->threadgroup_memory[i]) < launch->threadgroup_bytes[i]) {
      return true;
    }
  }
  return false;
}

} // namespace lockstep
