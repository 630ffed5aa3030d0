#pragma once

/// The SDK that the sources are compiled with. Names of a newer SDK stand behind these; whether the running macOS has
/// what they name is asked with `@available`.

#import <Foundation/Foundation.h>

#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED)
#error "the headers do not say which SDK they are of: __MAC_OS_X_VERSION_MAX_ALLOWED is missing"
#endif

#define LOCKSTEP_SDK_15 (__MAC_OS_X_VERSION_MAX_ALLOWED >= 150000)
#define LOCKSTEP_SDK_26 (__MAC_OS_X_VERSION_MAX_ALLOWED >= 260000)
