/**
 * Traffic of a kernel's lines. What a lane accesses is kept until the lanes of its simdgroup have come equally far; then
 * the k-th executions of the line are counted as one SIMD access.
 */
#pragma once

#include "module_check.h"

namespace lockstep {

/** A line, and whether it reads or writes. */
inline uint32_t traffic_line(uint32_t site, bool writes) { return 2 * site + (writes ? 1u : 0u); }
/** Where a line's slot is; lines may share one. */
inline uint32_t traffic_slot(uint32_t line) { return line * 0x9e3779b1u >> 24; }

inline uint64_t traffic_key(uint32_t line, uint32_t region, uint32_t size) {
  return uint64_t{1} << 63 | uint64_t{size} << 48 | uint64_t{region} << 40 | line;
}

/** Keeps an execution by `lane` in its line's slot; false if it does not fit in. The last execution that fits never does. */
inline __attribute__((always_inline)) bool keep_in_slot(TrafficSlot &slot, uint32_t address, uint32_t lane, const MatrixElements *matrix) {
  if (matrix != nullptr && (slot.is_matrix == 0 || slot.stride != matrix->row || slot.column != matrix->column)) return false;
  const uint32_t k = slot.count[lane];
  const uint32_t base = matrix != nullptr ? matrix->base : address - lane * slot.stride;
  if (__builtin_expect(k < slot.filled, 1)) {
    if (__builtin_expect(slot.base[k] != base || k == LOCKSTEP_CHECK_KEPT - 1, 0)) return false;
  } else {
    if (k == LOCKSTEP_CHECK_KEPT - 1) return false;
    slot.base[k] = base;
    slot.filled = static_cast<uint8_t>(k + 1);
  }
  slot.count[lane] = static_cast<uint8_t>(k + 1);
  return true;
}

/** Keeps one execution of a line by the current lane; `matrix` is null but for matrices. */
LOCKSTEP_HIDDEN void note_traffic(uint32_t region, uint32_t address, uint32_t size, bool writes, const Lane &lane, uint32_t site,
                                  const void *return_address, const MatrixElements *matrix);

} // namespace lockstep
