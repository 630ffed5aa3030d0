/**
 * One fiber per GPU thread: its saved context, the state of its simdgroup and of the threadgroup, and the switch from
 * one fiber to another.
 *
 * A lane runs until it blocks at a rendezvous; then it jumps straight to the next lane that can run. The switch is inline
 * assembly that declares every register clobbered, so the compiler saves exactly what is live and no calling convention
 * is paid. It needs `-mno-red-zone` and `-fomit-frame-pointer`.
 */
#pragma once

#include "flavour.h"
#include "module.h"

namespace lockstep {

struct Lane;
struct Simdgroup;

/** Where a fiber goes on: its stack pointer and the address of its next instruction. */
struct Context {
  void *stack;
  const void *resume;
};

/** Completes a rendezvous for the lanes of `active`, run by whichever lane arrived last. */
using Complete = void (*)(Simdgroup &group, uint32_t active);

/** One GPU thread. One cache line. */
struct alignas(64) Lane {
  Context context;
  Simdgroup *simdgroup;
  /** The rendezvous it waits at, and how that completes. Read only when a simdgroup has diverged. */
  const void *site;
  Complete complete;
  /** `1 << index`. */
  uint32_t bit;
  /** Index in the simdgroup. */
  uint32_t index;
  /** Index in the threadgroup. */
  uint32_t flat;
  uint16_t position[3];
};
static_assert(sizeof(Lane) == 64);

/** Sets of lanes are masks: bit i is lane i. */
struct alignas(64) Simdgroup {
  /** Lanes that have not returned from the kernel. */
  uint32_t live;
  /** The arrivals that complete a collective: `live`, or 0 while lanes wait at different sites. */
  uint32_t expected;
  uint32_t at_collective;
  uint32_t at_barrier;
  /** The site at which the lanes of `at_collective` wait, if it is one site. */
  const void *site;
  Lane *lanes;
  uint32_t index;
  /** The lanes of the collective that completed last. */
  uint32_t active;
  uint32_t votes;
  /** Memory flags of the `simdgroup_barrier` that lanes wait at. */
  uint32_t order;
  /** What each lane brought, one area per element size (`lane_values`). */
  alignas(64) unsigned char values[LOCKSTEP_SIMD_WIDTH * 31];
  /** What the completed collective gives each lane. */
  alignas(64) unsigned char results[LOCKSTEP_SIMD_WIDTH * 16];
  /** Objects that the lanes brought to a matrix operation. */
  void *operands[4][LOCKSTEP_SIMD_WIDTH];
};

/** A `threadgroup_barrier` as written in the kernel's source. */
struct BarrierSite {
  const char *file;
  int line;
  /** The code address, where the flavour looks at it. */
  const void *site;
  /** Memory flags. */
  uint32_t order;
};

struct ThreadgroupState {
  const lockstep_launch *launch;
  uint32_t position[3];
  uint32_t simdgroups;
  /** Threads that have not returned. */
  uint32_t live;
  /** Threads that wait at the barrier, and which barrier it is. */
  uint32_t at_barrier;
  BarrierSite barrier;
  /** The scheduler's own context, which called `lockstep_module_run`. */
  Context host;
};

extern "C" {
extern LOCKSTEP_HIDDEN Lane *lockstep_current;
extern LOCKSTEP_HIDDEN ThreadgroupState lockstep_threadgroup;
extern LOCKSTEP_HIDDEN Simdgroup lockstep_simdgroups[LOCKSTEP_MAX_THREADS / LOCKSTEP_SIMD_WIDTH];

/** The lane to run when no lane of `group` can: completes divergent collectives and moves on to other simdgroups. */
LOCKSTEP_HIDDEN Lane *lockstep_pick(Simdgroup *group);
/** An arrival at another site than the lanes that wait already. */
LOCKSTEP_HIDDEN void lockstep_note_site(Simdgroup *group, const void *site);
/** An arrival at another barrier than the threads that wait already: does not return. */
LOCKSTEP_HIDDEN void lockstep_barrier_mismatch(const BarrierSite *site);
/** Ends the threadgroup with an error message: does not return. */
LOCKSTEP_HIDDEN void lockstep_fault(const char *message);
/** Leaves the threadgroup without an error, for a flavour that has reported why: does not return. */
LOCKSTEP_HIDDEN void lockstep_abandon();
}

/** A code address that is different wherever this is inlined. */
LOCKSTEP_INTERNAL const void *here() {
  const void *address;
#if defined(__x86_64__)
  asm volatile("leaq 0f(%%rip), %0\n0:" : "=r"(address));
#elif defined(__aarch64__)
  asm volatile("adr %0, 0f\n0:" : "=r"(address));
#else
#error "The emulator runs on x86-64 and arm64."
#endif
  return address;
}

#if defined(__x86_64__)

#if defined(__AVX512F__)
#define LOCKSTEP_AVX512_REGISTERS                                                                                      \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",        \
      "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define LOCKSTEP_AVX512_REGISTERS
#endif

/** Saves where this fiber is in `from` and goes on in `to`. rbp and rbx may be the frame's own, so they are pushed. */
LOCKSTEP_INTERNAL void switch_context(Context *from, const Context *to) {
  asm volatile("pushq %%rbp\n\t"
               "pushq %%rbx\n\t"
               "leaq 1f(%%rip), %%rax\n\t"
               "movq %%rsp, (%0)\n\t"
               "movq %%rax, 8(%0)\n\t"
               "movq (%1), %%rsp\n\t"
               "jmpq *8(%1)\n"
               "1:\n\t"
               "popq %%rbx\n\t"
               "popq %%rbp"
               : "+D"(from), "+S"(to)
               :
               : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1",
                 "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                 "xmm14", "xmm15" LOCKSTEP_AVX512_REGISTERS);
}

#elif defined(__aarch64__)

/* x18 belongs to the platform on Apple systems. */
#if defined(__APPLE__)
#define LOCKSTEP_X18
#else
#define LOCKSTEP_X18 "x18",
#endif

/** Saves where this fiber is in `from` and goes on in `to`. x29 and x19 may be the frame's own, so they are pushed. */
LOCKSTEP_INTERNAL void switch_context(Context *from, const Context *to) {
  register Context *saved asm("x0") = from;
  register const Context *next asm("x1") = to;
  asm volatile("stp x29, x19, [sp, #-16]!\n\t"
               "adr x9, 1f\n\t"
               "mov x10, sp\n\t"
               "stp x10, x9, [x0]\n\t"
               "ldp x10, x9, [x1]\n\t"
               "mov sp, x10\n\t"
               "br x9\n"
               "1:\n\t"
               "ldp x29, x19, [sp], #16"
               : "+r"(saved), "+r"(next)
               :
               : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
                 LOCKSTEP_X18 "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "memory", "cc", "v0",
                 "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
                 "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

#endif

} // namespace lockstep
