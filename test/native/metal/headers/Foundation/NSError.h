/* Stands for <Foundation/NSError.h>. Source: SDK 14.2. */
#pragma once
#include <Foundation/NSDictionary.h>

NS_ASSUME_NONNULL_BEGIN

@class NSString;

typedef NSString *NSErrorDomain;
typedef NSString *NSErrorUserInfoKey;

@interface NSError : NSObject <NSCopying>
@property(readonly, copy) NSErrorDomain domain;
@property(readonly) NSInteger code;
@property(readonly, copy) NSDictionary<NSErrorUserInfoKey, id> *userInfo;
@property(readonly, copy) NSString *localizedDescription;
@end

NS_ASSUME_NONNULL_END
