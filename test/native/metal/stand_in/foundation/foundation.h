#pragma once
// STAND-IN for tests: what the stand-in for Metal itself needs of its Foundation, beyond what native/metal uses.
#import <Foundation/Foundation.h>

#include <functional>
#include <string>
#include <vector>

#include "../objc/runtime.h"

NS_ASSUME_NONNULL_BEGIN

@interface NSString (StandIn)
/** A copy of the bytes. */
- (std::string)text;
@end

@interface NSObject (StandIn)
- (BOOL)isEqual:(nullable id)other;
- (NSUInteger)hash;
@property(readonly, copy) NSString *description;
- (id)copy;
- (BOOL)conformsToProtocol:(nullable Protocol *)protocol;
@end

@interface NSError (StandIn)
+ (instancetype)errorWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(nullable NSDictionary<NSErrorUserInfoKey, id> *)userInfo;
@end

@interface NSData (StandIn)
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length;
@end

@interface NSURL (StandIn)
- (std::string)filePath;
@end

@interface NSNumber (StandIn)
- (long long)longLongValue;
/** As `preprocessorMacros` writes it. */
- (std::string)text;
@end

NS_ASSUME_NONNULL_END

namespace stand_in {

/** Sets `*error`, if there is one, to an error with these words; returns nil for the caller to return. */
std::nullptr_t fail(NSError *_Nullable __autoreleasing *_Nullable error, NSString *_Nonnull domain, long code, const std::string &words,
                    NSDictionary *_Nullable more = nil);
/** A block that outlives the frame that made it. */
template <class Block>
Block _Nonnull on_heap(Block _Nonnull block) {
  return (__bridge_transfer Block)_Block_copy((__bridge void *)block);
}

NSString *_Nonnull string(const std::string &text);

}  // namespace stand_in
