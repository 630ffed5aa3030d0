// STAND-IN for tests: the root class.
#import "foundation.h"

using stand_in::Object;

static Object *object_of(id pointer) { return (__bridge Object *)pointer; }

@implementation NSObject
+ (instancetype)alloc {
  return (__bridge_transfer id)(void *)stand_in::create((stand_in::ClassRecord *)(__bridge void *)self);
}

+ (instancetype)new {
  return [[self alloc] init];
}

- (instancetype)init {
  return self;
}

- (void)dealloc {
  stand_in::destroy(object_of(self));
}

- (BOOL)respondsToSelector:(SEL)selector {
  return stand_in::find_method(object_of(self)->isa, ((const stand_in::Selector *)(const void *)selector)->name) != nullptr;
}

- (BOOL)isEqual:(id)other {
  return self == other;
}

- (NSUInteger)hash {
  return (NSUInteger)(__bridge void *)self;
}

- (NSString *)description {
  return stand_in::string(std::string("<") + object_of(self)->isa->name + ">");
}

// Everything here that can be copied is immutable, or copies itself.
- (id)copy {
  return self;
}
@end

@implementation NSProcessInfo
+ (NSProcessInfo *)processInfo {
  static NSProcessInfo *instance = [NSProcessInfo new];
  return instance;
}
@end
