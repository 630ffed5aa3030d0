/** The parts of the check flavours inside a module: what they know of the threadgroup that runs, and what they call. */
#pragma once

#include "barrier.h"
#include "check.h"
#include "module_memory.h"

namespace lockstep {

enum { LOCKSTEP_TRAFFIC_SLOTS = 256 };

/** The lane's part of an 8x8 matrix in memory, which `row` and `column` bytes take apart. */
struct MatrixElements {
  /** Of the whole matrix, or of its part that the lanes access together. */
  uint32_t base;
  uint32_t row;
  uint32_t column;
  /** What the memory holds after a write; null where it is not known. */
  const void *after;
};

inline uint32_t matrix_row(uint32_t lane) { return ((lane & 6u) >> 1) + ((lane & 16u) >> 2); }
inline uint32_t matrix_column(uint32_t lane) { return ((lane & 1u) << 1) + ((lane & 8u) >> 1); }

/**
 * Executions of a line by a simdgroup whose lanes access addresses at one distance from lane to lane, or their elements of
 * a matrix: what most lines do. Then an address for each execution is enough. Where lanes do otherwise, the slot is given up for a `lockstep_kept`
 * until the lanes are counted.
 */
struct alignas(64) TrafficSlot {
  /** The line (`traffic_line`) whose accesses need no more than a quick look; 0 for none. */
  uint32_t quick;
  /** From lane to lane, modulo 2^32: what the line did before, or the size of the access. In a matrix from row to row. */
  uint32_t stride;
  /** The region's base, and the last offset at which an access lies in the region. */
  uintptr_t low;
  uint64_t span;
  /** As in the region. */
  const uint8_t *valid;
  uint8_t count[LOCKSTEP_SIMD_WIDTH];
  /** Threadgroup memory, which has cells; null for memory that has none. */
  lockstep_region *region;
  /** Of what is kept (`traffic_key`); 0 if nothing is. */
  uint64_t key;
  /** From column to column. */
  uint32_t column;
  /** Index in `sites`. */
  uint16_t entry;
  uint8_t size;
  /** Executions by the lane that has come furthest. */
  uint8_t filled;
  /** Whether the slot was taken since the lanes were counted last, and whether it was given up since. */
  uint8_t taken : 1;
  uint8_t spilled : 1;
  /** How often the lanes did not keep to the distance. */
  uint8_t misses : 2;
  uint8_t is_matrix : 1;
  /** Of lane 0, whether it is there or not. */
  uint32_t base[LOCKSTEP_CHECK_KEPT];
  /** Whose `stride` and `misses` these are. */
  uint64_t last;

  uint32_t offset_of(uint32_t lane) const {
    return is_matrix != 0 ? matrix_row(lane) * stride + matrix_column(lane) * column : lane * stride;
  }
};
static_assert(sizeof(TrafficSlot) == 256);

/** The order that rendezvous of a simdgroup gave to its lanes. Ticks count its rendezvous and never go back. */
struct SimdgroupOrder {
  uint32_t tick;
  /** Tick of the last rendezvous of all live lanes that ordered threadgroup memory, device memory, execution alone. */
  uint32_t full[3];
  /** Tick of the last barrier of the threadgroup that did not order threadgroup, device memory. */
  uint32_t weak[2];
  /** The lanes that the threadgroup began with: one that has returned took part in no rendezvous after that. */
  uint32_t started;
  /** True if some rendezvous had only a part of the lanes: then the pairs count as well. */
  bool partial;
  uint16_t taken_count;
  /** Slots that are taken. */
  uint8_t taken[LOCKSTEP_TRAFFIC_SLOTS];
  uint16_t listed_count;
  uint16_t listed[LOCKSTEP_CHECK_SITES < 512 ? LOCKSTEP_CHECK_SITES : 512];
  TrafficSlot slots[LOCKSTEP_TRAFFIC_SLOTS];
};

enum Order { ORDER_THREADGROUP = 0, ORDER_DEVICE = 1, ORDER_EXECUTION = 2 };

struct CheckState {
  lockstep_check *shared;
  const uint8_t *classes;
  /** Copies of the shared counters while a threadgroup runs. */
  uint32_t threadgroup_epoch;
  uint32_t first_threadgroup_epoch;
  uint32_t device_epoch;
  uint32_t first_own_device_epoch;
  uint32_t first_device_epoch;
  uint32_t threads;
  uint16_t exited_first;
  bool exited;
  /** This threadgroup has passed a fence of device scope. Orders made by fences are not followed, but told apart. */
  bool fenced;
  /** True while stored and exchanged values are looked at. */
  bool watches;
  /** The collective that completed last. */
  uint32_t collective;
};

/** A write at the same time as another one: whether it changed anything shows when it has happened. */
struct PendingWrite {
  bool waits;
  lockstep_report report;
  const char *address;
  uint32_t bytes;
  unsigned char before[16];
};

extern LOCKSTEP_HIDDEN CheckState check_state;
extern LOCKSTEP_HIDDEN SimdgroupOrder simdgroup_orders[LOCKSTEP_MAX_THREADS / LOCKSTEP_SIMD_WIDTH];

/** The current thread as one side of a report. */
LOCKSTEP_HIDDEN lockstep_side current_side(uint32_t site, uint32_t access);
/** Adds a report, or counts it if it is known; returns it, or null where there is no room. */
LOCKSTEP_HIDDEN lockstep_report *add_report(const lockstep_report &report);
/** A report about `size` bytes at `offset` of `region`, with the current thread as its first side. */
LOCKSTEP_HIDDEN lockstep_report report_of(lockstep_report_kind kind, const lockstep_region *region, int64_t offset, uint32_t size,
                                          uint32_t site, uint32_t access);
/** The tick below which accesses of lane `a` are ordered before what lane `b` of the same simdgroup does now. */
LOCKSTEP_HIDDEN uint32_t ordered_tick(uint32_t simdgroup, uint32_t a, uint32_t b, Order order);

/** A store that is about to happen: its value is looked at when it has, or at once if it is known (`after`). */
LOCKSTEP_HIDDEN void watch_write(const void *address, uint32_t size, uint32_t site, const lockstep_region *region, const void *after);
/** Looks at the last store, and has the processor trap again. */
LOCKSTEP_HIDDEN void settle_arithmetic();
LOCKSTEP_HIDDEN void begin_arithmetic();
LOCKSTEP_HIDDEN void end_arithmetic();

/** Counts what lines have kept for a simdgroup; `all` also where lanes have not come equally far. */
LOCKSTEP_HIDDEN void count_traffic(uint32_t simdgroup, bool all);

/** Bytes from the start of the module's image. */
extern "C" LOCKSTEP_HIDDEN const char lockstep_image_start[]
#if defined(__APPLE__)
    __asm("__mh_dylib_header");
#else
    __asm("__ehdr_start");
#endif

inline uint32_t site_of(const void *address) {
  return static_cast<uint32_t>(static_cast<const char *>(address) - lockstep_image_start);
}

} // namespace lockstep
