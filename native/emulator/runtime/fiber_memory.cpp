#include "fiber_memory.h"

namespace lockstep {

namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
/** Room on both sides of a region, so that a wrong index in threadgroup memory is caught and named. */
constexpr std::size_t kArenaGuard = std::size_t{16} << 20;

/** Around the stacks as a whole, so that no other object shares a piece of the address space with them. */
constexpr std::size_t kStacksGuard = std::size_t{16} << 20;

std::size_t stride() { return kStackBytes + page_bytes(); }

} // namespace

FiberStacks::FiberStacks() : reservation_(kStacksGuard + stride() * LOCKSTEP_MAX_THREADS + kStacksGuard) {}

bool FiberStacks::provide(std::uint32_t threads) {
  if (!reservation_.valid()) return false;
  while (guarded_ && provided_ < threads) {
    if (reservation_.open(kStacksGuard + provided_ * stride() + page_bytes(), kStackBytes)) {
      ++provided_;
    } else {
      guarded_ = false;
    }
  }
  if (provided_ >= threads) return true;
  if (!reservation_.open(kStacksGuard + provided_ * stride(), (LOCKSTEP_MAX_THREADS - provided_) * stride())) return false;
  provided_ = LOCKSTEP_MAX_THREADS;
  return true;
}

lockstep_stacks FiberStacks::view() const {
  return {reservation_.base() + kStacksGuard, stride(), kStackBytes, LOCKSTEP_MAX_THREADS};
}

std::int32_t FiberStacks::overflowed(const void *address) const {
  if (!reservation_.valid() || !reservation_.contains(address)) return -1;
  const auto offset = static_cast<std::size_t>(static_cast<const char *>(address) - reservation_.base()) - kStacksGuard;
  if (offset >= stride() * LOCKSTEP_MAX_THREADS) return -1;
  return offset % stride() < page_bytes() ? static_cast<std::int32_t>(offset / stride()) : -1;
}

char *ThreadgroupArena::region(std::uint32_t index, std::size_t bytes) {
  const std::size_t units = (bytes + 15) / 16 * 16;
  if (index >= slots_.size() || units > kMaxBytes) return nullptr;
  Slot &slot = slots_[index];
  if (slot.end == nullptr) {
    Reservation reservation(kArenaGuard + kMaxBytes + kArenaGuard);
    if (!reservation.valid() || !reservation.open(kArenaGuard, kMaxBytes)) return nullptr;
    slot.end = reservation.base() + kArenaGuard + kMaxBytes;
    slot.reservation = static_cast<Reservation &&>(reservation);
  }
  return slot.end - units;
}

std::int32_t ThreadgroupArena::index_of(const void *address) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].end != nullptr && slots_[i].reservation.contains(address)) return static_cast<std::int32_t>(i);
  }
  return -1;
}

} // namespace lockstep
