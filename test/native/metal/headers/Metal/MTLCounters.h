/* Stands for <Metal/MTLCounters.h>. */
#pragma once
#include <Foundation/Foundation.h>
#include <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

/* A sample that the device could not take. */
#define MTLCounterErrorValue ((uint64_t)~0ULL)

typedef NSString *MTLCommonCounterSet;
FOUNDATION_EXPORT MTLCommonCounterSet const MTLCommonCounterSetTimestamp;

typedef struct {
  uint64_t timestamp;
} MTLCounterResultTimestamp;

@protocol MTLCounterSet <NSObject>
@property(readonly, copy) NSString *name;
@end

@interface MTLCounterSampleBufferDescriptor : NSObject <NSCopying>
@property(readwrite, retain, nullable) id<MTLCounterSet> counterSet;
@property(readwrite) MTLStorageMode storageMode;
@property(readwrite) NSUInteger sampleCount;
@end

@protocol MTLCounterSampleBuffer <NSObject>
- (nullable NSData *)resolveCounterRange:(NSRange)range;
@end

NS_ASSUME_NONNULL_END
