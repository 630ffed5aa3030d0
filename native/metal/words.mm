#include "words.h"

namespace lockstep::metal {

std::string to_string(NSString* text) {
  const char* bytes = text == nil ? nullptr : text.UTF8String;
  return bytes == nullptr ? std::string() : std::string(bytes);
}

NSString* to_ns_string(const std::string& text) {
  NSString* made = [NSString stringWithUTF8String:text.c_str()];
  return made == nil ? @"" : made;
}

ErrorWords words_of(NSError* error, const std::string& missing) {
  if (error == nil) return own_words(missing);
  return {to_string(error.localizedDescription), to_string(error.domain), static_cast<std::int64_t>(error.code)};
}

ErrorWords own_words(const std::string& words, std::int64_t code) { return {words, "lockstep", code}; }

}  // namespace lockstep::metal
