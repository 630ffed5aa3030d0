/**
 * Pack and unpack functions (specification section 6.14, `metal_pack`). Conversions follow section 8.7.1: an unsigned
 * value of n bits is c / (2^n - 1), a signed one max(c / (2^(n-1) - 1), -1); back it is clamped, scaled and rounded to the
 * nearest integer, ties to even; a NaN gives 0. The first component lies in
 * the lowest bits; for 565 and 10a2 the specification does not say so.
 */
#pragma once

#include "common.h"

namespace lockstep {

LS_INLINE float unorm_to_float(uint bits, int width) {
  return static_cast<float>(bits & ((1u << width) - 1)) / static_cast<float>((1u << width) - 1);
}
LS_INLINE float snorm_to_float(uint bits, int width) {
  const int value = static_cast<int>(bits << (32 - width)) >> (32 - width);
  const float real = static_cast<float>(value) / static_cast<float>((1 << (width - 1)) - 1);
  return real < -1.0f ? -1.0f : real;
}
LS_INLINE uint float_to_unorm(float x, int width) {
  const float clamped = x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
  return static_cast<uint>(__builtin_rintf(clamped * static_cast<float>((1u << width) - 1)));
}
LS_INLINE uint float_to_snorm(float x, int width) {
  const float clamped = x > -1.0f ? (x < 1.0f ? x : 1.0f) : (x == x ? -1.0f : 0.0f);
  const int value = static_cast<int>(__builtin_rintf(clamped * static_cast<float>((1 << (width - 1)) - 1)));
  return static_cast<uint>(value) & ((1u << width) - 1);
}
/** The transfer function of sRGB and its inverse (section 8.7.7). */
LS_INLINE float srgb_to_linear(float c) {
  return c <= 0.04045f ? c / 12.92f : __builtin_powf((c + 0.055f) / 1.055f, 2.4f);
}
LS_INLINE float linear_to_srgb(float c) {
  const float x = c > 0.0f ? (c < 1.0f ? c : 1.0f) : 0.0f;
  return x < 0.0031308f ? x * 12.92f : 1.055f * __builtin_powf(x, 1.0f / 2.4f) - 0.055f;
}

/** Four components of `width` bits, or with a last one of two bits. */
template <typename V, int Width, bool Signed> LS_INLINE V unpack(uint bits) {
  V result;
  int shift = 0;
  for (int i = 0; i < width_v<V>; ++i) {
    const int width = Width == 10 && i == 3 ? 2 : Width;
    const float value = Signed ? snorm_to_float(bits >> shift, width) : unorm_to_float(bits >> shift, width);
    result.element(i) = static_cast<element_t<V>>(value);
    shift += width;
  }
  return result;
}
template <int Width, bool Signed, typename V> LS_INLINE uint pack(V values) {
  uint bits = 0;
  int shift = 0;
  for (int i = 0; i < width_v<V>; ++i) {
    const int width = Width == 10 && i == 3 ? 2 : Width;
    const float value = static_cast<float>(values.element(i));
    bits |= (Signed ? float_to_snorm(value, width) : float_to_unorm(value, width)) << shift;
    shift += width;
  }
  return bits;
}

} // namespace lockstep

namespace metal {

#define LS_PACK(real)                                                                                                  \
  LS_INLINE real##4 unpack_unorm4x8_to_##real(uint x) { return lockstep::unpack<real##4, 8, false>(x); }               \
  LS_INLINE real##4 unpack_snorm4x8_to_##real(uint x) { return lockstep::unpack<real##4, 8, true>(x); }                \
  LS_INLINE real##2 unpack_unorm2x16_to_##real(uint x) { return lockstep::unpack<real##2, 16, false>(x); }             \
  LS_INLINE real##2 unpack_snorm2x16_to_##real(uint x) { return lockstep::unpack<real##2, 16, true>(x); }              \
  LS_INLINE real##4 unpack_unorm10a2_to_##real(uint x) { return lockstep::unpack<real##4, 10, false>(x); }             \
  LS_INLINE real##4 unpack_snorm10a2_to_##real(uint x) { return lockstep::unpack<real##4, 10, true>(x); }              \
  LS_INLINE real##4 unpack_unorm4x8_srgb_to_##real(uint x) {                                                           \
    float4 c = lockstep::unpack<float4, 8, false>(x);                                                                  \
    for (int i = 0; i < 3; ++i) c.element(i) = lockstep::srgb_to_linear(c.element(i));                                 \
    return real##4(c);                                                                                                 \
  }                                                                                                                    \
  LS_INLINE real##3 unpack_unorm565_to_##real(ushort x) {                                                              \
    return real##3(float3(lockstep::unorm_to_float(x, 5), lockstep::unorm_to_float(x >> 5, 6),                         \
                          lockstep::unorm_to_float(x >> 11, 5)));                                                      \
  }                                                                                                                    \
  LS_INLINE uint pack_##real##_to_unorm4x8(real##4 x) { return lockstep::pack<8, false>(x); }                          \
  LS_INLINE uint pack_##real##_to_snorm4x8(real##4 x) { return lockstep::pack<8, true>(x); }                           \
  LS_INLINE uint pack_##real##_to_unorm2x16(real##2 x) { return lockstep::pack<16, false>(x); }                        \
  LS_INLINE uint pack_##real##_to_snorm2x16(real##2 x) { return lockstep::pack<16, true>(x); }                         \
  LS_INLINE uint pack_##real##_to_unorm10a2(real##4 x) { return lockstep::pack<10, false>(x); }                        \
  LS_INLINE uint pack_##real##_to_snorm10a2(real##4 x) { return lockstep::pack<10, true>(x); }                         \
  LS_INLINE uint pack_##real##_to_srgb_unorm4x8(real##4 x) {                                                           \
    float4 c(x);                                                                                                       \
    for (int i = 0; i < 3; ++i) c.element(i) = lockstep::linear_to_srgb(c.element(i));                                 \
    return lockstep::pack<8, false>(c);                                                                                \
  }                                                                                                                    \
  LS_INLINE ushort pack_##real##_to_unorm565(real##3 x) {                                                              \
    return static_cast<ushort>(lockstep::float_to_unorm(static_cast<float>(x.element(0)), 5) |                         \
                               lockstep::float_to_unorm(static_cast<float>(x.element(1)), 6) << 5 |                    \
                               lockstep::float_to_unorm(static_cast<float>(x.element(2)), 5) << 11);                   \
  }
LS_PACK(float)
LS_PACK(half)
#undef LS_PACK

} // namespace metal
