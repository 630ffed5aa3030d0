/**
 * Names under which Apple's own headers reach the simdgroup functions. MLX calls them directly to add bfloat overloads.
 */
#pragma once

#include "simdgroup.h"

LOCKSTEP_INTERNAL ushort __metal_get_simdgroup_size(ushort) { return LOCKSTEP_SIMD_WIDTH; }
LOCKSTEP_INTERNAL ushort __metal_get_thread_index_in_simdgroup(ushort) {
  return static_cast<ushort>(lockstep::current_lane());
}

#define LOCKSTEP_UNARY(name)                                                                                           \
  template <typename T> LOCKSTEP_INTERNAL T __metal_##name(T data) { return metal::name(data); }
LOCKSTEP_UNARY(simd_sum)
LOCKSTEP_UNARY(simd_product)
LOCKSTEP_UNARY(simd_max)
LOCKSTEP_UNARY(simd_min)
LOCKSTEP_UNARY(simd_and)
LOCKSTEP_UNARY(simd_or)
LOCKSTEP_UNARY(simd_xor)
LOCKSTEP_UNARY(simd_prefix_inclusive_sum)
LOCKSTEP_UNARY(simd_prefix_exclusive_sum)
LOCKSTEP_UNARY(simd_prefix_inclusive_product)
LOCKSTEP_UNARY(simd_prefix_exclusive_product)
LOCKSTEP_UNARY(simd_broadcast_first)
#undef LOCKSTEP_UNARY

#define LOCKSTEP_SHUFFLE(name)                                                                                         \
  template <typename T> LOCKSTEP_INTERNAL T __metal_##name(T data, ushort argument) { return metal::name(data, argument); }
LOCKSTEP_SHUFFLE(simd_shuffle)
LOCKSTEP_SHUFFLE(simd_shuffle_xor)
LOCKSTEP_SHUFFLE(simd_shuffle_up)
LOCKSTEP_SHUFFLE(simd_shuffle_down)
LOCKSTEP_SHUFFLE(simd_shuffle_rotate_up)
LOCKSTEP_SHUFFLE(simd_shuffle_rotate_down)
LOCKSTEP_SHUFFLE(simd_broadcast)
#undef LOCKSTEP_SHUFFLE

template <typename T> LOCKSTEP_INTERNAL T __metal_simd_shuffle_and_fill_up(T data, T filling, ushort delta, ushort modulo) {
  return metal::simd_shuffle_and_fill_up(data, filling, delta, modulo);
}
template <typename T> LOCKSTEP_INTERNAL T __metal_simd_shuffle_and_fill_down(T data, T filling, ushort delta, ushort modulo) {
  return metal::simd_shuffle_and_fill_down(data, filling, delta, modulo);
}
