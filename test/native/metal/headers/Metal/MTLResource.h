/* Stands for <Metal/MTLResource.h>. */
#pragma once
#include <Foundation/Foundation.h>
#include <Metal/MTLAllocation.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

typedef NS_ENUM(NSUInteger, MTLStorageMode) {
  MTLStorageModeShared = 0,
};

typedef NS_ENUM(NSUInteger, MTLHazardTrackingMode) {
  MTLHazardTrackingModeTracked = 2,
};

typedef NS_OPTIONS(NSUInteger, MTLResourceOptions) {
  MTLResourceStorageModeShared = 0 << 4,
  MTLResourceHazardTrackingModeTracked = 0x2 << 8,
};

#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
@protocol MTLResource <MTLAllocation>
#else
@protocol MTLResource <NSObject>
#endif
@property(nullable, copy, atomic) NSString *label;
@property(readonly) id<MTLDevice> device;
@end

NS_ASSUME_NONNULL_END
