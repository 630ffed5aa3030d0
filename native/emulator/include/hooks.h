/**
 * Where a flavour looks at what the library does for a kernel. `fast` looks at nothing; an instrumented flavour's
 * callbacks see the kernel's own loads and stores, and these hooks the ones that the library makes in its place.
 */
#pragma once

#include "fiber.h"

#if LOCKSTEP_INSTRUMENTED
extern "C" {
/**
 * A matrix operation is about to read or write the current lane's own elements of an 8x8 block: called by every lane.
 * `address` is the block's first element, `stride_bytes` lie between rows in memory. `after`, if not null, holds the 64
 * elements that a write will leave there, row by row.
 */
LOCKSTEP_HIDDEN void lockstep_matrix_access(const void *address, unsigned long stride_bytes, unsigned element_bytes, int transposed,
                                            int writes, const void *site, const void *after);
}
#endif

namespace lockstep {

LOCKSTEP_INTERNAL void matrix_access([[maybe_unused]] const void *address, [[maybe_unused]] unsigned long stride_bytes,
                                     [[maybe_unused]] unsigned element_bytes, [[maybe_unused]] bool transposed,
                                     [[maybe_unused]] bool writes, [[maybe_unused]] const void *site,
                                     [[maybe_unused]] const void *after = nullptr) {
#if LOCKSTEP_INSTRUMENTED
  lockstep_matrix_access(address, stride_bytes, element_bytes, transposed ? 1 : 0, writes ? 1 : 0, site, after);
#endif
}

} // namespace lockstep
