/* Stands for <Metal/MTLFunctionConstantValues.h>. */
#pragma once
#include <Metal/MTLArgument.h>

NS_ASSUME_NONNULL_BEGIN

@interface MTLFunctionConstantValues : NSObject <NSCopying>
- (void)setConstantValue:(const void *)value type:(MTLDataType)type atIndex:(NSUInteger)index;
@end

NS_ASSUME_NONNULL_END
