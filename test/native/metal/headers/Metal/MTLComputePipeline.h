/* Stands for <Metal/MTLComputePipeline.h>. */
#pragma once
#include <Foundation/Foundation.h>
#include <Metal/MTLArgument.h>
#include <Metal/MTLBinaryArchive.h>
#include <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLFunction;

@interface MTLComputePipelineReflection : NSObject
@property(readonly) NSArray<id<MTLBinding>> *bindings API_AVAILABLE(macos(13.0));
@end

@interface MTLComputePipelineDescriptor : NSObject <NSCopying>
@property(nullable, copy, nonatomic) NSString *label;
@property(nullable, readwrite, nonatomic, strong) id<MTLFunction> computeFunction;
@property(readwrite, nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readwrite, nullable, nonatomic, copy) NSArray<id<MTLBinaryArchive>> *binaryArchives;
#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 260000
@property(readwrite, nonatomic) MTLSize requiredThreadsPerThreadgroup API_AVAILABLE(macos(26.0));
#endif
@end

@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@property(readonly) NSUInteger staticThreadgroupMemoryLength;
@end

NS_ASSUME_NONNULL_END
