/**
 * `std::initializer_list`, which the compiler fills from braces: pointer and count. Kernels need no C++ standard library,
 * and the compiler looks for this one name in it.
 */
#pragma once

namespace std {

template <typename T> class initializer_list {
  const T *first = nullptr;
  __SIZE_TYPE__ count = 0;

public:
  constexpr initializer_list() = default;
  constexpr __SIZE_TYPE__ size() const { return count; }
  constexpr const T *begin() const { return first; }
  constexpr const T *end() const { return first + count; }
};

} // namespace std
