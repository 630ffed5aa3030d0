/**
 * The check flavours. Kernels are compiled with `-fsanitize=thread`, but these are the callbacks: each load and store
 * arrives here before it happens, and is held against bounds, alignment, bindings, what was written before and who else
 * touched the same bytes without an order between.
 *
 * Fibers run one after the other, so what is found is exact for the path that is executed, whatever the schedule.
 */
#include "module_check_quick.h"

extern "C" {
LOCKSTEP_HIDDEN bool lockstep_check_waits;
/** Overruns of static threadgroup arrays end here. Last in its section, because this object is linked last. */
#if defined(__APPLE__)
__attribute__((used, section("__DATA,ls_tgmem"), aligned(16))) char lockstep_static_guard[LOCKSTEP_STATIC_GUARD_BYTES];
#else
__attribute__((used, section("ls_tgmem"), aligned(16))) char lockstep_static_guard[LOCKSTEP_STATIC_GUARD_BYTES];
#endif
/** End of the module's image. */
#if !defined(__APPLE__)
extern LOCKSTEP_HIDDEN const char _end[];
#endif
}

namespace lockstep {

namespace {

constexpr uint32_t kStaticRegion = LOCKSTEP_CLASS_REGION;
/** What the compiler fills uninitialised variables with. */
constexpr uint32_t kIntegerPattern = 0xaaaaaaaau;
constexpr uint32_t kFloatPattern = 0xffffffffu;

PendingWrite pending;

constexpr bool is_atomic(Access kind) { return kind != Access::read && kind != Access::write; }
constexpr bool is_read(Access kind) { return kind == Access::read || kind == Access::atomic_read; }
constexpr bool is_write(Access kind) { return !is_read(kind); }
/** True if the access takes what is there. */
constexpr bool takes_value(Access kind) { return is_read(kind) || kind == Access::atomic_update; }

uint32_t access_name(Access kind) {
  if (is_atomic(kind)) return LOCKSTEP_ACCESS_ATOMIC;
  return kind == Access::write ? LOCKSTEP_ACCESS_WRITE : LOCKSTEP_ACCESS_READ;
}

bool in_threadgroup_space(const lockstep_region &region) {
  return region.space == LOCKSTEP_SPACE_DYNAMIC || region.space == LOCKSTEP_SPACE_STATIC;
}

/** Ends the threadgroup after a report: the access cannot be made harmless. */
void abandon() {
  pending.waits = false;
  lockstep_check_waits = false;
  lockstep_abandon();
}

/** The other side of a conflict, from what its stamp says. */
lockstep_side stamped_side(const lockstep_stamp &stamp, uint32_t access, bool device) {
  lockstep_side side = current_side(stamp.site, (stamp.lane & LOCKSTEP_STAMP_ATOMIC) != 0 ? uint32_t{LOCKSTEP_ACCESS_ATOMIC} : access);
  side.thread = stamp.lane & LOCKSTEP_STAMP_THREAD;
  if (!device || stamp.epoch >= check_state.first_own_device_epoch) return side;
  const lockstep_check &shared = *check_state.shared;
  uint64_t low = 0;
  uint64_t high = shared.mark_count;
  while (low + 1 < high) {
    const uint64_t middle = (low + high) / 2;
    (shared.marks[middle].epoch <= stamp.epoch ? low : high) = middle;
  }
  if (high != 0) {
    for (int i = 0; i < 3; ++i) side.threadgroup[i] = shared.marks[low].position[i];
    side.dispatch = shared.marks[low].dispatch;
  }
  return side;
}

void make_same_value(lockstep_report &report) {
  report.values[0] = report.kind;
  report.kind = LOCKSTEP_SAME_VALUE;
  report.detail = 0;
}

struct Conflict {
  const lockstep_region &region;
  uint64_t offset;
  uint32_t size;
  Access kind;
  uint32_t site;
  /** What the memory holds after a write of the library; null where the write itself shows it. */
  const void *after;
  /** Such a write is reported once, however many cells it covers. */
  mutable bool told = false;
};

/** Two accesses of one cell by different threads, at least one of them a write: reports them if nothing orders them. */
__attribute__((noinline, cold)) void examine(const Conflict &now, const lockstep_stamp &other, bool other_writes) {
  const bool device = !in_threadgroup_space(now.region);
  const Lane &lane = *lockstep_current;
  const uint32_t thread = other.lane & LOCKSTEP_STAMP_THREAD;
  if (is_atomic(now.kind) && (other.lane & LOCKSTEP_STAMP_ATOMIC) != 0) return;
  lockstep_report_kind kind = LOCKSTEP_RACE;
  uint32_t detail = 0;
  if (device && other.epoch < check_state.first_own_device_epoch) {
    if (other.epoch < check_state.first_device_epoch) return;
    kind = LOCKSTEP_DEVICE_RACE;
  } else {
    if (other.epoch != (device ? check_state.device_epoch : check_state.threadgroup_epoch) || thread == lane.flat) return;
    const uint32_t simdgroup = lane.simdgroup->index;
    const uint32_t other_simdgroup = thread / LOCKSTEP_SIMD_WIDTH;
    if (simdgroup == other_simdgroup) {
      const uint32_t a = thread % LOCKSTEP_SIMD_WIDTH;
      if (ordered_tick(simdgroup, a, lane.index, device ? ORDER_DEVICE : ORDER_THREADGROUP) > other.tick) return;
      kind = LOCKSTEP_EXCHANGE;
      detail = ordered_tick(simdgroup, a, lane.index, ORDER_EXECUTION) > other.tick ? 1 : 0;
    } else {
      detail = simdgroup_orders[other_simdgroup].weak[device ? 1 : 0] > other.tick ? 1 : 0;
    }
  }
  lockstep_report report = report_of(kind, &now.region, static_cast<int64_t>(now.offset), now.size, now.site, access_name(now.kind));
  report.detail = detail;
  report.has_second = 1;
  report.second = stamped_side(other, other_writes ? LOCKSTEP_ACCESS_WRITE : LOCKSTEP_ACCESS_READ, device);
  if (kind == LOCKSTEP_DEVICE_RACE) {
    report.detail = report.second.dispatch != report.first.dispatch ? 1 : check_state.fenced ? 2 : 0;
  }
  const bool both_write = is_write(now.kind) && other_writes && !is_atomic(now.kind);
  const char *const address = reinterpret_cast<const char *>(now.region.base + now.offset);
  // The other cells of an access whose first one waits: its bytes are compared as a whole.
  if (both_write && pending.waits && pending.address == address && pending.bytes == now.size) return;
  if (both_write && now.after != nullptr) {
    if (now.told) return;
    now.told = true;
    if (__builtin_memcmp(address, now.after, now.size) == 0) make_same_value(report);
    add_report(report);
    return;
  }
  if (both_write && now.size <= sizeof pending.before && !pending.waits) {
    pending.waits = true;
    pending.report = report;
    pending.address = address;
    pending.bytes = now.size;
    __builtin_memcpy(pending.before, pending.address, now.size);
    lockstep_check_waits = true;
    return;
  }
  add_report(report);
}

/** Gives a region cells of `1 << shift` bytes; what is known of a cell holds for each of its parts. */
__attribute__((noinline, cold)) void split_cells(lockstep_region &region, uint32_t shift) {
  const uint32_t by = region.shift - shift;
  for (uint64_t i = region.touched; i > 0; --i) {
    const lockstep_cell cell = region.cells[i - 1];
    for (uint64_t j = uint64_t{1} << by; j > 0; --j) region.cells[((i - 1) << by) + j - 1] = cell;
  }
  region.touched <<= by;
  region.shift = static_cast<uint8_t>(shift);
}

/**
 * True for an atomic over a plain write that nothing has ordered yet: the plain one stays, because atomics of other threads
 * are in conflict with it and not with the atomic. `first` to `first_own` are the epochs of other threadgroups.
 */
template <Access kind> inline __attribute__((always_inline)) bool hides_plain(const lockstep_stamp &before, const lockstep_stamp &own,
                                                                              uint32_t first, uint32_t first_own) {
  if constexpr (!is_atomic(kind)) return false;
  if ((before.lane & LOCKSTEP_STAMP_ATOMIC) != 0) return false;
  if (before.epoch != own.epoch) return before.epoch >= first && before.epoch < first_own;
  const uint32_t simdgroup = (own.lane & LOCKSTEP_STAMP_THREAD) / LOCKSTEP_SIMD_WIDTH;
  return before.lane / LOCKSTEP_SIMD_WIDTH != simdgroup || before.tick == own.tick;
}

template <Access kind> inline __attribute__((always_inline)) void note_threadgroup(lockstep_region &region, lockstep_cell *begin,
                                                                                   lockstep_cell *end, const lockstep_stamp &own,
                                                                                   const Conflict &now) {
  const uint32_t epoch = own.epoch;
  /** An access counts once, however many cells it covers. */
  [[maybe_unused]] bool told = false;
  /** Cells from here on hold nothing but a fourth component. */
  [[maybe_unused]] const lockstep_cell *const padding =
      now.size >= 8 ? begin + ((now.size * 3 / 4 + (1u << region.shift) - 1) >> region.shift) : end;
  for (lockstep_cell *cell = begin; cell < end; ++cell) {
    if constexpr (takes_value(kind)) {
      // Of three components the compiler reads four.
      if (__builtin_expect(cell->write.epoch < check_state.first_threadgroup_epoch && !told, 0) && cell < padding) {
        add_report(report_of(LOCKSTEP_UNINITIALIZED_THREADGROUP, &region, static_cast<int64_t>(now.offset), now.size, now.site,
                             access_name(kind)));
        told = true;
      }
    }
    if constexpr (is_read(kind)) {
      if (__builtin_expect(cell->write.epoch == epoch && cell->write.lane != own.lane, 0)) examine(now, cell->write, true);
      keep_reader(cell, own);
    } else {
      if (__builtin_expect(cell->write.epoch == epoch && cell->write.lane != own.lane, 0)) examine(now, cell->write, true);
      if (__builtin_expect(cell->read[0].epoch == epoch, 0)) {
        if (cell->read[0].lane != own.lane) examine(now, cell->read[0], false);
        if (cell->read[1].epoch == epoch && cell->read[1].lane != own.lane) examine(now, cell->read[1], false);
      }
      if (!hides_plain<kind>(cell->write, own, 0, 0)) cell->write = own;
    }
  }
}

/** True if the stamp is of the thread that runs now. */
inline bool is_own(const lockstep_stamp &stamp, const lockstep_stamp &own) {
  return stamp.epoch >= check_state.first_own_device_epoch && ((stamp.lane ^ own.lane) & LOCKSTEP_STAMP_THREAD) == 0;
}

template <Access kind> inline __attribute__((always_inline)) void note_device(lockstep_cell *begin, lockstep_cell *end,
                                                                              const lockstep_stamp &own, const Conflict &now) {
  const uint32_t first = check_state.first_device_epoch;
  const uint32_t first_own = check_state.first_own_device_epoch;
  for (lockstep_cell *cell = begin; cell < end; ++cell) {
    if (__builtin_expect(cell->write.epoch >= first && !is_own(cell->write, own), 0)) examine(now, cell->write, true);
    if constexpr (is_read(kind)) {
      if (cell->read[0].epoch < first) {
        cell->read[0] = own;
        cell->read[1].epoch = 0;
      } else if (is_own(cell->read[0], own)) {
        cell->read[0] = own;
      } else if (cell->read[0].epoch < first_own) {
        // Readers of two threadgroups are kept if there are any: a write by anyone is in conflict with one of them.
        cell->read[1] = own;
      } else {
        const bool keep = cell->read[1].epoch >= first && cell->read[1].epoch < first_own;
        if (!keep) cell->read[1] = cell->read[0];
        cell->read[0] = own;
      }
    } else {
      if (__builtin_expect(cell->read[0].epoch >= first, 0)) {
        if (!is_own(cell->read[0], own)) examine(now, cell->read[0], false);
        if (cell->read[1].epoch >= first && !is_own(cell->read[1], own)) examine(now, cell->read[1], false);
      }
      if (!hides_plain<kind>(cell->write, own, first, first_own)) cell->write = own;
    }
  }
}

inline void set_bits(uint8_t *map, uint64_t offset, uint32_t size) {
  uint32_t mask;
  const uint8_t *word;
  const uint32_t bits = map_bits(map, offset, size, mask, word) | mask;
  __builtin_memcpy(const_cast<uint8_t *>(word), &bits, sizeof bits);
}

/** The last writer of what an access covers, another thread than the one that runs now if there was one; null if not known. */
const lockstep_stamp *writer_before(const lockstep_region &region, const Conflict &now) {
  if (region.cells == nullptr) return nullptr;
  const lockstep_stamp own{0, 0, 0, lockstep_current->flat};
  const lockstep_stamp *known = nullptr;
  for (uint64_t i = now.offset >> region.shift; i <= (now.offset + now.size - 1) >> region.shift; ++i) {
    const lockstep_stamp &before = region.cells[i].write;
    if (before.epoch == 0) continue;
    if (!is_own(before, own)) return &before;
    known = &before;
  }
  return known;
}

/** A thread may write its own element again, and atomics share one on purpose. */
__attribute__((noinline)) void note_output(lockstep_region &region, const Conflict &now) {
  uint32_t mask;
  const uint8_t *word;
  if (!is_atomic(now.kind) && (map_bits(region.written, now.offset, now.size, mask, word) & mask) != 0) {
    lockstep_report report =
        report_of(LOCKSTEP_WRITTEN_TWICE, &region, static_cast<int64_t>(now.offset), now.size, now.site, access_name(now.kind));
    if (const lockstep_stamp *const before = writer_before(region, now); before != nullptr) {
      report.detail = is_own(*before, {0, 0, 0, lockstep_current->flat}) ? 1 : 0;
      report.has_second = 1;
      report.second = stamped_side(*before, LOCKSTEP_ACCESS_WRITE, true);
    }
    add_report(report);
  }
  set_bits(region.written, now.offset, now.size);
}

/** An access that does not lie in its object as a whole. Returns false if it must not happen. */
__attribute__((noinline, cold)) bool outside(const lockstep_region &region, int64_t offset, uint32_t size, uint32_t site, Access kind) {
  add_report(report_of(LOCKSTEP_OUT_OF_BOUNDS, &region, offset, size, site, access_name(kind)));
  lockstep_check &shared = *check_state.shared;
  if (region.space == LOCKSTEP_SPACE_STATIC) {
    return offset >= 0 && offset + static_cast<int64_t>(size) <= static_cast<int64_t>(region.bytes + uint64_t{LOCKSTEP_STATIC_GUARD_BYTES});
  }
  return shared.open_pages(shared.host, region.base + static_cast<uintptr_t>(offset), size) != 0;
}

/** A read of local memory that holds what variables start with. The fourth word may be the padding of three elements. */
inline void look_at_stack(uintptr_t at, uint32_t size, uint32_t site) {
  for (uint32_t i = 0; i < size && i < 12; i += 4) {
    uint32_t word;
    __builtin_memcpy(&word, reinterpret_cast<const void *>(at + i), sizeof word);
    if (__builtin_expect(word != kIntegerPattern && word != kFloatPattern, 1)) continue;
    lockstep_report report = report_of(LOCKSTEP_UNINITIALIZED_STACK, nullptr, 0, size, site, LOCKSTEP_ACCESS_READ);
    report.space = LOCKSTEP_SPACE_STACK;
    report.detail = word == kFloatPattern ? 1 : 0;
    add_report(report);
    return;
  }
}

/** What lies in no region: the module's own data, the launch, or nothing that a kernel may touch. */
__attribute__((noinline)) void elsewhere(uintptr_t at, uint32_t size, Access kind, uint32_t site) {
  const lockstep_check &shared = *check_state.shared;
  const lockstep_region &fixed = shared.regions[kStaticRegion];
  if (at - fixed.base < fixed.bytes + uint64_t{LOCKSTEP_STATIC_GUARD_BYTES}) {
    if (!outside(fixed, static_cast<int64_t>(at - fixed.base), size, site, kind)) abandon();
    return;
  }
  if (at - reinterpret_cast<uintptr_t>(lockstep_image_start) < lockstep_check_image_bytes()) return;
  if (at - reinterpret_cast<uintptr_t>(lockstep_threadgroup.launch) < sizeof(lockstep_launch)) return;
  lockstep_report report = report_of(LOCKSTEP_OUT_OF_BOUNDS, nullptr, 0, size, site, access_name(kind));
  report.detail = 1;
  report.values[0] = at;
  add_report(report);
  abandon();
}

template <Access kind> inline __attribute__((always_inline)) void look_at(uintptr_t at, uint32_t size, bool aligned, uint32_t site,
                                                                          const void *return_address, const MatrixElements *matrix) {
  CheckState &state = check_state;
  constexpr bool writes = is_write(kind);
  constexpr bool atomic = is_atomic(kind);
  lockstep_check &shared = *state.shared;
  uint32_t index = state.classes[at >> LOCKSTEP_PIECE_SHIFT & (LOCKSTEP_PIECES - 1)];
  if (index < LOCKSTEP_CLASS_REGION) {
    const lockstep_region &fixed = shared.regions[kStaticRegion];
    if (at - fixed.base < fixed.bytes) {
      index = kStaticRegion;
    } else if (index == LOCKSTEP_CLASS_STACK) {
      if (!writes && size >= 4) look_at_stack(at, size, site);
      return;
    } else {
      elsewhere(at, size, kind, site);
      return;
    }
  }
  lockstep_region &region = shared.regions[index];
  const uint64_t offset = at - region.base;
  if (__builtin_expect(offset >= region.bytes || size > region.bytes - offset, 0)) {
    if (!outside(region, static_cast<int64_t>(offset), size, site, kind)) abandon();
    return;
  }
  if (aligned && __builtin_expect((at & (size - 1)) != 0, 0)) {
    add_report(report_of(LOCKSTEP_MISALIGNED, &region, static_cast<int64_t>(offset), size, site, access_name(kind)));
    // The processor faults on aligned accesses of 16 bytes.
    if (size >= 16) abandon();
  }
  const Lane &lane = *lockstep_current;
  note_traffic(index, static_cast<uint32_t>(at), size, writes, lane, site, return_address, matrix);
  const void *const after = matrix == nullptr ? nullptr : matrix->after;
  const Conflict now{region, offset, size, kind, site, after};
  if (region.valid != nullptr) {
    uint32_t mask;
    const uint8_t *word;
    const uint32_t bits = map_bits(region.valid, offset, size, mask, word);
    if ((bits & mask) != mask) {
      // Of three components the compiler reads four.
      const uint32_t meant = size >= 8 ? mask & ~(mask << (size * 3 / 4)) : mask;
      if (takes_value(kind) && (bits & meant) != meant) {
        add_report(report_of(LOCKSTEP_UNINITIALIZED_DEVICE, &region, static_cast<int64_t>(offset), size, site, access_name(kind)));
      }
      if (writes) set_bits(region.valid, offset, size);
    }
  }
  if constexpr (writes) {
    if (__builtin_expect(region.read_only, 0)) {
      add_report(report_of(LOCKSTEP_READ_ONLY_WRITE, &region, static_cast<int64_t>(offset), size, site, access_name(kind)));
    }
    if (__builtin_expect(region.is_output, 0)) note_output(region, now);
    if (__builtin_expect(state.watches, 0)) watch_write(reinterpret_cast<const void *>(at), size, site, &region, after);
  }
  if (region.cells == nullptr) return;
  const uint32_t finest = static_cast<uint32_t>(__builtin_ctzll(offset | size | 16));
  if (__builtin_expect(finest < region.shift, 0)) split_cells(region, finest);
  lockstep_cell *const begin = region.cells + (offset >> region.shift);
  lockstep_cell *const end = region.cells + ((offset + size) >> region.shift);
  const uint64_t reach = static_cast<uint64_t>(end - region.cells);
  if (reach > region.touched) region.touched = reach;
  const uint32_t tick = simdgroup_orders[lane.simdgroup->index].tick;
  const uint32_t name = lane.flat | (atomic ? uint32_t{LOCKSTEP_STAMP_ATOMIC} : 0);
  if (in_threadgroup_space(region)) {
    note_threadgroup<kind>(region, begin, end, {state.threadgroup_epoch, tick, site, name}, now);
  } else {
    note_device<kind>(begin, end, {state.device_epoch, tick, site, name}, now);
  }
}

/** Whatever is not the common access. */
template <Access kind> __attribute__((noinline)) void whole_look(const void *address, size_t size, bool aligned, const void *site,
                                                                 const MatrixElements *matrix) {
  LOCKSTEP_CHECK_LEAVES();
  if (lockstep_current == nullptr || size == 0) return;
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (size <= 16) {
    look_at<kind>(at, static_cast<uint32_t>(size), aligned, lockstep::site_of(site), site, matrix);
    return;
  }
  // A copy of a structure, in pieces.
  for (size_t done = 0; done < size; done += 16) {
    LOCKSTEP_CHECK_LEAVES();
    const size_t rest = size - done;
    look_at<kind>(at + done, static_cast<uint32_t>(rest < 16 ? rest : 16), false, lockstep::site_of(site), site, nullptr);
  }
}

/** True if an access of `size` bytes can be made; opens the guard pages that it lies in. */
bool is_reachable(uintptr_t at, uint32_t size) {
  lockstep_check &shared = *check_state.shared;
  const uint32_t index = check_state.classes[at >> LOCKSTEP_PIECE_SHIFT & (LOCKSTEP_PIECES - 1)];
  const lockstep_region &fixed = shared.regions[kStaticRegion];
  if (at - fixed.base < fixed.bytes + uint64_t{LOCKSTEP_STATIC_GUARD_BYTES}) return true;
  if (index < LOCKSTEP_CLASS_REGION) return index == LOCKSTEP_CLASS_STACK;
  const lockstep_region &region = shared.regions[index];
  const uint64_t offset = at - region.base;
  return (offset < region.bytes && size <= region.bytes - offset) || shared.open_pages(shared.host, at, size) != 0;
}

/** Makes the rows of a matrix accessible, or reports the first that cannot be and ends the threadgroup. */
void make_reachable(uintptr_t first, unsigned long stride, uint32_t row_bytes, bool writes, const void *site) {
  const uint32_t index = check_state.classes[first >> LOCKSTEP_PIECE_SHIFT & (LOCKSTEP_PIECES - 1)];
  if (__builtin_expect(index >= LOCKSTEP_CLASS_REGION, 1)) {
    const lockstep_region &region = check_state.shared->regions[index];
    const uint64_t offset = first - region.base;
    if (__builtin_expect(offset + 7 * stride + row_bytes <= region.bytes && offset < region.bytes && 7 * stride < region.bytes, 1)) return;
  }
  for (uint32_t row = 0; row < 8; ++row) {
    const uintptr_t at = first + row * stride;
    if (is_reachable(at, row_bytes)) continue;
    lockstep_report report = report_of(LOCKSTEP_OUT_OF_BOUNDS, nullptr, 0, row_bytes, site_of(site),
                                       writes ? LOCKSTEP_ACCESS_WRITE : LOCKSTEP_ACCESS_READ);
    report.detail = 1;
    report.values[0] = at;
    add_report(report);
    abandon();
  }
}

template <Access kind> inline __attribute__((always_inline)) void on_access(const void *address, size_t size, bool aligned,
                                                                            const void *site, const MatrixElements *matrix = nullptr) {
#if LOCKSTEP_MEETS
  LOCKSTEP_CHECK_LEAVES();
  if (lockstep_current != nullptr && in_threadgroup_memory(address)) rendezvous(site, AccessToComplete{});
#endif
  if constexpr (kind == Access::read || kind == Access::write) {
    const Lane *const lane = lockstep_current;
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (__builtin_expect(!lockstep_check_waits && lane != nullptr && size - 1 < 16, 1)) {
      if (__builtin_expect(quick_look<kind>(at, static_cast<uint32_t>(size), aligned, lockstep::site_of(site), *lane, matrix), 1)) return;
    }
  }
  whole_look<kind>(address, size, aligned, site, matrix);
}

} // namespace

} // namespace lockstep

extern "C" {

uint64_t lockstep_check_image_bytes() {
#if defined(__APPLE__)
  // More than any kernel has.
  return uint64_t{4} << 20;
#else
  return static_cast<uint64_t>(_end - lockstep::lockstep_image_start);
#endif
}

void lockstep_check_settle() {
  lockstep::PendingWrite &write = lockstep::pending;
  lockstep_check_waits = false;
  lockstep::settle_arithmetic();
  if (!write.waits) return;
  write.waits = false;
  if (__builtin_memcmp(write.before, write.address, write.bytes) == 0) lockstep::make_same_value(write.report);
  lockstep::add_report(write.report);
}

LOCKSTEP_HIDDEN void lockstep_matrix_access(const void *address, unsigned long stride, unsigned bytes, int transposed, int writes,
                                            const void *site, const void *after) {
  const uint32_t lane = lockstep::lockstep_current->index;
  const unsigned long row = lockstep::matrix_row(lane);
  const unsigned long column = lockstep::matrix_column(lane);
  const char *first = static_cast<const char *>(address) + (transposed ? column * stride + row * bytes : row * stride + column * bytes);
  const char *value = after == nullptr ? nullptr : static_cast<const char *>(after) + (row * 8 + column) * bytes;
  const int pieces = transposed ? 2 : 1;
  const size_t size = transposed ? bytes : 2 * bytes;
  const auto step = static_cast<uint32_t>(stride);
  lockstep::MatrixElements elements{static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)), transposed ? bytes : step,
                                    transposed ? step : bytes, value};
  for (int i = 0; i < pieces; ++i, first += stride) {
    if (writes) {
      lockstep::on_access<lockstep::Access::write>(first, size, false, site, &elements);
    } else {
      lockstep::on_access<lockstep::Access::read>(first, size, false, site, &elements);
    }
    elements.base += step;
    if (value != nullptr) elements.after = value + bytes;
  }
  // The leader's access is that of all lanes: what they will report must not fault before they do.
  if (lane == 0) lockstep::make_reachable(reinterpret_cast<uintptr_t>(address), stride, 8 * bytes, writes != 0, site);
}

} // extern "C"

using lockstep::on_access;
LOCKSTEP_DEFINE_CALLBACKS()
