// STAND-IN for tests: strings, numbers, data, errors and URLs.
#include <cstring>

#import "foundation.h"

/** The strings that are made at run time. */
@interface StandInString : NSString
@end

@implementation NSString
@dynamic length, UTF8String;

+ (instancetype)alloc {
  if (self == [NSString class]) return (NSString *)[StandInString alloc];
  return [super alloc];
}

+ (Class)class {
  return self;
}

+ (instancetype)stringWithUTF8String:(const char *)text {
  return [[NSString alloc] initWithBytes:text length:std::strlen(text) encoding:NSUTF8StringEncoding];
}

- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding {
  stand_in::die("an abstract string was made");
}

- (NSUInteger)length {
  return [self text].size();
}

- (std::string)text {
  stand_in::die("an abstract string was read");
}

- (BOOL)isEqualToString:(NSString *)other {
  return other != nil && [self text] == [other text];
}

- (BOOL)isEqual:(id)other {
  return [other respondsToSelector:@selector(isEqualToString:)] && [self isEqualToString:other];
}

- (NSUInteger)hash {
  return std::hash<std::string>()([self text]);
}

- (NSString *)description {
  return self;
}
@end

@implementation StandInString {
  std::string value;
}

static bool is_utf8(const std::string &text) {
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char lead = text[i++];
    int more = lead < 0x80 ? 0 : lead >= 0xc2 && lead < 0xe0 ? 1 : lead >= 0xe0 && lead < 0xf0 ? 2 : lead >= 0xf0 && lead < 0xf5 ? 3 : -1;
    if (more < 0) return false;
    for (; more > 0; --more, ++i) {
      if (i >= text.size() || (text[i] & 0xc0) != 0x80) return false;
    }
  }
  return true;
}

- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding {
  value.assign(static_cast<const char *>(bytes), length);
  if (encoding != NSUTF8StringEncoding) stand_in::die("a string in encoding %lu", encoding);
  return is_utf8(value) ? self : nil;
}

- (const char *)UTF8String {
  return value.c_str();
}

- (std::string)text {
  return value;
}
@end

/** The layout that the compiler gives to @"...". */
@implementation NSConstantString {
  const char *value;
  unsigned size;
}

- (const char *)UTF8String {
  return value;
}

- (std::string)text {
  return std::string(value, size);
}
@end

@implementation NSValue
@end

@implementation NSNumber {
  long long value;
}

+ (NSNumber *)numberWithLongLong:(long long)value {
  NSNumber *number = [NSNumber new];
  number->value = value;
  return number;
}
- (long long)longLongValue {
  return value;
}
- (std::string)text {
  return std::to_string(value);
}
- (BOOL)isEqual:(id)other {
  return [other respondsToSelector:@selector(longLongValue)] && [other longLongValue] == value;
}
- (NSUInteger)hash {
  return (NSUInteger)value;
}
@end

@implementation NSData {
  std::vector<unsigned char> content;
}
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length {
  NSData *data = [NSData new];
  const auto *first = static_cast<const unsigned char *>(bytes);
  data->content.assign(first, first + length);
  return data;
}
- (NSUInteger)length {
  return content.size();
}
- (const void *)bytes {
  return content.data();
}
@end

@implementation NSURL {
  std::string path;
}
+ (NSURL *)fileURLWithPath:(NSString *)path {
  NSURL *url = [NSURL new];
  url->path = [path text];
  return url;
}
- (std::string)filePath {
  return path;
}
@end

@implementation NSError {
  NSErrorDomain _domain;
  NSInteger _code;
  NSDictionary *_userInfo;
}
+ (instancetype)errorWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary *)userInfo {
  NSError *error = [NSError new];
  error->_domain = domain;
  error->_code = code;
  error->_userInfo = userInfo == nil ? @{} : userInfo;
  return error;
}
- (NSErrorDomain)domain {
  return _domain;
}
- (NSInteger)code {
  return _code;
}
- (NSDictionary *)userInfo {
  return _userInfo;
}
- (NSString *)localizedDescription {
  NSString *words = _userInfo[@"NSLocalizedDescription"];
  return words == nil ? stand_in::string("The operation couldn't be completed.") : words;
}
@end

namespace stand_in {

NSString *string(const std::string &text) {
  return [[NSString alloc] initWithBytes:text.data() length:text.size() encoding:NSUTF8StringEncoding];
}

std::nullptr_t fail(NSError *__autoreleasing *error, NSString *domain, long code, const std::string &words, NSDictionary *more) {
  if (error == nullptr) return nil;
  NSMutableDictionary *info = [NSMutableDictionary new];
  for (id key in more) info[key] = more[key];
  info[@"NSLocalizedDescription"] = string(words);
  *error = [NSError errorWithDomain:domain code:code userInfo:info];
  return nil;
}

}  // namespace stand_in
