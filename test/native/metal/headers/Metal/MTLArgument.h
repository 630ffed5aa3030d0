/* Stands for <Metal/MTLArgument.h> and <Metal/MTLDataType.h>. */
#pragma once
#include <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

/* Sources pass values on as they are: by number. */
typedef NS_ENUM(NSUInteger, MTLDataType) {};

typedef NS_ENUM(NSInteger, MTLBindingType) {
  MTLBindingTypeBuffer = 0,
  MTLBindingTypeThreadgroupMemory = 1,
} API_AVAILABLE(macos(13.0));

typedef NS_ENUM(NSUInteger, MTLBindingAccess) {
  MTLBindingAccessReadOnly = 0,
  MTLBindingAccessReadWrite = 1,
} API_AVAILABLE(macos(13.0));

API_AVAILABLE(macos(13.0))
@protocol MTLBinding <NSObject>
@property(readonly) NSString *name;
@property(readonly) MTLBindingType type;
@property(readonly) MTLBindingAccess access;
@property(readonly) NSUInteger index;
@property(readonly, getter=isUsed) BOOL used;
@end

API_AVAILABLE(macos(13.0))
@protocol MTLBufferBinding <MTLBinding>
@property(readonly) NSUInteger bufferAlignment;
@property(readonly) NSUInteger bufferDataSize;
@end

API_AVAILABLE(macos(13.0))
@protocol MTLThreadgroupBinding <MTLBinding>
@property(readonly) NSUInteger threadgroupMemoryAlignment;
@property(readonly) NSUInteger threadgroupMemoryDataSize;
@end

NS_ASSUME_NONNULL_END
