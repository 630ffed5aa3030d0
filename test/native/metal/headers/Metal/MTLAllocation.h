/* Stands for <Metal/MTLAllocation.h>: what a residency set takes. */
#pragma once
#include <Foundation/Foundation.h>

#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
API_AVAILABLE(macos(15.0))
@protocol MTLAllocation <NSObject>
@end
#endif
