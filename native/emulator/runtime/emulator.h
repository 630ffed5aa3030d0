/*
 * Running kernel modules: a plain C++ library behind a C header. The runner is its first client.
 *
 * An emulator holds modules, mapped buffers and workers between runs. One thread drives it; `cancel`, `progress` and
 * `describe_crash` may be called from others. Functions that can fail return LOCKSTEP_STATUS_OK or another status, and
 * `lockstep_emulator_message` then says what is wrong and how to mend it.
 */
#ifndef LOCKSTEP_EMULATOR_H
#define LOCKSTEP_EMULATOR_H

#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lockstep_emulator lockstep_emulator;

typedef enum lockstep_status {
  LOCKSTEP_STATUS_OK = 0,
  LOCKSTEP_STATUS_CANCELLED,
  /* A kernel did what no kernel may do (a barrier that not all threads reach). */
  LOCKSTEP_STATUS_FAULT,
  /* The dispatch is not legal. */
  LOCKSTEP_STATUS_REFUSED,
  /* A module or a buffer cannot be had. */
  LOCKSTEP_STATUS_UNAVAILABLE
} lockstep_status;

/* What is bound at an index: a buffer at a byte offset, or inline bytes (`buffer` is 0). */
typedef struct lockstep_binding {
  uint32_t index;
  uint64_t buffer;
  uint64_t offset;
  const void *bytes;
  size_t byte_count;
  /* The kernel's parameter is `const` or `constant`. */
  int read_only;
} lockstep_binding;

typedef struct lockstep_threadgroup_memory {
  uint32_t index;
  uint32_t bytes;
} lockstep_threadgroup_memory;

typedef struct lockstep_dispatch {
  const char *label;
  uint64_t module;
  uint32_t threadgroups[3];
  uint32_t threads[3];
  const lockstep_binding *bindings;
  size_t binding_count;
  const lockstep_threadgroup_memory *threadgroup_memory;
  size_t threadgroup_memory_count;
  /* The source was compiled for fast math. */
  int fast_math;
} lockstep_dispatch;

/* What modules of check flavours are asked; such a run has one worker. */
typedef struct lockstep_check_request {
  /* Buffers of which every byte must be written exactly once. */
  const uint64_t *outputs;
  size_t output_count;
  /* Dispatches may overlap: what two of them share is a race. */
  int concurrent;
} lockstep_check_request;

/* Takes a line of a report, without a newline. Called in signal handlers too. */
typedef void (*lockstep_line)(void *user, const char *text);

/* Takes what a kernel of the dispatch `label` logged; called on workers, several at a time. */
typedef void (*lockstep_log)(void *user, const char *label, const lockstep_log_line *line);

/* Called on the driving thread after each dispatch; may be null. */
typedef void (*lockstep_dispatch_done)(void *user, size_t dispatch, uint64_t nanoseconds);

typedef struct lockstep_progress {
  size_t dispatch;
  uint64_t done;
  uint64_t total;
} lockstep_progress;

lockstep_emulator *lockstep_emulator_create(void);
void lockstep_emulator_destroy(lockstep_emulator *emulator);

/* Ids are the caller's, not 0. Files are opened when they are first needed. */
void lockstep_emulator_add_module(lockstep_emulator *emulator, uint64_t id, const char *path, const char *entry);
void lockstep_emulator_drop_module(lockstep_emulator *emulator, uint64_t id);
/* A buffer of `bytes` in the file at `path`, whose last 16-byte unit ends the file's last page. */
void lockstep_emulator_add_buffer(lockstep_emulator *emulator, uint64_t id, const char *path, uint64_t file_offset, uint64_t bytes,
                                  const char *label);
void lockstep_emulator_drop_buffer(lockstep_emulator *emulator, uint64_t id);

lockstep_status lockstep_emulator_inspect(lockstep_emulator *emulator, const char *path, lockstep_module_info *info);

/* Runs the dispatches in order on `workers` threads (0: one per core); returns when the last one is done. */
lockstep_status lockstep_emulator_run(lockstep_emulator *emulator, const lockstep_dispatch *dispatches, size_t count,
                                      unsigned workers, const lockstep_check_request *check, lockstep_dispatch_done done,
                                      void *user);
/*
 * Writes what the check flavours saw in run `run`, as JSON, one object a line. At the end of a run, or while one runs
 * from another thread, or from a signal handler: then reports alone.
 */
void lockstep_emulator_write_checks(const lockstep_emulator *emulator, uint64_t run, int reports_alone, lockstep_line line,
                                    void *user);
/* Before a run: who takes the first `limit` lines that its kernels log, for all emulators of the process. */
void lockstep_emulator_listen(lockstep_log log, void *user, uint64_t limit);
/* How many lines were logged beyond the limit since then. */
uint64_t lockstep_emulator_unheard(void);

/* What the last function that failed had to say. */
const char *lockstep_emulator_message(const lockstep_emulator *emulator);

/* Ends the current run after the threadgroups in flight. To be called only while one runs. */
void lockstep_emulator_cancel(lockstep_emulator *emulator);
void lockstep_emulator_progress(const lockstep_emulator *emulator, lockstep_progress *progress);

/*
 * For signal handlers, on the thread that faulted at `address`: which kernel, threadgroup and thread, and what was hit.
 * Writes at most `size` bytes with a final zero; returns false on a thread that runs no kernel.
 */
int lockstep_emulator_describe_crash(int signal, const void *address, char *text, size_t size);

/*
 * For signal handlers: an operation at `pc` is invalid (0), divides by zero (1) or overflows (2); `stack` is the stack
 * pointer. True: mask and go on.
 */
int lockstep_emulator_trap(const void *pc, const void *stack, int kind);

#ifdef __cplusplus
}
#endif

#endif
