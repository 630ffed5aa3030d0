#include "check_session.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "check_lines.h"

namespace lockstep {

namespace {

constexpr std::uint64_t kMarks = std::uint64_t{1} << 24;
constexpr std::uint64_t kRoomBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kSiteEntries = std::uint64_t{1} << 25;
/** Pages outside of objects that a dispatch may touch before a threadgroup is ended for it. */
constexpr std::size_t kMostOpened = 4096;

bool is_poison(const char *at) {
  std::uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word == LOCKSTEP_POISON_WORD;
}

/** A bit for each byte that is not poison; empty if none is. Room behind for reads of a whole word. */
std::vector<std::uint8_t> valid_bytes(const char *data, std::uint64_t bytes) {
  const std::uint64_t words = bytes / 4;
  std::uint64_t first = 0;
  while (first < words && !is_poison(data + 4 * first)) ++first;
  const std::uint32_t poison = LOCKSTEP_POISON_WORD;
  const bool poisoned_tail = bytes % 4 != 0 && std::memcmp(data + 4 * words, &poison, bytes % 4) == 0;
  if (first == words && !poisoned_tail) return {};
  std::vector<std::uint8_t> valid((bytes + 7) / 8 + 8, 0xff);
  const auto clear = [&](std::uint64_t at, std::uint64_t count) {
    for (std::uint64_t i = at; i < at + count; ++i) valid[i / 8] = static_cast<std::uint8_t>(valid[i / 8] & ~(1u << i % 8));
  };
  for (std::uint64_t i = first; i < words; ++i) {
    if (is_poison(data + 4 * i)) valid[i / 2] = static_cast<std::uint8_t>(valid[i / 2] & ~(0xfu << (i % 2 * 4)));
  }
  if (poisoned_tail) clear(4 * words, bytes % 4);
  return valid;
}

Reservation opened(std::size_t bytes) {
  Reservation reservation(bytes);
  if (reservation.valid() && !reservation.open(0, bytes)) return {};
  return reservation;
}

} // namespace

CheckSession::CheckSession()
    : memory_(opened(round_to_pages(sizeof(lockstep_check)))), classes_(opened(LOCKSTEP_PIECES)),
      marks_(opened(kMarks * sizeof(lockstep_threadgroup_mark))), sites_(opened(LOCKSTEP_CHECK_SITES * sizeof(lockstep_site))),
      site_of_(opened(kSiteEntries * sizeof(std::uint16_t))), room_(opened(kRoomBytes)) {
  for (const Reservation *one : {&memory_, &classes_, &marks_, &sites_, &site_of_, &room_}) {
    if (!one->valid()) {
      error_ = "There is no address space for the shadow memory of the check flavours.";
      return;
    }
  }
  shared_ = reinterpret_cast<lockstep_check *>(memory_.base());
  shared_->classes = reinterpret_cast<std::uint8_t *>(classes_.base());
  shared_->marks = reinterpret_cast<lockstep_threadgroup_mark *>(marks_.base());
  shared_->mark_capacity = kMarks;
  shared_->sites = reinterpret_cast<lockstep_site *>(sites_.base());
  shared_->site_of = reinterpret_cast<std::uint16_t *>(site_of_.base());
  shared_->site_count = 1;
  shared_->room = room_.base();
  shared_->room_bytes = kRoomBytes;
  shared_->host = this;
  shared_->open_pages = [](void *host, std::uintptr_t address, std::size_t bytes) {
    return static_cast<CheckSession *>(host)->open_pages(address, bytes);
  };
}

void CheckSession::begin(const std::vector<LaunchPlan> &plans, const std::vector<const MappedBuffer *> &outputs, bool concurrent) {
  concurrent_ = concurrent;
  outputs_ = outputs;
  output_bindings_.clear();
  shadows_.clear();
  shared_->report_count = 0;
  shared_->dropped = 0;
  shared_->sites_lost = 0;
  shared_->mark_count = 0;
  // Cells of earlier submissions are gone; epochs go on, so that threadgroup memory needs no clearing.
  shared_->first_device_epoch = shared_->device_epoch + 1;
  {
    const std::lock_guard lock(rows_mutex_);
    rows_.clear();
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (std::uint32_t slot = 0; slot < LOCKSTEP_BUFFER_SLOTS; ++slot) {
      const MappedBuffer *buffer = plans[i].buffers[slot];
      if (buffer == nullptr) continue;
      auto &shadow = shadows_[buffer];
      if (shadow == nullptr) {
        shadow = std::make_unique<Shadow>();
        shadow->valid = valid_bytes(buffer->data(), buffer->bytes());
      }
      shadow->writable = shadow->writable || !plans[i].read_only[slot];
      if (!plans[i].read_only[slot]) output_bindings_[buffer] = {static_cast<std::uint32_t>(i), slot};
    }
  }
  for (const MappedBuffer *buffer : outputs) {
    const auto shadow = shadows_.find(buffer);
    if (shadow != shadows_.end()) shadow->second->written.assign((buffer->bytes() + 7) / 8 + 8, 0);
  }
}

void CheckSession::end(bool whole) {
  if (!whole) outputs_.clear();
  for (const MappedBuffer *buffer : outputs_) {
    const auto shadow = shadows_.find(buffer);
    if (shadow == shadows_.end()) continue;
    std::uint64_t missing = 0;
    std::uint64_t first = 0;
    for (std::uint64_t i = 0; i < buffer->bytes(); ++i) {
      if ((shadow->second->written[i / 8] >> i % 8 & 1u) != 0) continue;
      if (missing++ == 0) first = i;
    }
    if (missing == 0 || shared_->report_count == LOCKSTEP_CHECK_REPORTS) continue;
    lockstep_report &report = shared_->reports[shared_->report_count];
    report = {};
    report.kind = LOCKSTEP_UNWRITTEN_OUTPUT;
    report.space = LOCKSTEP_SPACE_BUFFER;
    const auto binding = output_bindings_.find(buffer);
    if (binding != output_bindings_.end()) {
      report.first.dispatch = binding->second.first;
      report.index = binding->second.second;
    }
    report.bytes = buffer->bytes();
    report.offset = static_cast<std::int64_t>(first);
    report.size = 1;
    report.count = missing;
    __atomic_store_n(&shared_->report_count, shared_->report_count + 1, __ATOMIC_RELEASE);
  }
  shadows_.clear();
  outputs_.clear();
}

void CheckSession::set_class(const char *begin, std::size_t bytes, std::uint8_t value) {
  const std::size_t first = reinterpret_cast<std::uintptr_t>(begin) >> LOCKSTEP_PIECE_SHIFT & (LOCKSTEP_PIECES - 1);
  const std::size_t last = (reinterpret_cast<std::uintptr_t>(begin) + bytes - 1) >> LOCKSTEP_PIECE_SHIFT & (LOCKSTEP_PIECES - 1);
  if (last < first) return;
  std::memset(shared_->classes + first, value, last - first + 1);
  classed_.emplace_back(first, last - first + 1);
}

lockstep_region *CheckSession::add_region(lockstep_space space, std::uint32_t index, char *base, std::uint64_t bytes,
                                          const Reservation *reservation, char *open, std::size_t open_bytes) {
  if (region_count_ == LOCKSTEP_CHECK_REGIONS) return nullptr;
  lockstep_region &region = shared_->regions[region_count_];
  region = {};
  region.base = reinterpret_cast<std::uintptr_t>(base);
  region.bytes = bytes;
  region.space = space;
  region.index = index;
  region.shift = 4;
  if (reservation != nullptr) {
    // The outer pieces may be shared with what lies beside the reservation; the object and a wide margin are not.
    const std::size_t piece = std::size_t{1} << LOCKSTEP_PIECE_SHIFT;
    char *const begin = reservation->base() + std::min(piece, static_cast<std::size_t>(base - reservation->base()));
    char *const end = std::max(base + bytes, reservation->base() + reservation->bytes() - piece);
    set_class(begin, static_cast<std::size_t>(end - begin), static_cast<std::uint8_t>(region_count_));
    guarded_.push_back({reservation, open, open_bytes});
  }
  ++region_count_;
  return &region;
}

void CheckSession::enter(const LaunchPlan &plan, std::uint32_t dispatch, const lockstep_launch &launch,
                         const lockstep_module_info &info, const ThreadgroupArena &arena) {
  lockstep_check &shared = *shared_;
  shared.dispatch = dispatch;
  shared.fast_math = plan.fast_math ? 1 : 0;
  if (!concurrent_) shared.first_device_epoch = shared.device_epoch + 1;
  shared.site_of_count = std::min<std::uint64_t>(kSiteEntries, 2 * info.image_bytes);
  region_count_ = LOCKSTEP_CLASS_REGION;
  region_buffers_.assign(LOCKSTEP_CHECK_REGIONS, nullptr);
  const auto give_cells = [&](lockstep_region *region, Reservation &cells, std::uint64_t bytes) {
    const std::size_t needed = round_to_pages((bytes + 16) * sizeof(lockstep_cell));
    if (!cells.valid() || cells.bytes() < needed) cells = opened(needed);
    if (cells.valid()) region->cells = reinterpret_cast<lockstep_cell *>(cells.base());
  };
  // Cells of threadgroup memory are not cleared: epochs rise for ever, so what an earlier dispatch left in them is old.
  const auto give_threadgroup_cells = [&](lockstep_region *region, std::uint32_t key) {
    give_cells(region, threadgroup_cells_[key], region->bytes);
  };
  lockstep_region *fixed =
      add_region(LOCKSTEP_SPACE_STATIC, 0, info.static_threadgroup_memory, info.static_threadgroup_bytes, nullptr, nullptr, 0);
  if (fixed->bytes != 0) give_threadgroup_cells(fixed, LOCKSTEP_THREADGROUP_SLOTS);
  set_class(launch.stacks.base, launch.stacks.stride * launch.stacks.count, LOCKSTEP_CLASS_STACK);
  for (std::uint32_t i = 0; i < LOCKSTEP_THREADGROUP_SLOTS; ++i) {
    if (launch.threadgroup_bytes[i] == 0) continue;
    char *const begin = launch.threadgroup_memory[i];
    const std::size_t units = (launch.threadgroup_bytes[i] + 15) / 16 * 16;
    char *const open = begin + units - ThreadgroupArena::kMaxBytes;
    lockstep_region *region = add_region(LOCKSTEP_SPACE_DYNAMIC, i, begin, launch.threadgroup_bytes[i], &arena.reservation_of(i), open,
                                         ThreadgroupArena::kMaxBytes);
    if (region != nullptr) give_threadgroup_cells(region, i);
  }
  for (std::uint32_t i = 0; i < LOCKSTEP_BUFFER_SLOTS; ++i) {
    if (const InlineBytes *bytes = plan.inlines[i]; bytes != nullptr) {
      lockstep_region *region = add_region(LOCKSTEP_SPACE_BYTES, i, bytes->data, bytes->bytes, &bytes->reservation,
                                           bytes->data + (bytes->bytes + 15) / 16 * 16 - bytes->capacity, bytes->capacity);
      if (region != nullptr) region->read_only = plan.read_only[i] ? 1 : 0;
    }
    const MappedBuffer *buffer = plan.buffers[i];
    if (buffer == nullptr) continue;
    const auto same = std::find(region_buffers_.begin(), region_buffers_.end(), buffer);
    lockstep_region *region;
    if (same != region_buffers_.end()) {
      region = &shared.regions[same - region_buffers_.begin()];
      if (!plan.read_only[i]) region->read_only = 0;
    } else {
      const std::size_t units = (buffer->bytes() + 15) / 16 * 16;
      const auto mapped = static_cast<std::size_t>(buffer->data() - buffer->mapped()) + units;
      region = add_region(LOCKSTEP_SPACE_BUFFER, i, buffer->data(), buffer->bytes(), &buffer->reservation(), buffer->mapped(), mapped);
      if (region == nullptr) continue;
      region_buffers_[static_cast<std::size_t>(region - shared.regions)] = buffer;
      region->read_only = plan.read_only[i] ? 1 : 0;
      // What lies around the buffer in its first and last page is put back when the dispatch has ended.
      saved_.push_back({buffer->mapped(), {buffer->mapped(), buffer->data()}});
      saved_.push_back({buffer->data() + buffer->bytes(), {buffer->data() + buffer->bytes(), buffer->data() + units}});
    }
    Shadow &shadow = *shadows_[buffer];
    if (!shadow.valid.empty()) region->valid = shadow.valid.data();
    if (!shadow.written.empty()) {
      region->is_output = 1;
      region->written = shadow.written.data();
    }
    if (region->cells == nullptr && (!plan.read_only[i] || (concurrent_ && shadow.writable))) {
      give_cells(region, shadow.cells, buffer->bytes());
      region->shift = shadow.shift;
      region->touched = shadow.touched;
    }
  }
}

void CheckSession::take_rows() {
  lockstep_check &shared = *shared_;
  const std::lock_guard lock(rows_mutex_);
  for (std::uint32_t i = 1; i < shared.site_count; ++i) {
    lockstep_site &site = shared.sites[i];
    const lockstep_region &region = shared.regions[site.region];
    rows_.push_back({site.dispatch, site.site, site.writes != 0, region.space, region.index, region.bytes, site.size, site.accesses,
                     site.simd_accesses, site.requested, site.distinct, site.units, site.ideal, site.worst});
    shared.site_of[2 * std::uint64_t{site.site} + site.writes] = 0;
    std::memset(static_cast<void *>(&site), 0, sizeof site);
  }
  shared.site_count = 1;
  shared.room_used = 0;
}

void CheckSession::leave() {
  take_rows();
  for (std::uint32_t i = LOCKSTEP_CLASS_REGION; i < region_count_; ++i) {
    const MappedBuffer *buffer = region_buffers_[i];
    if (buffer == nullptr) continue;
    Shadow &shadow = *shadows_[buffer];
    if (shared_->regions[i].cells == nullptr) continue;
    shadow.shift = shared_->regions[i].shift;
    shadow.touched = shared_->regions[i].touched;
  }
  for (const Saved &saved : saved_) {
    if (!saved.bytes.empty()) std::memcpy(saved.at, saved.bytes.data(), saved.bytes.size());
  }
  saved_.clear();
  for (const auto &[at, bytes] : opened_) {
    mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
  opened_.clear();
  guarded_.clear();
  for (const auto &[first, count] : classed_) std::memset(shared_->classes + first, 0, count);
  classed_.clear();
}

int CheckSession::open_pages(std::uintptr_t address, std::size_t bytes) {
  const std::size_t page = page_bytes();
  for (std::uintptr_t at = address / page * page; at < address + bytes; at += page) {
    char *const here = reinterpret_cast<char *>(at);
    const auto owner = std::find_if(guarded_.begin(), guarded_.end(), [&](const Guarded &one) { return one.reservation->contains(here); });
    if (owner == guarded_.end()) return 0;
    if (static_cast<std::size_t>(here - owner->open) < owner->open_bytes) continue;
    if (std::any_of(opened_.begin(), opened_.end(), [&](const auto &one) { return one.first == here; })) continue;
    if (opened_.size() == kMostOpened || mprotect(here, page, PROT_READ | PROT_WRITE) != 0) return 0;
    const std::uint32_t poison = LOCKSTEP_POISON_WORD;
    for (std::size_t i = 0; i < page; i += sizeof poison) std::memcpy(here + i, &poison, sizeof poison);
    opened_.emplace_back(here, page);
  }
  return 1;
}

void CheckSession::write(std::uint64_t run, bool reports_alone, lockstep_line line, void *user) const {
  if (shared_ == nullptr) return;
  char text[2048];
  const std::uint32_t count = __atomic_load_n(&shared_->report_count, __ATOMIC_ACQUIRE);
  for (std::uint32_t i = 0; i < count; ++i) {
    write_report_line(run, shared_->reports[i], text, sizeof text);
    line(user, text);
  }
  if (!reports_alone) {
    const std::lock_guard lock(rows_mutex_);
    for (const TrafficRow &row : rows_) {
      write_traffic_line(run, row, text, sizeof text);
      line(user, text);
    }
  }
  write_checked_line(run, shared_->dropped, shared_->sites_lost, text, sizeof text);
  line(user, text);
}

} // namespace lockstep
