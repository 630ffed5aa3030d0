/* Stands for <Metal/MTLCommandEncoder.h>. */
#pragma once
#include <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLCommandEncoder <NSObject>
@property(nullable, copy, atomic) NSString *label;
- (void)endEncoding;
@end

NS_ASSUME_NONNULL_END
