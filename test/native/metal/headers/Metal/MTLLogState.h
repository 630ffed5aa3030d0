/* Stands for <Metal/MTLLogState.h>: all of macOS 15. */
#pragma once
#include <Foundation/Foundation.h>

#if __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, MTLLogLevel) {
  MTLLogLevelDebug = 1,
} API_AVAILABLE(macos(15.0));

API_AVAILABLE(macos(15.0))
@protocol MTLLogState <NSObject>
- (void)addLogHandler:(void (^)(NSString *_Nullable subSystem, NSString *_Nullable category, MTLLogLevel logLevel,
                                NSString *message))block;
@end

API_AVAILABLE(macos(15.0))
@interface MTLLogStateDescriptor : NSObject <NSCopying>
@property(nonatomic, assign) MTLLogLevel level;
@property(nonatomic, assign) NSInteger bufferSize;
@end

NS_ASSUME_NONNULL_END
#endif
