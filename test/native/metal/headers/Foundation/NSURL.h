/* Stands for <Foundation/NSURL.h>. Source: SDK 14.2. */
#pragma once
#include <Foundation/NSObject.h>

NS_ASSUME_NONNULL_BEGIN

@class NSString;

@interface NSURL : NSObject <NSCopying>
+ (NSURL *)fileURLWithPath:(NSString *)path;
@end

NS_ASSUME_NONNULL_END
