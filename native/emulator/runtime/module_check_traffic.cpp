#include "module_check_traffic.h"

namespace lockstep {

namespace {

constexpr uint32_t kLineBytes = 128;
constexpr uint32_t kBanks = 32;
constexpr uint32_t kBankBytes = 4;

using Addresses = uint32_t __attribute__((ext_vector_type(32)));

struct Cost {
  uint32_t distinct;
  uint32_t units;
  uint32_t ideal;
};

uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

/** Distinct bytes and units of the accesses of `size` bytes at `addresses`. */
Cost cost_of(uint32_t *addresses, uint32_t lanes, uint32_t size, bool threadgroup) {
  // Sorted by insertion: addresses mostly rise from lane to lane.
  for (uint32_t i = 1; i < lanes; ++i) {
    const uint32_t value = addresses[i];
    uint32_t j = i;
    for (; j > 0 && addresses[j - 1] > value; --j) addresses[j] = addresses[j - 1];
    addresses[j] = value;
  }
  Cost cost{0, 0, 0};
  uint32_t end = addresses[0];
  uint32_t last_unit = ~0u;
  uint32_t in_bank[kBanks] = {};
  for (uint32_t i = 0; i < lanes; ++i) {
    const uint32_t begin = addresses[i] > end || i == 0 ? addresses[i] : end;
    const uint32_t stop = addresses[i] + size;
    if (stop > begin || i == 0) {
      cost.distinct += stop - begin;
      end = stop;
    }
    if (threadgroup) {
      for (uint32_t word = addresses[i] / kBankBytes; word <= (stop - 1) / kBankBytes; ++word) {
        if (last_unit != ~0u && word <= last_unit) continue;
        last_unit = word;
        const uint32_t used = ++in_bank[word % kBanks];
        if (used > cost.units) cost.units = used;
      }
    } else {
      for (uint32_t line = addresses[i] / kLineBytes; line <= (stop - 1) / kLineBytes; ++line) {
        if (last_unit != ~0u && line <= last_unit) continue;
        last_unit = line;
        ++cost.units;
      }
    }
  }
  cost.ideal = ceil_div(cost.distinct, threadgroup ? kBanks * kBankBytes : kLineBytes);
  return cost;
}

void add_cost(lockstep_site &entry, uint32_t lanes, const Cost &cost) {
  entry.accesses += lanes;
  entry.simd_accesses += 1;
  entry.requested += uint64_t{lanes} * entry.size;
  entry.distinct += cost.distinct;
  entry.units += cost.units;
  entry.ideal += cost.ideal;
  if (cost.units > entry.worst) entry.worst = cost.units;
}

bool is_threadgroup(const lockstep_site &entry) {
  const lockstep_space space = check_state.shared->regions[entry.region].space;
  return space == LOCKSTEP_SPACE_DYNAMIC || space == LOCKSTEP_SPACE_STATIC;
}

/** The SIMD access of all 32 lanes at `addresses`. */
void count_whole(lockstep_site &entry, const uint32_t *addresses, bool threadgroup) {
  Addresses all;
  __builtin_memcpy(&all, addresses, sizeof all);
  const uint32_t base = addresses[0];
  const Addresses relative = all - Addresses(base);
  const uint32_t phase = base % kLineBytes;
  lockstep_pattern &pattern = entry.patterns[(base >> 4) % LOCKSTEP_CHECK_PATTERNS];
  Addresses known;
  __builtin_memcpy(&known, pattern.relative, sizeof known);
  if (pattern.distinct == 0 || pattern.phase != phase || __builtin_reduce_or(known ^ relative) != 0) {
    uint32_t sorted[32];
    __builtin_memcpy(sorted, addresses, sizeof sorted);
    const Cost cost = cost_of(sorted, 32, entry.size, threadgroup);
    __builtin_memcpy(pattern.relative, &relative, sizeof relative);
    pattern.phase = phase;
    pattern.distinct = cost.distinct;
    pattern.units = cost.units;
    pattern.ideal = cost.ideal;
  }
  add_cost(entry, 32, {pattern.distinct, pattern.units, pattern.ideal});
}

/** Counts what is kept and empties it. */
void count_kept(lockstep_site &entry, lockstep_kept &kept) {
  const bool threadgroup = is_threadgroup(entry);
  uint32_t most = 0;
  uint32_t least = LOCKSTEP_CHECK_KEPT;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (kept.count[lane] > most) most = kept.count[lane];
    if (kept.count[lane] < least) least = kept.count[lane];
  }
  for (uint32_t k = 0; k < least; ++k) count_whole(entry, kept.address[k], threadgroup);
  for (uint32_t k = least; k < most; ++k) {
    uint32_t addresses[32];
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if (kept.count[lane] > k) addresses[lanes++] = kept.address[k][lane];
    }
    add_cost(entry, lanes, cost_of(addresses, lanes, entry.size, threadgroup));
  }
  __builtin_memset(kept.count, 0, sizeof kept.count);
}

} // namespace

lockstep_site *site_entry(uint32_t site, bool writes, uint32_t region, uint32_t size) {
  lockstep_check &shared = *check_state.shared;
  uint16_t &head = shared.site_of[2 * site + (writes ? 1u : 0u)];
  for (uint32_t index = head; index != 0; index = shared.sites[index].next) {
    lockstep_site &entry = shared.sites[index];
    if (entry.region == region && entry.size == size) return &entry;
  }
  if (shared.site_count == LOCKSTEP_CHECK_SITES) {
    ++shared.sites_lost;
    return nullptr;
  }
  const uint32_t index = shared.site_count;
  lockstep_site &entry = shared.sites[index];
  entry.site = site;
  entry.size = size;
  entry.writes = writes;
  entry.region = static_cast<uint8_t>(region);
  entry.dispatch = shared.dispatch;
  entry.next = head;
  head = static_cast<uint16_t>(index);
  shared.site_count = index + 1;
  return &entry;
}

lockstep_kept *site_room(lockstep_site &entry, uint32_t simdgroup) {
  lockstep_check &shared = *check_state.shared;
  lockstep_kept *kept = entry.kept[simdgroup];
  if (kept == nullptr) {
    if (shared.room_used + sizeof(lockstep_kept) > shared.room_bytes) {
      ++shared.sites_lost;
      return nullptr;
    }
    kept = reinterpret_cast<lockstep_kept *>(shared.room + shared.room_used);
    shared.room_used += (sizeof(lockstep_kept) + 63) / 64 * 64;
    entry.kept[simdgroup] = kept;
  }
  SimdgroupOrder &order = simdgroup_orders[simdgroup];
  constexpr uint32_t room = sizeof order.listed / sizeof order.listed[0];
  if (order.listed_count == room) {
    ++shared.sites_lost;
    return nullptr;
  }
  kept->listed = 1;
  order.listed[order.listed_count++] = static_cast<uint16_t>(&entry - shared.sites);
  return kept;
}

void count_traffic(uint32_t simdgroup, bool) {
  lockstep_check &shared = *check_state.shared;
  SimdgroupOrder &order = simdgroup_orders[simdgroup];
  for (uint32_t i = 0; i < order.listed_count; ++i) {
    lockstep_site &entry = shared.sites[order.listed[i]];
    lockstep_kept &kept = *entry.kept[simdgroup];
    kept.listed = 0;
    count_kept(entry, kept);
  }
  order.listed_count = 0;
}

void catch_up(lockstep_site &entry, lockstep_kept &kept, const void *site) {
  const uint32_t lane = lockstep_current->index;
  rendezvous(site, AccessToComplete{});
  if (kept.count[lane] == LOCKSTEP_CHECK_KEPT) count_kept(entry, kept);
}

} // namespace lockstep
