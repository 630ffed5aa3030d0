/* Stands for <TargetConditionals.h>. */
#pragma once
#if defined(__APPLE__)
#define TARGET_OS_MAC 1
#define TARGET_OS_OSX 1
#else
#define TARGET_OS_MAC 0
#define TARGET_OS_OSX 0
#endif
