#include "module_check_traffic.h"

#include "rendezvous.h"

namespace lockstep {

namespace {

/** Times that the lanes of a line may not keep to a distance before its slot is no longer tried. */
constexpr uint32_t kMostMisses = 2;

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

/** Counts what is in a slot. */
void count_slot(lockstep_site &entry, const TrafficSlot &slot) {
  const bool threadgroup = is_threadgroup(entry);
  Addresses lanes;
  for (uint32_t lane = 0; lane < 32; ++lane) lanes[lane] = lane;
  Addresses steps = lanes * Addresses(slot.stride);
  if (slot.is_matrix != 0) {
    const Addresses rows = ((lanes & 6u) >> 1) + ((lanes & 16u) >> 2);
    const Addresses columns = ((lanes & 1u) << 1) + ((lanes & 8u) >> 1);
    steps = rows * Addresses(slot.stride) + columns * Addresses(slot.column);
  }
  uint32_t least = slot.filled;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (slot.count[lane] < least) least = slot.count[lane];
  }
  for (uint32_t k = 0; k < slot.filled; ++k) {
    uint32_t addresses[32];
    const Addresses all = Addresses(slot.base[k]) + steps;
    __builtin_memcpy(addresses, &all, sizeof addresses);
    if (k < least) {
      count_whole(entry, addresses, threadgroup);
      continue;
    }
    uint32_t active = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if (slot.count[lane] > k) addresses[active++] = addresses[lane];
    }
    add_cost(entry, active, cost_of(addresses, active, entry.size, threadgroup));
  }
}

/** The line's entry for a region, made if there is none; null where there is no room. */
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

/** The room in which a simdgroup keeps executions of the line; null where there is none. */
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

/** Gives a slot up: what is in it goes where any addresses can be kept. */
void spill(TrafficSlot &slot, uint32_t simdgroup) {
  slot.quick = 0;
  slot.key = 0;
  slot.spilled = 1;
  lockstep_kept *const kept = site_room(check_state.shared->sites[slot.entry], simdgroup);
  if (kept == nullptr) return;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    kept->count[lane] = slot.count[lane];
    for (uint32_t k = 0; k < slot.count[lane]; ++k) kept->address[k][lane] = slot.base[k] + slot.offset_of(lane);
  }
}

/** Begins to keep executions in a slot. */
void start(TrafficSlot &slot, uint64_t key) {
  const lockstep_site &entry = check_state.shared->sites[slot.entry];
  lockstep_region &region = check_state.shared->regions[entry.region];
  const bool threadgroup = is_threadgroup(entry);
  const bool reported = entry.writes != 0 && (region.read_only | region.is_output) != 0;
  const bool quick = (threadgroup || region.cells == nullptr) && !reported && region.bytes >= entry.size;
  slot.quick = quick ? traffic_line(entry.site, entry.writes != 0) : 0;
  slot.key = key;
  slot.spilled = 0;
  slot.filled = 0;
  slot.size = static_cast<uint8_t>(entry.size);
  slot.low = region.base;
  slot.span = region.bytes - entry.size;
  slot.valid = region.valid;
  slot.region = region.cells == nullptr ? nullptr : &region;
  __builtin_memset(slot.count, 0, sizeof slot.count);
}

/** Takes a free slot for a line; false if the line's lanes are known not to keep to a distance. */
bool take(TrafficSlot &slot, uint64_t key, const lockstep_site &entry, SimdgroupOrder &order, const MatrixElements *matrix) {
  if (slot.last != key) {
    slot.last = key;
    slot.misses = 0;
    slot.stride = entry.size;
  }
  if (slot.misses >= kMostMisses) return false;
  slot.is_matrix = matrix != nullptr;
  if (matrix != nullptr) {
    slot.stride = matrix->row;
    slot.column = matrix->column;
  }
  slot.taken = 1;
  slot.entry = static_cast<uint16_t>(&entry - check_state.shared->sites);
  order.taken[order.taken_count++] = static_cast<uint8_t>(&slot - order.slots);
  start(slot, key);
  return true;
}

/** Lets the other lanes catch up, then counts. */
void catch_up(lockstep_site &entry, lockstep_kept &kept, TrafficSlot &slot, uint64_t key, const void *site) {
  const uint32_t lane = lockstep_current->index;
  rendezvous(site, AccessToComplete{});
  if (kept.count[lane] != LOCKSTEP_CHECK_KEPT) return;
  count_kept(entry, kept);
  if (slot.spilled != 0 && slot.last == key && slot.misses < kMostMisses) start(slot, key);
}

} // namespace

void note_traffic(uint32_t region, uint32_t address, uint32_t size, bool writes, const Lane &lane, uint32_t site,
                  const void *return_address, const MatrixElements *matrix) {
  lockstep_check &shared = *check_state.shared;
  const uint32_t line = traffic_line(site, writes);
  if (line >= shared.site_of_count) return;
  const uint32_t simdgroup = lane.simdgroup->index;
  SimdgroupOrder &order = simdgroup_orders[simdgroup];
  TrafficSlot &slot = order.slots[traffic_slot(line)];
  const uint64_t key = traffic_key(line, region, size);
  if (slot.key == key) {
    if (keep_in_slot(slot, address, lane.index, matrix)) return;
    if (slot.count[lane.index] < LOCKSTEP_CHECK_KEPT - 1) slot.misses = static_cast<uint8_t>(slot.misses + 1) & 3u;
    spill(slot, simdgroup);
  }
  const uint32_t index = shared.site_of[line];
  lockstep_site *entry = shared.sites + index;
  if (__builtin_expect(index == 0 || entry->region != region || entry->size != size, 0)) {
    entry = site_entry(site, writes, region, size);
    if (entry == nullptr) return;
  }
  if (slot.taken == 0 && take(slot, key, *entry, order, matrix)) {
    keep_in_slot(slot, address, lane.index, matrix);
    return;
  }
  lockstep_kept *kept = entry->kept[simdgroup];
  if (__builtin_expect(kept == nullptr || kept->listed == 0, 0)) {
    kept = site_room(*entry, simdgroup);
    if (kept == nullptr) return;
  }
  const uint32_t k = kept->count[lane.index]++;
  kept->address[k][lane.index] = address;
  if (__builtin_expect(k + 1 == LOCKSTEP_CHECK_KEPT, 0)) catch_up(*entry, *kept, slot, key, return_address);
}

void count_traffic(uint32_t simdgroup, bool) {
  lockstep_check &shared = *check_state.shared;
  SimdgroupOrder &order = simdgroup_orders[simdgroup];
  for (uint32_t i = 0; i < order.taken_count; ++i) {
    TrafficSlot &slot = order.slots[order.taken[i]];
    lockstep_site &entry = shared.sites[slot.entry];
    if (slot.spilled == 0) {
      count_slot(entry, slot);
    } else if (const lockstep_kept *kept = entry.kept[simdgroup]; slot.is_matrix == 0 && kept != nullptr && kept->count[0] != 0 && kept->count[1] != 0) {
      // The next time it is tried with the distance that it has now.
      slot.stride = kept->address[0][1] - kept->address[0][0];
    }
    slot.quick = 0;
    slot.key = 0;
    slot.taken = 0;
  }
  order.taken_count = 0;
  for (uint32_t i = 0; i < order.listed_count; ++i) {
    lockstep_site &entry = shared.sites[order.listed[i]];
    lockstep_kept &kept = *entry.kept[simdgroup];
    kept.listed = 0;
    count_kept(entry, kept);
  }
  order.listed_count = 0;
}

} // namespace lockstep
