/* Stands for <Foundation/NSValue.h>: NSNumber. Source: SDK 14.2. */
#pragma once
#include <Foundation/NSObject.h>

NS_ASSUME_NONNULL_BEGIN

@interface NSValue : NSObject <NSCopying>
@end

@interface NSNumber : NSValue
+ (NSNumber *)numberWithLongLong:(long long)value;
@end

NS_ASSUME_NONNULL_END
