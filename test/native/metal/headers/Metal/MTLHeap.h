/* Stands for <Metal/MTLHeap.h>. */
#pragma once
#include <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;

typedef NS_ENUM(NSInteger, MTLHeapType) {
  MTLHeapTypeAutomatic = 0,
  MTLHeapTypePlacement = 1,
};

@interface MTLHeapDescriptor : NSObject <NSCopying>
@property(readwrite, nonatomic) NSUInteger size;
@property(readwrite, nonatomic) MTLStorageMode storageMode;
@property(readwrite, nonatomic) MTLHazardTrackingMode hazardTrackingMode;
@property(readwrite, nonatomic) MTLHeapType type;
@end

#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
@protocol MTLHeap <MTLAllocation>
#else
@protocol MTLHeap <NSObject>
#endif
@property(nullable, copy, atomic) NSString *label;
@property(readonly) NSUInteger size;
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment;
- (nullable id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
@end

NS_ASSUME_NONNULL_END
