/*
 * Stands for <Availability.h>: the version of the SDK. Declarations that came with a newer SDK than macOS 14.2 stand in
 * `#if __MAC_OS_X_VERSION_MAX_ALLOWED >= ...`, so that the sources can be checked as an older SDK would take them.
 */
#pragma once
#define __MAC_14_0 140000
#define __MAC_15_0 150000
#define __MAC_26_0 260000
#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED)
#define __MAC_OS_X_VERSION_MAX_ALLOWED __MAC_26_0
#endif
