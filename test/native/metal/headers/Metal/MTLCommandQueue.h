/* Stands for <Metal/MTLCommandQueue.h>. */
#pragma once
#include <Foundation/Foundation.h>
#include <Metal/MTLResidencySet.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLCommandBuffer;
@class MTLCommandBufferDescriptor;

@protocol MTLCommandQueue <NSObject>
@property(nullable, copy, atomic) NSString *label;
- (nullable id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor *)descriptor;
#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
- (void)addResidencySet:(id<MTLResidencySet>)residencySet API_AVAILABLE(macos(15.0));
- (void)removeResidencySet:(id<MTLResidencySet>)residencySet API_AVAILABLE(macos(15.0));
#endif
@end

NS_ASSUME_NONNULL_END
