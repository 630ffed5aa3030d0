/**
 * The keywords of MSL as macros. Always the last header: `device`, `thread`, `constant` and `kernel` are ordinary words
 * in C++ and must not reach other headers.
 */
#pragma once

#include "constants.h"

#define device LS_DEVICE
#define threadgroup LS_THREADGROUP
#define constant const LS_CONSTANT
#define thread
/** Inline, so that a module holds the requested kernel only. */
#define kernel inline
#define vertex inline
#define fragment inline

#define METAL_FUNC inline __attribute__((always_inline))
#define METAL_INTERNAL inline __attribute__((always_inline))
#define METAL_ALWAYS_INLINE __attribute__((always_inline))

/** `volatile coherent(device) device T*`: memory of the emulated device is coherent as it is. */
#define coherent(scope)

/** Assertions are not compiled into kernels. */
#define assert(...) ((void)0)

/** Predefined by Apple's compiler; kernels pass it on to `__metal_*` functions. */
#define __METAL_FAST_MATH__ 1
#define __METAL_PRECISE_MATH__ 0
#define __METAL_MAYBE_FAST_MATH__ 0
