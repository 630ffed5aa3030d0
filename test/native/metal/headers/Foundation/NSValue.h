/* Stands for <Foundation/NSValue.h>: NSNumber. Source: SDK 14.2. */
#pragma once
#include <Foundation/NSObject.h>

NS_ASSUME_NONNULL_BEGIN

@interface NSValue : NSObject <NSCopying>
@end

@interface NSNumber : NSValue
+ (NSNumber *)numberWithInt:(int)value;
+ (NSNumber *)numberWithUnsignedInt:(unsigned int)value;
+ (NSNumber *)numberWithLongLong:(long long)value;
+ (NSNumber *)numberWithBool:(BOOL)value;
@end

NS_ASSUME_NONNULL_END
