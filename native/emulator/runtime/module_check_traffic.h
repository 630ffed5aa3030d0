/**
 * Traffic of a kernel's lines. What a lane accesses is kept until the lanes of its simdgroup have come equally far; then
 * the k-th executions of the line are counted as one SIMD access.
 */
#pragma once

#include "module_check.h"
#include "rendezvous.h"

namespace lockstep {

/** The line's entry for a region, made if there is none; null where there is no room. */
LOCKSTEP_HIDDEN lockstep_site *site_entry(uint32_t site, bool writes, uint32_t region, uint32_t size);
/** The room in which a simdgroup keeps executions of the line; null where there is none. */
LOCKSTEP_HIDDEN lockstep_kept *site_room(lockstep_site &entry, uint32_t simdgroup);
/** Lets the other lanes catch up, then counts. */
LOCKSTEP_HIDDEN void catch_up(lockstep_site &entry, lockstep_kept &kept, const void *site);

/** Keeps one execution of a line by the current lane. */
inline __attribute__((always_inline)) void note_traffic(uint32_t region, uint32_t address, uint32_t size, bool writes,
                                                        const Lane &lane, uint32_t site, const void *return_address) {
  lockstep_check &shared = *check_state.shared;
  const uint32_t at = 2 * site + (writes ? 1u : 0u);
  if (__builtin_expect(at >= shared.site_of_count, 0)) return;
  const uint32_t index = shared.site_of[at];
  lockstep_site *entry = shared.sites + index;
  if (__builtin_expect(index == 0 || entry->region != region || entry->size != size, 0)) {
    entry = site_entry(site, writes, region, size);
    if (entry == nullptr) return;
  }
  const uint32_t simdgroup = lane.simdgroup->index;
  lockstep_kept *kept = entry->kept[simdgroup];
  if (__builtin_expect(kept == nullptr || kept->listed == 0, 0)) {
    kept = site_room(*entry, simdgroup);
    if (kept == nullptr) return;
  }
  const uint32_t k = kept->count[lane.index]++;
  kept->address[k][lane.index] = address;
  if (__builtin_expect(k + 1 == LOCKSTEP_CHECK_KEPT, 0)) catch_up(*entry, *kept, return_address);
}

} // namespace lockstep
