/* Stands for <Foundation/NSException.h>. Source: SDK 14.2. */
#pragma once
#include <Foundation/NSObject.h>

NS_ASSUME_NONNULL_BEGIN

@class NSString;

typedef NSString *NSExceptionName;

/* The attribute says that its type for @catch lives where the class does. */
__attribute__((__objc_exception__)) @interface NSException : NSObject <NSCopying>
@property(readonly, copy) NSExceptionName name;
@property(nullable, readonly, copy) NSString *reason;
@end

NS_ASSUME_NONNULL_END
