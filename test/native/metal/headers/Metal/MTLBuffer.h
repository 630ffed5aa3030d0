/* Stands for <Metal/MTLBuffer.h>. */
#pragma once
#include <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
- (void *)contents NS_RETURNS_INNER_POINTER;
@end

NS_ASSUME_NONNULL_END
