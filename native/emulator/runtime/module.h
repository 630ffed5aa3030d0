/*
 * The binary interface between a kernel module (one compiled kernel with the fiber scheduler linked in) and the library
 * that runs it. C, so that the two may come from different compilers.
 *
 * A worker thread loads its own copy of a module: the module's data is the state of the one threadgroup that the worker
 * runs at a time, and its static threadgroup memory.
 */
#ifndef LOCKSTEP_MODULE_H
#define LOCKSTEP_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LOCKSTEP_MODULE_VERSION 2u

enum {
  LOCKSTEP_BUFFER_SLOTS = 31,
  LOCKSTEP_THREADGROUP_SLOTS = 31,
  LOCKSTEP_MAX_THREADS = 1024,
  LOCKSTEP_SIMD_WIDTH = 32,
  LOCKSTEP_MESSAGE_BYTES = 1024
};

/* A quiet NaN in f32 and in both halves of f16 and bf16; memory that nothing has written yet shows as NaN. */
#define LOCKSTEP_POISON_WORD 0x7fed7fedu

/* Bits. */
enum { LOCKSTEP_FLAVOUR_ID_FAST = 0, LOCKSTEP_FLAVOUR_ID_LOCKSTEP = 1, LOCKSTEP_FLAVOUR_ID_CHECK = 2 };

enum { LOCKSTEP_OK = 0, LOCKSTEP_FAULT = 1 };

typedef struct lockstep_module_info {
  uint32_t version;
  uint32_t flavour;
  uint32_t max_threads;
  uint64_t static_threadgroup_bytes;
  /* Where the static threadgroup memory of this copy lies, and how many bytes its image has. */
  char *static_threadgroup_memory;
  uint64_t image_bytes;
} lockstep_module_info;

/* Stacks of the fibers, owned by the worker. Stack i is the `bytes` below `base + (i + 1) * stride`. */
typedef struct lockstep_stacks {
  char *base;
  size_t stride;
  size_t bytes;
  uint32_t count;
} lockstep_stacks;

struct lockstep_check;

/* A message that a kernel logged: `type` as `metal::log_type`; subsystem and category are null for the default log. */
typedef struct lockstep_log_line {
  uint32_t type;
  uint32_t thread;
  uint32_t threadgroup[3];
  uint32_t position[3];
  const char *subsystem;
  const char *category;
  const char *text;
} lockstep_log_line;

/* One dispatch as a module sees it. Addresses are those of the worker's process; unbound slots are null. */
typedef struct lockstep_launch {
  void *buffers[LOCKSTEP_BUFFER_SLOTS];
  char *threadgroup_memory[LOCKSTEP_THREADGROUP_SLOTS];
  uint32_t threadgroup_bytes[LOCKSTEP_THREADGROUP_SLOTS];
  uint32_t threadgroups[3];
  uint32_t threads[3];
  void (*entry)(void);
  lockstep_stacks stacks;
  /* Shadow and reports of the check flavours; null for the others. */
  struct lockstep_check *check;
  /* Takes what the kernel logs, on the worker's thread; null if nobody listens. */
  void (*log)(const lockstep_log_line *line);
} lockstep_launch;

/* Where a worker is; read by the crash handler. `thread` is -1 while the scheduler itself runs. */
typedef struct lockstep_location {
  uint32_t threadgroup[3];
  int32_t thread;
  uint32_t position[3];
} lockstep_location;

/* Exported by every module. */
void lockstep_module_describe(lockstep_module_info *info);
/* Runs one threadgroup to its end. LOCKSTEP_FAULT: `lockstep_module_message` says why. */
int lockstep_module_run(const lockstep_launch *launch, uint32_t x, uint32_t y, uint32_t z);
const char *lockstep_module_message(void);
void lockstep_module_locate(lockstep_location *location);

/*
 * Exported by modules of check flavours, called in signal handlers: an operation at `pc` is invalid (0), divides by zero
 * (1) or overflows (2). `stack` is the stack pointer there. 1: the thread goes on with all exceptions masked.
 */
int lockstep_module_trap(const void *pc, const void *stack, int kind);

typedef int (*lockstep_module_trap_function)(const void *, const void *, int);
typedef void (*lockstep_module_describe_function)(lockstep_module_info *);
typedef int (*lockstep_module_run_function)(const lockstep_launch *, uint32_t, uint32_t, uint32_t);
typedef const char *(*lockstep_module_message_function)(void);
typedef void (*lockstep_module_locate_function)(lockstep_location *);

#ifdef __cplusplus
}
#endif

#endif
