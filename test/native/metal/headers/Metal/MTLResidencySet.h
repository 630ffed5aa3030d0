/* Stands for <Metal/MTLResidencySet.h>: all of macOS 15. */
#pragma once
#include <Metal/MTLAllocation.h>

#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
NS_ASSUME_NONNULL_BEGIN

API_AVAILABLE(macos(15.0))
@interface MTLResidencySetDescriptor : NSObject <NSCopying>
@property(nullable, copy, nonatomic) NSString *label;
@end

API_AVAILABLE(macos(15.0))
@protocol MTLResidencySet <NSObject>
- (void)addAllocation:(id<MTLAllocation>)allocation;
- (void)removeAllocation:(id<MTLAllocation>)allocation;
- (void)commit;
- (void)requestResidency;
@end

NS_ASSUME_NONNULL_END
#endif
