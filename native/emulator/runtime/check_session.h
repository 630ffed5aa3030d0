/** The shadow of a submission in check flavours: which memory there is, what is known of it, what was reported. */
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "check.h"
#include "emulator.h"
#include "fiber_memory.h"
#include "guarded_pages.h"
#include "launch_plan.h"

namespace lockstep {

/** Counts of one line and region, with the names that the client knows them by. */
struct TrafficRow {
  std::uint32_t dispatch;
  std::uint32_t site;
  bool writes;
  lockstep_space space;
  std::uint32_t index;
  std::uint64_t bytes;
  std::uint32_t size;
  std::uint64_t accesses;
  std::uint64_t simd_accesses;
  std::uint64_t requested;
  std::uint64_t distinct;
  std::uint64_t units;
  std::uint64_t ideal;
  std::uint32_t worst;
};

class CheckSession {
public:
  CheckSession();
  /** Empty, or why the shadow cannot be had. */
  const std::string &error() const { return error_; }

  /** Takes stock of the buffers of a submission before it runs. */
  void begin(const std::vector<LaunchPlan> &plans, const std::vector<const MappedBuffer *> &outputs, bool concurrent);
  /** Looks for what was not written by a whole run, and forgets the shadow. What was seen stays until the next `begin`. */
  void end(bool whole);

  /** Lays out the memory of a dispatch; called by its worker before the first threadgroup. */
  void enter(const LaunchPlan &plan, std::uint32_t dispatch, const lockstep_launch &launch, const lockstep_module_info &info,
             const ThreadgroupArena &arena);
  /** Undoes `enter`: takes the counts, closes pages that were opened, restores what lies around buffers. */
  void leave();

  lockstep_check *shared() { return shared_; }
  /** Writes what was seen as JSON lines; `reports_alone` allocates nothing and takes no lock. */
  void write(std::uint64_t run, bool reports_alone, lockstep_line line, void *user) const;

private:
  struct Shadow {
    Reservation cells;
    std::uint64_t touched = 0;
    std::uint8_t shift = 4;
    std::vector<std::uint8_t> valid;
    std::vector<std::uint8_t> written;
    bool writable = false;
  };
  struct Saved {
    char *at;
    std::vector<char> bytes;
  };
  struct Guarded {
    const Reservation *reservation;
    char *open;
    std::size_t open_bytes;
  };

  lockstep_region *add_region(lockstep_space space, std::uint32_t index, char *base, std::uint64_t bytes,
                              const Reservation *reservation, char *open, std::size_t open_bytes);
  void set_class(const char *begin, std::size_t bytes, std::uint8_t value);
  int open_pages(std::uintptr_t address, std::size_t bytes);
  void take_rows();

  std::string error_;
  Reservation memory_;
  Reservation classes_;
  Reservation marks_;
  Reservation sites_;
  Reservation site_of_;
  Reservation room_;
  /** Cells of threadgroup memory, by region: reused from dispatch to dispatch. */
  std::map<std::uint32_t, Reservation> threadgroup_cells_;
  lockstep_check *shared_ = nullptr;
  bool concurrent_ = false;
  std::unordered_map<const MappedBuffer *, std::unique_ptr<Shadow>> shadows_;
  std::vector<const MappedBuffer *> outputs_;
  std::unordered_map<const MappedBuffer *, std::pair<std::uint32_t, std::uint32_t>> output_bindings_;

  std::vector<std::pair<std::size_t, std::size_t>> classed_;
  std::vector<const MappedBuffer *> region_buffers_;
  std::vector<Guarded> guarded_;
  std::vector<Saved> saved_;
  std::vector<std::pair<char *, std::size_t>> opened_;
  std::uint32_t region_count_ = 0;
  mutable std::mutex rows_mutex_;
  std::vector<TrafficRow> rows_;
};

} // namespace lockstep
