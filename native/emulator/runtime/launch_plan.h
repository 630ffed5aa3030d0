/** A dispatch after every name in it has been resolved: what all workers share while it runs. */
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "guarded_pages.h"
#include "mapped_buffer.h"
#include "module.h"
#include "module_copy.h"

namespace lockstep {

/** Inline bytes of a dispatch, behind which a guard page lies. Reused from run to run. */
struct InlineBytes {
  Reservation reservation;
  std::size_t capacity = 0;
  char *data = nullptr;
  std::size_t bytes = 0;
};

class CheckSession;

struct LaunchPlan {
  std::string label;
  std::uint64_t module = 0;
  const ModuleImage *image = nullptr;
  std::array<std::uint32_t, 3> threadgroups{};
  std::array<std::uint32_t, 3> threads{};
  std::array<void *, LOCKSTEP_BUFFER_SLOTS> addresses{};
  /** What is bound where, for crash reports. */
  std::array<const MappedBuffer *, LOCKSTEP_BUFFER_SLOTS> buffers{};
  std::array<const InlineBytes *, LOCKSTEP_BUFFER_SLOTS> inlines{};
  std::array<std::uint32_t, LOCKSTEP_THREADGROUP_SLOTS> threadgroup_bytes{};
  /** Bound to parameters that are `const` or `constant`. */
  std::array<bool, LOCKSTEP_BUFFER_SLOTS> read_only{};
  bool fast_math = false;
  /** The shadow of the submission, and which dispatch this is; null where nothing is checked. */
  CheckSession *check = nullptr;
  std::uint32_t dispatch = 0;

  std::uint64_t total() const {
    return std::uint64_t{threadgroups[0]} * threadgroups[1] * threadgroups[2];
  }
  std::uint32_t threads_per_threadgroup() const { return threads[0] * threads[1] * threads[2]; }
};

/** The threadgroups of one dispatch, handed out to workers one by one. */
struct ThreadgroupQueue {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  /** The first thing that went wrong, guarded by `mutex`. */
  bool faulted = false;
  bool unavailable = false;
  std::string message;

  void fail(bool is_fault, std::string text) {
    const std::lock_guard lock(mutex);
    if (!faulted && !unavailable) {
      faulted = is_fault;
      unavailable = !is_fault;
      message = static_cast<std::string &&>(text);
    }
    stop = true;
  }
};

} // namespace lockstep
