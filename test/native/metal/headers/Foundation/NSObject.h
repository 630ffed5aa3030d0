/* Stands for <Foundation/NSObject.h>. Source: <objc/NSObject.h> and <Foundation/NSObject.h>, SDK 14.2. */
#pragma once
#include <Foundation/NSObjCRuntime.h>

NS_ASSUME_NONNULL_BEGIN

@protocol NSObject
- (BOOL)respondsToSelector:(SEL)selector;
@end

@protocol NSCopying
@end

__attribute__((objc_root_class)) @interface NSObject <NSObject> {
  Class isa;
}
+ (instancetype)alloc;
+ (instancetype)new;
- (instancetype)init;
@end

NS_ASSUME_NONNULL_END
