/* Stands for <Metal/MTLCommandBuffer.h>. */
#pragma once
#include <Foundation/Foundation.h>
#include <Metal/MTLLogState.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLComputeCommandEncoder;
@class MTLComputePassDescriptor;

typedef NS_ENUM(NSUInteger, MTLCommandBufferStatus) {
  MTLCommandBufferStatusCompleted = 4,
  MTLCommandBufferStatusError = 5,
};

typedef NS_OPTIONS(NSUInteger, MTLCommandBufferErrorOption) {
  MTLCommandBufferErrorOptionEncoderExecutionStatus = 1 << 0,
};

typedef NS_ENUM(NSInteger, MTLCommandEncoderErrorState) {
  MTLCommandEncoderErrorStateCompleted = 1,
  MTLCommandEncoderErrorStateAffected = 2,
  MTLCommandEncoderErrorStatePending = 3,
  MTLCommandEncoderErrorStateFaulted = 4,
};

/* In `userInfo` of a command buffer's error: NSArray<id<MTLCommandBufferEncoderInfo>>. */
FOUNDATION_EXPORT NSErrorUserInfoKey const MTLCommandBufferEncoderInfoErrorKey;

@protocol MTLCommandBufferEncoderInfo <NSObject>
@property(readonly, nonatomic) NSString *label;
@property(readonly, nonatomic) MTLCommandEncoderErrorState errorState;
@end

@interface MTLCommandBufferDescriptor : NSObject <NSCopying>
@property(readwrite, nonatomic) MTLCommandBufferErrorOption errorOptions;
#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
@property(readwrite, nonatomic, nullable, retain) id<MTLLogState> logState API_AVAILABLE(macos(15.0));
#endif
@end

@protocol MTLCommandBuffer;
typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer> buffer);

@protocol MTLCommandBuffer <NSObject>
@property(nullable, copy, atomic) NSString *label;
@property(readonly) MTLCommandBufferStatus status;
@property(nullable, readonly) NSError *error;
/* Seconds; zero until the command buffer has completed. */
@property(readonly) CFTimeInterval GPUStartTime;
@property(readonly) CFTimeInterval GPUEndTime;
- (nullable id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor *)descriptor;
- (void)addCompletedHandler:(MTLCommandBufferHandler)block;
- (void)commit;
@end

NS_ASSUME_NONNULL_END
