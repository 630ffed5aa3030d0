/* Stands for <os/availability.h>: since which macOS a declaration is there, for clang's -Wunguarded-availability. */
#pragma once
#include <Availability.h>

#if defined(__APPLE__)
#define LOCKSTEP_AVAILABLE_macos(version) __attribute__((availability(macos, introduced = version)))
#define LOCKSTEP_DEPRECATED_macos(since, until) \
  __attribute__((availability(macos, introduced = since, deprecated = until)))
#else
/* Built for Linux, a declaration is always there: the stand-in decides at run time what it answers. */
#define LOCKSTEP_AVAILABLE_macos(version)
#define LOCKSTEP_DEPRECATED_macos(since, until)
#endif

#define API_AVAILABLE(platform) LOCKSTEP_AVAILABLE_##platform
#define API_DEPRECATED(words, platform) LOCKSTEP_DEPRECATED_##platform
