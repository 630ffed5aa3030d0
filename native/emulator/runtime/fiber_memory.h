/** What one worker's fibers run in: their stacks and the dynamic threadgroup memory. */
#pragma once

#include <array>
#include <cstdint>

#include "guarded_pages.h"
#include "module.h"

namespace lockstep {

/**
 * Stacks of 64 KiB, each with a guard page below. They keep their pages from threadgroup to threadgroup and from run to
 * run. Where the system has no more mappings to give, the remaining stacks share one without guards.
 */
class FiberStacks {
public:
  FiberStacks();
  /** Makes the first `threads` stacks usable. */
  bool provide(std::uint32_t threads);
  lockstep_stacks view() const;
  /** The stack whose guard page holds `address`, or -1. */
  std::int32_t overflowed(const void *address) const;

private:
  Reservation reservation_;
  std::uint32_t provided_ = 0;
  bool guarded_ = true;
};

/** Dynamic threadgroup memory: for each index a region that ends at a guard. */
class ThreadgroupArena {
public:
  /** The most bytes that one index can have; far more than any GPU allows. */
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

  /** The start of a region of `bytes` at `index` whose last 16-byte unit lies before a guard page; null if there is none. */
  char *region(std::uint32_t index, std::size_t bytes);
  /** The index whose region or guards hold `address`, or -1. */
  std::int32_t index_of(const void *address) const;
  /** What a slot reserved around its region: guards and all. */
  const Reservation &reservation_of(std::uint32_t index) const { return slots_[index].reservation; }

private:
  struct Slot {
    Reservation reservation;
    char *end = nullptr;
  };
  std::array<Slot, LOCKSTEP_THREADGROUP_SLOTS> slots_;
};

} // namespace lockstep
