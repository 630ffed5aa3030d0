/*
 * Stands for <Availability.h>: the version of the SDK. Declarations that came with a newer SDK than macOS 14.2 stand in
 * `#if __MAC_OS_X_VERSION_MAX_ALLOWED >= ...`, so that the sources can be checked as an older SDK would take them.
 */
#pragma once
#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED)
#define __MAC_OS_X_VERSION_MAX_ALLOWED 260000
#endif
