/**
 * The common access of the check flavours: inside its object, with a value, in order with whoever touched the bytes
 * before, by a line whose traffic is being kept. Nothing is changed before all of that is known; whatever differs is
 * left to the whole look in `module_check.cpp`, which gives the same counts and marks.
 */
#pragma once

#include "module_callbacks.h"
#include "module_check.h"
#include "module_check_traffic.h"

namespace lockstep {

/** The bits of a map for `size` (up to 16) bytes from `offset` on, as they stand in the word at `word`. */
inline uint32_t map_bits(const uint8_t *map, uint64_t offset, uint32_t size, uint32_t &mask, const uint8_t *&word) {
  word = map + offset / 8;
  uint32_t bits;
  __builtin_memcpy(&bits, word, sizeof bits);
  mask = ((uint32_t{1} << size) - 1) << (offset % 8);
  return bits;
}

/** Marks a cell of threadgroup memory as read. */
inline __attribute__((always_inline)) void keep_reader(lockstep_cell *cell, const lockstep_stamp &own) {
  if (cell->read[0].epoch != own.epoch) {
    cell->read[0] = own;
    cell->read[1].epoch = 0;
  } else if (cell->read[0].lane == own.lane) {
    cell->read[0] = own;
  } else {
    const uint32_t simdgroup = own.lane / LOCKSTEP_SIMD_WIDTH;
    const bool same = cell->read[0].lane / LOCKSTEP_SIMD_WIDTH == simdgroup;
    if (!same) {
      cell->read[1] = own;
    } else {
      const bool keep = cell->read[1].epoch == own.epoch && cell->read[1].lane / LOCKSTEP_SIMD_WIDTH != simdgroup;
      if (!keep) cell->read[1] = cell->read[0];
      cell->read[0] = own;
    }
  }
}

/** True if a read by `own` of threadgroup memory needs no second look. */
inline __attribute__((always_inline)) bool reads_quietly(const lockstep_cell &cell, const lockstep_stamp &own) {
  return cell.write.epoch >= check_state.first_threadgroup_epoch && (cell.write.epoch != own.epoch || cell.write.lane == own.lane);
}

/** True if a write by `own` to threadgroup memory needs no second look. */
inline __attribute__((always_inline)) bool writes_quietly(const lockstep_cell &cell, const lockstep_stamp &own) {
  if (cell.write.epoch == own.epoch && cell.write.lane != own.lane) return false;
  if (cell.read[0].epoch != own.epoch) return true;
  return cell.read[0].lane == own.lane && (cell.read[1].epoch != own.epoch || cell.read[1].lane == own.lane);
}

/** True if the access was the common one, and is noted. Not for atomics. */
template <Access kind>
inline __attribute__((always_inline)) bool quick_look(uintptr_t at, uint32_t size, bool aligned, uint32_t site, const Lane &lane,
                                                      const MatrixElements *matrix) {
  constexpr bool writes = kind == Access::write;
  SimdgroupOrder &order = simdgroup_orders[lane.flat / LOCKSTEP_SIMD_WIDTH];
  const uint32_t line = traffic_line(site, writes);
  TrafficSlot &slot = order.slots[traffic_slot(line)];
  if (__builtin_expect(slot.quick != line || slot.size != size, 0)) return false;
  const uint64_t offset = at - slot.low;
  if (__builtin_expect(offset > slot.span, 0)) return false;
  if (aligned && __builtin_expect((at & (size - 1)) != 0, 0)) return false;
  if (writes && __builtin_expect(check_state.watches, 0)) return false;
  if (__builtin_expect(slot.valid != nullptr, 0)) {
    uint32_t mask;
    const uint8_t *word;
    const uint32_t bits = map_bits(slot.valid, offset, size, mask, word);
    if ((bits & mask) != mask) return false;
  }
  const uint32_t index = lane.flat % LOCKSTEP_SIMD_WIDTH;
  lockstep_region *const region = slot.region;
  if (region == nullptr) return keep_in_slot(slot, static_cast<uint32_t>(at), index, matrix);
  const uint32_t shift = region->shift;
  if (__builtin_expect(size != 1u << shift || (offset & (size - 1)) != 0, 0)) return false;
  const uint64_t place = offset >> shift;
  if (__builtin_expect(place >= region->touched, 0)) return false;
  lockstep_cell *const cell = region->cells + place;
  const lockstep_stamp own{check_state.threadgroup_epoch, order.tick, site, lane.flat};
  if (__builtin_expect(!(writes ? writes_quietly(*cell, own) : reads_quietly(*cell, own)), 0)) return false;
  if (__builtin_expect(!keep_in_slot(slot, static_cast<uint32_t>(at), index, matrix), 0)) return false;
  if (writes) {
    cell->write = own;
  } else {
    keep_reader(cell, own);
  }
  return true;
}

} // namespace lockstep
