/* Stands for <Metal/MTLHeap.h>. */
#pragma once
#include <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;

@interface MTLHeapDescriptor : NSObject <NSCopying>
@property(readwrite, nonatomic) NSUInteger size;
@property(readwrite, nonatomic) MTLStorageMode storageMode;
@property(readwrite, nonatomic) MTLHazardTrackingMode hazardTrackingMode;
@end

#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
@protocol MTLHeap <MTLAllocation>
#else
@protocol MTLHeap <NSObject>
#endif
@property(nullable, copy, atomic) NSString *label;
- (nullable id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
@end

NS_ASSUME_NONNULL_END
