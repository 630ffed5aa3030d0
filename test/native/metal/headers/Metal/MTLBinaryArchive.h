/* Stands for <Metal/MTLBinaryArchive.h>. */
#pragma once
#include <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

@class MTLComputePipelineDescriptor;

@interface MTLBinaryArchiveDescriptor : NSObject <NSCopying>
@property(readwrite, nullable, nonatomic, copy) NSURL *url;
@end

@protocol MTLBinaryArchive <NSObject>
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor *)descriptor error:(NSError **)error;
- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error;
@end

NS_ASSUME_NONNULL_END
