#pragma once

#import <Foundation/Foundation.h>

#include <cstdint>
#include <string>

namespace lockstep::metal {

/// An NSError, word for word; or a refusal of our own, with the domain `lockstep`.
struct ErrorWords {
  std::string words;
  std::string domain;
  std::int64_t code = 0;
};

/// Empty for nil.
std::string to_string(NSString* text);
/// Empty where the bytes are no UTF-8.
NSString* to_ns_string(const std::string& text);

/// What an error says. `missing` stands for it where Metal gave none.
ErrorWords words_of(NSError* error, const std::string& missing);
ErrorWords own_words(const std::string& words, std::int64_t code = 0);

}  // namespace lockstep::metal
