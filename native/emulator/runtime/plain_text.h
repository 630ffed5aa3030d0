/** Text built in a fixed buffer without allocation or the C library, for use in signal handlers. */
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

class PlainText {
public:
  PlainText(char *buffer, std::size_t size) : buffer_(buffer), size_(size) {
    if (size_ > 0) buffer_[0] = 0;
  }

  PlainText &add(const char *text) {
    for (; *text != 0 && length_ + 1 < size_; ++text) buffer_[length_++] = *text;
    if (size_ > 0) buffer_[length_] = 0;
    return *this;
  }

  /** With thousands separators: 8,372,224. */
  PlainText &number(std::int64_t value) {
    char digits[32];
    int at = sizeof digits;
    digits[--at] = 0;
    std::uint64_t rest = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    for (int n = 0; n == 0 || rest != 0; ++n, rest /= 10) {
      if (n != 0 && n % 3 == 0) digits[--at] = ',';
      digits[--at] = static_cast<char>('0' + rest % 10);
    }
    if (value < 0) digits[--at] = '-';
    return add(digits + at);
  }

  PlainText &hexadecimal(std::uintptr_t value) {
    char digits[24];
    int at = sizeof digits;
    digits[--at] = 0;
    do digits[--at] = "0123456789abcdef"[value & 15];
    while ((value >>= 4) != 0);
    return add("0x").add(digits + at);
  }

  PlainText &triple(const std::uint32_t value[3]) {
    add("(").number(value[0]).add(", ").number(value[1]).add(", ").number(value[2]);
    return add(")");
  }

private:
  char *buffer_;
  std::size_t size_;
  std::size_t length_ = 0;
};

} // namespace lockstep
