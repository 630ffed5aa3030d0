/**
 * How the library's functions are compiled in each flavour.
 *
 * `fast`: everything becomes part of the kernel, and a collective's site is the code address at which it was inlined.
 * Instrumented flavours (`lockstep`, `check`, both): the kernel's own loads and stores are instrumented, the library's
 * must not be, so collectives are real calls without instrumentation and their site is the address they return to.
 * `nomerge` keeps the calls on the two sides of a branch apart; code with inline assembly is never merged. `nodebug` gives
 * what is inlined the line of the call, so that reports name lines of the author and never one of the library's.
 */
#pragma once

#if defined(LOCKSTEP_FLAVOUR_LOCKSTEP) && LOCKSTEP_FLAVOUR_LOCKSTEP
#define LOCKSTEP_MEETS 1
#else
#define LOCKSTEP_MEETS 0
#endif
#if defined(LOCKSTEP_FLAVOUR_CHECK) && LOCKSTEP_FLAVOUR_CHECK
#define LOCKSTEP_CHECKS 1
#else
#define LOCKSTEP_CHECKS 0
#endif
#define LOCKSTEP_INSTRUMENTED (LOCKSTEP_MEETS || LOCKSTEP_CHECKS)

#if LOCKSTEP_INSTRUMENTED
#define LOCKSTEP_UNSEEN nodebug, no_sanitize("thread", "undefined", "integer")
#define LOCKSTEP_INTERNAL inline __attribute__((always_inline, LOCKSTEP_UNSEEN))
#define LOCKSTEP_COLLECTIVE inline __attribute__((noinline, nomerge, LOCKSTEP_UNSEEN))
#define LOCKSTEP_SITE() __builtin_return_address(0)
#else
#define LOCKSTEP_UNSEEN nodebug
#define LOCKSTEP_INTERNAL inline __attribute__((always_inline))
#define LOCKSTEP_COLLECTIVE inline __attribute__((always_inline))
#define LOCKSTEP_SITE() ::lockstep::here()
#endif

/** Functions that are called seldom and must not grow their callers. */
#define LOCKSTEP_COLD __attribute__((noinline, cold, no_sanitize("thread")))
#define LOCKSTEP_HIDDEN __attribute__((visibility("hidden")))
