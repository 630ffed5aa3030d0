/*
 * What the check flavours share with the runner: where memory lies, the shadow of what was done to it, and the reports.
 * C, as `module.h`. One worker runs a submission of these flavours, so nothing here is shared between threads but the
 * counts that a client may read while a kernel runs.
 */
#ifndef LOCKSTEP_CHECK_H
#define LOCKSTEP_CHECK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /* Address space is classed by pieces of 16 MiB; guards see to it that no two objects share one. */
  LOCKSTEP_PIECE_SHIFT = 24,
  LOCKSTEP_PIECES = 1 << 24,
  LOCKSTEP_CHECK_REGIONS = 96,
  LOCKSTEP_CHECK_REPORTS = 512,
  LOCKSTEP_CHECK_SITES = 4096,
  /* Executions of a line by a lane that are kept before they are counted. */
  LOCKSTEP_CHECK_KEPT = 32
};

/* Classes of address space; regions follow. */
enum { LOCKSTEP_CLASS_OTHER = 0, LOCKSTEP_CLASS_STACK = 1, LOCKSTEP_CLASS_REGION = 2 };

typedef enum lockstep_space {
  LOCKSTEP_SPACE_NONE = 0,
  LOCKSTEP_SPACE_BUFFER,
  LOCKSTEP_SPACE_BYTES,
  LOCKSTEP_SPACE_DYNAMIC,
  LOCKSTEP_SPACE_STATIC,
  LOCKSTEP_SPACE_STACK
} lockstep_space;

typedef enum lockstep_report_kind {
  LOCKSTEP_RACE = 0,
  LOCKSTEP_DEVICE_RACE,
  LOCKSTEP_EXCHANGE,
  LOCKSTEP_SAME_VALUE,
  LOCKSTEP_OUT_OF_BOUNDS,
  LOCKSTEP_MISALIGNED,
  LOCKSTEP_READ_ONLY_WRITE,
  LOCKSTEP_UNINITIALIZED_THREADGROUP,
  LOCKSTEP_UNINITIALIZED_DEVICE,
  LOCKSTEP_UNINITIALIZED_STACK,
  LOCKSTEP_NAN_CREATED,
  LOCKSTEP_INFINITY_CREATED,
  LOCKSTEP_INFINITY_IN_FAST_MATH,
  LOCKSTEP_DIVERGENT_BARRIER,
  LOCKSTEP_DIVERGENT_COLLECTIVE,
  LOCKSTEP_EXITED_BEFORE_BARRIER,
  LOCKSTEP_INTEGER_OVERFLOW,
  LOCKSTEP_UNWRITTEN_OUTPUT,
  LOCKSTEP_WRITTEN_TWICE,
  LOCKSTEP_REPORT_KINDS
} lockstep_report_kind;

typedef enum lockstep_access {
  LOCKSTEP_ACCESS_NONE = 0,
  LOCKSTEP_ACCESS_READ,
  LOCKSTEP_ACCESS_WRITE,
  LOCKSTEP_ACCESS_ATOMIC,
  LOCKSTEP_ACCESS_BARRIER,
  LOCKSTEP_ACCESS_COLLECTIVE,
  LOCKSTEP_ACCESS_ARITHMETIC,
  LOCKSTEP_ACCESS_EXIT
} lockstep_access;

/* `lane` of a stamp: the thread's index, and what kind of access it was. */
enum { LOCKSTEP_STAMP_THREAD = 0x3ff, LOCKSTEP_STAMP_ATOMIC = 0x8000 };

/* Who touched a cell last. `epoch` rises at every barrier that orders the memory, and from threadgroup to threadgroup. */
typedef struct lockstep_stamp {
  uint32_t epoch;
  /* Rendezvous of the simdgroup before the access. */
  uint32_t tick;
  /* Offset of the return address in the module. */
  uint32_t site;
  uint32_t lane;
} lockstep_stamp;

/* One writer and two readers; the readers are of two simdgroups if any are. */
typedef struct lockstep_cell {
  lockstep_stamp write;
  lockstep_stamp read[2];
} lockstep_cell;

typedef struct lockstep_region {
  uintptr_t base;
  uint64_t bytes;
  lockstep_space space;
  /* Binding index, or index of the dynamic array. */
  uint32_t index;
  /* Bound through `const` or `constant` alone. */
  uint8_t read_only;
  uint8_t is_output;
  /* A cell is `1 << shift` bytes. It starts at 16 and is split, without loss, when a smaller access comes. */
  uint8_t shift;
  lockstep_cell *cells;
  /* Cells that may not be empty. */
  uint64_t touched;
  /* A bit for each byte that has a value; null where all have. */
  uint8_t *valid;
  /* A bit for each byte that was written in this submission; outputs only. */
  uint8_t *written;
} lockstep_region;

typedef struct lockstep_side {
  uint32_t site;
  uint32_t access;
  uint32_t threadgroup[3];
  uint32_t thread;
  uint32_t dispatch;
} lockstep_side;

typedef struct lockstep_report {
  uint32_t kind;
  /* What the message depends on, by kind. */
  uint32_t detail;
  uint32_t space;
  uint32_t index;
  uint64_t bytes;
  int64_t offset;
  uint32_t size;
  uint32_t has_second;
  lockstep_side first;
  lockstep_side second;
  uint64_t count;
  /* Operands or bits, by kind. */
  uint64_t values[2];
} lockstep_report;

/* Executions of a line by one simdgroup that are not counted yet. */
typedef struct lockstep_kept {
  uint8_t count[32];
  uint8_t listed;
  uint32_t address[LOCKSTEP_CHECK_KEPT][32];
} lockstep_kept;

/* The cost of a pattern of addresses relative to the first lane's, for all 32 lanes. */
typedef struct lockstep_pattern {
  uint32_t relative[32];
  uint32_t phase;
  uint32_t distinct;
  uint32_t units;
  uint32_t ideal;
} lockstep_pattern;

enum { LOCKSTEP_CHECK_PATTERNS = 8 };

/* A line (one return address) that accesses one region. */
typedef struct lockstep_site {
  uint32_t site;
  uint32_t size;
  uint8_t writes;
  uint8_t region;
  /* The next one with the same return address; 0 for none. */
  uint16_t next;
  uint32_t dispatch;
  uint64_t accesses;
  uint64_t simd_accesses;
  uint64_t requested;
  uint64_t distinct;
  uint64_t units;
  uint64_t ideal;
  uint32_t worst;
  lockstep_kept *kept[32];
  lockstep_pattern patterns[LOCKSTEP_CHECK_PATTERNS];
} lockstep_site;

typedef struct lockstep_threadgroup_mark {
  uint32_t epoch;
  uint32_t dispatch;
  uint32_t position[3];
} lockstep_threadgroup_mark;

typedef struct lockstep_check {
  uint8_t *classes;
  lockstep_region regions[LOCKSTEP_CHECK_REGIONS];
  uint32_t dispatch;
  uint32_t fast_math;
  /* The next epochs of threadgroup and of device memory. */
  uint32_t threadgroup_epoch;
  uint32_t device_epoch;
  /* Device epochs below this one are ordered before the current dispatch. */
  uint32_t first_device_epoch;
  /* Threadgroups that have begun, by device epoch. */
  lockstep_threadgroup_mark *marks;
  uint64_t mark_count;
  uint64_t mark_capacity;
  lockstep_report reports[LOCKSTEP_CHECK_REPORTS];
  uint32_t report_count;
  uint64_t dropped;
  /* Lines of the current dispatch: two entries (read, write) for each byte of the module's code. */
  uint16_t *site_of;
  uint64_t site_of_count;
  lockstep_site *sites;
  uint32_t site_count;
  uint32_t sites_lost;
  /* Room for what lines keep. */
  char *room;
  uint64_t room_used;
  uint64_t room_bytes;
  /* Makes the pages of an access outside of its object accessible; 0 if that cannot be. */
  int (*open_pages)(void *host, uintptr_t address, size_t bytes);
  void *host;
} lockstep_check;

#ifdef __cplusplus
}
#endif

#endif
