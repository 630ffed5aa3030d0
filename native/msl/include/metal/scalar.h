/** Scalar types of MSL (specification section 2.1) and the literals of half and bfloat. */
#pragma once

#include "address_space.h"

using half = _Float16;
using bfloat = __bf16;
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using size_t = __SIZE_TYPE__;
using ptrdiff_t = __PTRDIFF_TYPE__;
using uintptr_t = __UINTPTR_TYPE__;
using intptr_t = __INTPTR_TYPE__;
using int8_t = __INT8_TYPE__;
using int16_t = __INT16_TYPE__;
using int32_t = __INT32_TYPE__;
using int64_t = __INT64_TYPE__;
using uint8_t = __UINT8_TYPE__;
using uint16_t = __UINT16_TYPE__;
using uint32_t = __UINT32_TYPE__;
using uint64_t = __UINT64_TYPE__;

static_assert(sizeof(long) == 8, "MSL's long has 64 bits: compile for a 64-bit LP64 target");
static_assert(sizeof(1.0) == sizeof(float), "MSL has no double: compile with -Xclang -cl-single-precision-constant");
static_assert(static_cast<char>(-1) < 0, "MSL's char is signed: compile with -fsigned-char");

/**
 * `1.5h` is a half: clang takes this suffix as it is. The other suffixes of MSL it does not take; the front end writes
 * `1.5H` as `1.5h` and `1.5bf`, `1.5BF` as `1.5_bf`. The value is rounded once from what is written.
 */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wuser-defined-literals"
constexpr half operator""h(long double value) { return static_cast<half>(value); }
constexpr half operator""h(unsigned long long value) { return static_cast<half>(value); }
#pragma clang diagnostic pop
constexpr bfloat operator""_bf(long double value) { return static_cast<bfloat>(value); }
constexpr bfloat operator""_bf(unsigned long long value) { return static_cast<bfloat>(value); }

/**
 * Narrowing from float to bfloat, round to nearest even, NaN kept quiet. The compiler calls it by this name on x86
 * without AVX512-BF16; older compiler runtimes do not have it. Subnormal results are kept.
 */
extern "C" [[clang::sycl_external]] __attribute__((used, weak)) bfloat __truncsfbf2(float value) {
  const uint bits = __builtin_bit_cast(uint, value);
  const uint rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return __builtin_bit_cast(bfloat, static_cast<ushort>(nan ? (bits >> 16) | 0x40u : rounded >> 16));
}
