/* Stands for <Metal/MTLCaptureManager.h>. */
#pragma once
#include <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
  MTLCaptureDestinationGPUTraceDocument = 2,
};

@interface MTLCaptureDescriptor : NSObject <NSCopying>
@property(readwrite, nullable, strong, nonatomic) id captureObject;
@property(readwrite, nonatomic) MTLCaptureDestination destination;
@property(readwrite, nullable, copy, nonatomic) NSURL *outputURL;
@end

@interface MTLCaptureManager : NSObject
+ (MTLCaptureManager *)sharedCaptureManager;
@property(readonly) BOOL isCapturing;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor *)descriptor error:(NSError **)error;
- (void)stopCapture;
@end

NS_ASSUME_NONNULL_END
