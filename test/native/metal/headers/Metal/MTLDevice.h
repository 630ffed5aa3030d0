/* Stands for <Metal/MTLDevice.h>. */
#pragma once
#include <Foundation/Foundation.h>
#include <Metal/MTLResource.h>
#include <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@class MTLBinaryArchiveDescriptor;
@class MTLCompileOptions;
@class MTLComputePipelineDescriptor;
@class MTLComputePipelineReflection;
@class MTLCounterSampleBufferDescriptor;
@class MTLHeapDescriptor;
@class MTLLogStateDescriptor;
@class MTLResidencySetDescriptor;
@protocol MTLBinaryArchive;
@protocol MTLBuffer;
@protocol MTLCommandQueue;
@protocol MTLComputePipelineState;
@protocol MTLCounterSampleBuffer;
@protocol MTLCounterSet;
@protocol MTLHeap;
@protocol MTLLibrary;
@protocol MTLLogState;
@protocol MTLResidencySet;

/* Sources ask by number: an older SDK knows fewer names than macOS knows families. */
typedef NS_ENUM(NSInteger, MTLGPUFamily) {
  MTLGPUFamilyApple7 = 1007,
};

typedef NS_ENUM(NSUInteger, MTLCounterSamplingPoint) {
  MTLCounterSamplingPointAtStageBoundary = 0,
  MTLCounterSamplingPointAtDispatchBoundary = 2,
};

typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) {
  MTLPipelineOptionFailOnBinaryArchiveMiss = 1 << 2,
};

typedef uint64_t MTLTimestamp;

typedef struct {
  NSUInteger size;
  NSUInteger align;
} MTLSizeAndAlign;

typedef MTLComputePipelineReflection *_Nullable __autoreleasing MTLAutoreleasedComputePipelineReflection;

API_AVAILABLE(macos(14.0))
@interface MTLArchitecture : NSObject <NSCopying>
@property(readonly, copy, nonatomic) NSString *name;
@end

@protocol MTLDevice <NSObject>
@property(readonly) NSString *name;
@property(readonly) uint64_t registryID;
@property(readonly, nonatomic) MTLArchitecture *architecture API_AVAILABLE(macos(14.0));
@property(readonly) BOOL hasUnifiedMemory;
@property(readonly) uint64_t recommendedMaxWorkingSetSize;
@property(readonly) NSUInteger maxBufferLength;
@property(readonly) NSUInteger maxThreadgroupMemoryLength;
@property(readonly) MTLSize maxThreadsPerThreadgroup;
@property(readonly) NSUInteger currentAllocatedSize;
@property(readonly, nullable) NSArray<id<MTLCounterSet>> *counterSets;

- (BOOL)supportsFamily:(MTLGPUFamily)gpuFamily;
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)samplingPoint;
#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 260000
- (uint64_t)queryTimestampFrequency API_AVAILABLE(macos(26.0));
#endif
- (void)sampleTimestamps:(MTLTimestamp *)cpuTimestamp gpuTimestamp:(MTLTimestamp *)gpuTimestamp;

- (nullable id<MTLCommandQueue>)newCommandQueue;
- (nullable id<MTLLibrary>)newLibraryWithSource:(NSString *)source
                                        options:(nullable MTLCompileOptions *)options
                                          error:(NSError **)error;
- (nullable id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                  options:(MTLPipelineOption)options
                               reflection:(MTLAutoreleasedComputePipelineReflection *_Nullable)reflection
                                    error:(NSError **)error;
- (nullable id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor *)descriptor
                                                          error:(NSError **)error;
- (nullable id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (nullable id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor *)descriptor;
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (nullable id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:
                                           (MTLCounterSampleBufferDescriptor *)descriptor
                                                                      error:(NSError **)error;
#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
- (nullable id<MTLLogState>)newLogStateWithDescriptor:(MTLLogStateDescriptor *)descriptor
                                                error:(NSError **)error API_AVAILABLE(macos(15.0));
- (nullable id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor *)descriptor
                                                        error:(NSError **)error API_AVAILABLE(macos(15.0));
#endif
@end

FOUNDATION_EXPORT id<MTLDevice> _Nullable MTLCreateSystemDefaultDevice(void) NS_RETURNS_RETAINED;
FOUNDATION_EXPORT NSArray<id<MTLDevice>> *MTLCopyAllDevices(void) NS_RETURNS_RETAINED;

NS_ASSUME_NONNULL_END
