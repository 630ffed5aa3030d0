#pragma once

#include <napi.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lockstep {

/// A whole number in [least, most] from JavaScript. Throws RangeError (TypeError where it is no number) naming it.
inline std::uint64_t whole_number(const Napi::Value& value, const std::string& name, std::uint64_t least,
                                  std::uint64_t most) {
  if (!value.IsNumber()) throw Napi::TypeError::New(value.Env(), name + " is not a number");
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!(number >= static_cast<double>(least) && number <= static_cast<double>(most)) || number != std::floor(number)) {
    throw Napi::RangeError::New(value.Env(), name + " is " + value.ToString().Utf8Value() +
                                                 "; it must be a whole number from " + std::to_string(least) + " to " +
                                                 std::to_string(most));
  }
  return static_cast<std::uint64_t>(number);
}

inline double finite_number(const Napi::Value& value, const std::string& name) {
  if (!value.IsNumber()) throw Napi::TypeError::New(value.Env(), name + " is not a number");
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!std::isfinite(number)) throw Napi::RangeError::New(value.Env(), name + " must be finite");
  return number;
}

inline Napi::Object object_argument(const Napi::Value& value, const std::string& name) {
  if (!value.IsObject()) throw Napi::TypeError::New(value.Env(), name + " must be an object");
  return value.As<Napi::Object>();
}

/// Throws RangeError unless [offset, offset + length) lies inside `bytes`.
inline void check_range(Napi::Env env, const std::string& what, std::uint64_t offset, std::uint64_t length,
                        std::uint64_t bytes) {
  if (offset > bytes || length > bytes - offset) {
    throw Napi::RangeError::New(env, what + " of " + std::to_string(length) + " bytes at offset " +
                                         std::to_string(offset) + " ends outside the buffer of " +
                                         std::to_string(bytes) + " bytes");
  }
}

constexpr std::uint64_t kMaxSafeInteger = (std::uint64_t{1} << 53) - 1;

}  // namespace lockstep
