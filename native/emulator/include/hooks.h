/**
 * Where a flavour looks at what the library does for a kernel. `fast` looks at nothing; an instrumented flavour's
 * callbacks see the kernel's own loads and stores, and these hooks the ones that the library makes in its place.
 */
#pragma once

#include "flavour.h"

#if LOCKSTEP_INSTRUMENTED
extern "C" {
/** Eight rows of `row_bytes` at `address`, `stride_bytes` apart, are about to be read or written by a matrix operation. */
LOCKSTEP_HIDDEN void lockstep_matrix_access(const void *address, unsigned long stride_bytes, unsigned row_bytes, int writes,
                                            const void *site);
}
#endif

namespace lockstep {

LOCKSTEP_INTERNAL void matrix_access([[maybe_unused]] const void *address, [[maybe_unused]] unsigned long stride_bytes,
                                     [[maybe_unused]] unsigned row_bytes, [[maybe_unused]] bool writes,
                                     [[maybe_unused]] const void *site) {
#if LOCKSTEP_INSTRUMENTED
  lockstep_matrix_access(address, stride_bytes, row_bytes, writes ? 1 : 0, site);
#endif
}

} // namespace lockstep
