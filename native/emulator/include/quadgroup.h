/**
 * Quadgroup functions (MSL specification section 6.9.3): the same operations over the four lanes of a quad. Built on an
 * exchange of the whole simdgroup, so a quad meets when its simdgroup does.
 */
#pragma once

#include "simdgroup.h"

namespace metal {

/** Which lanes of the quad said yes; the constructor drops what is above its four bits. */
class quad_vote {
public:
  using vote_t = uint;
  LOCKSTEP_INTERNAL explicit constexpr quad_vote(vote_t votes = 0) : votes_(votes & 0xfu) {}
  LOCKSTEP_INTERNAL explicit constexpr operator vote_t() const { return votes_; }
  LOCKSTEP_INTERNAL constexpr bool all() const { return votes_ == 0xfu; }
  LOCKSTEP_INTERNAL constexpr bool any() const { return votes_ != 0; }

private:
  vote_t votes_;
};

} // namespace metal

namespace lockstep {

/** The lane's index in its quad, and the first lane of the quad. */
LOCKSTEP_INTERNAL uint32_t quad_lane() { return current_lane() & 3u; }
LOCKSTEP_INTERNAL uint32_t quad_first() { return current_lane() & ~3u; }
/** The active lanes of the quad, as four bits. Valid after a rendezvous. */
LOCKSTEP_INTERNAL uint32_t quad_active() { return current_simdgroup().active >> quad_first() & 0xfu; }

/** The four values of the quad. */
template <typename T> LOCKSTEP_INTERNAL const T *quad_exchange(const void *site, T value) {
  return exchange(site, value) + quad_first();
}

} // namespace lockstep

namespace metal {

#define LOCKSTEP_REDUCTION(name, Operation)                                                                            \
  template <lockstep::scalar T> LOCKSTEP_COLLECTIVE T name(T value) {                                                  \
    const T *values = lockstep::quad_exchange(LOCKSTEP_SITE(), value);                                                 \
    return lockstep::reduce_active<T, lockstep::Operation>(values, lockstep::quad_active(), 4);                        \
  }                                                                                                                    \
  template <typename T, int N> LOCKSTEP_INTERNAL vec<T, N> name(vec<T, N> value) {                                     \
    for (int i = 0; i < N; ++i) value[i] = name(static_cast<T>(value[i]));                                             \
    return value;                                                                                                      \
  }

LOCKSTEP_REDUCTION(quad_sum, Sum)
LOCKSTEP_REDUCTION(quad_product, Product)
LOCKSTEP_REDUCTION(quad_max, Maximum)
LOCKSTEP_REDUCTION(quad_min, Minimum)
LOCKSTEP_REDUCTION(quad_and, And)
LOCKSTEP_REDUCTION(quad_or, Or)
LOCKSTEP_REDUCTION(quad_xor, Xor)
#undef LOCKSTEP_REDUCTION

/** A scan over the active lanes of the quad: `exclusive` leaves the lane's own value out and starts from `identity`. */
#define LOCKSTEP_SCAN(name, Operation, exclusive, identity)                                                            \
  template <lockstep::scalar T> LOCKSTEP_COLLECTIVE T name(T value) {                                                  \
    const T *values = lockstep::quad_exchange(LOCKSTEP_SITE(), value);                                                 \
    const uint own = lockstep::quad_lane();                                                                            \
    const uint active = lockstep::quad_active();                                                                       \
    T running = static_cast<T>(identity);                                                                              \
    for (uint lane = 0; lane < own + (exclusive ? 0u : 1u); ++lane) {                                                  \
      if (active >> lane & 1u) running = lockstep::combined<T, lockstep::Operation>(running, values[lane]);            \
    }                                                                                                                  \
    return running;                                                                                                    \
  }                                                                                                                    \
  template <typename T, int N> LOCKSTEP_INTERNAL vec<T, N> name(vec<T, N> value) {                                     \
    for (int i = 0; i < N; ++i) value[i] = name(static_cast<T>(value[i]));                                             \
    return value;                                                                                                      \
  }

LOCKSTEP_SCAN(quad_prefix_inclusive_sum, Sum, false, 0)
LOCKSTEP_SCAN(quad_prefix_exclusive_sum, Sum, true, 0)
LOCKSTEP_SCAN(quad_prefix_inclusive_product, Product, false, 1)
LOCKSTEP_SCAN(quad_prefix_exclusive_product, Product, true, 1)
#undef LOCKSTEP_SCAN

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T quad_shuffle(T data, ushort lane) {
  const T *values = lockstep::quad_exchange(LOCKSTEP_SITE(), data);
  return lane < 4 ? values[lane] : T(0);
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T quad_shuffle_xor(T data, ushort mask) {
  const T *values = lockstep::quad_exchange(LOCKSTEP_SITE(), data);
  const uint source = lockstep::quad_lane() ^ mask;
  return source < 4 ? values[source] : T(0);
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T quad_shuffle_up(T data, ushort delta) {
  const T *values = lockstep::quad_exchange(LOCKSTEP_SITE(), data);
  const uint lane = lockstep::quad_lane();
  return values[lane >= delta ? lane - delta : lane];
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T quad_shuffle_down(T data, ushort delta) {
  const T *values = lockstep::quad_exchange(LOCKSTEP_SITE(), data);
  const uint lane = lockstep::quad_lane();
  return values[lane + delta < 4 ? lane + delta : lane];
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T quad_shuffle_rotate_up(T data, ushort delta) {
  return lockstep::quad_exchange(LOCKSTEP_SITE(), data)[(lockstep::quad_lane() - delta) & 3u];
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T quad_shuffle_rotate_down(T data, ushort delta) {
  return lockstep::quad_exchange(LOCKSTEP_SITE(), data)[(lockstep::quad_lane() + delta) & 3u];
}

template <lockstep::exchanged T>
LOCKSTEP_COLLECTIVE T quad_shuffle_and_fill_up(T data, T filling, ushort delta, ushort modulo = 4) {
  const uint lane = lockstep::quad_lane();
  const uint group = lane & ~(modulo - 1u);
  const uint source = group + ((lane - delta) & (modulo - 1u));
  const T moved = lockstep::quad_exchange(LOCKSTEP_SITE(), data)[source];
  const T filled = lockstep::quad_exchange(LOCKSTEP_SITE(), filling)[source];
  return lane - group >= delta ? moved : filled;
}

template <lockstep::exchanged T>
LOCKSTEP_COLLECTIVE T quad_shuffle_and_fill_down(T data, T filling, ushort delta, ushort modulo = 4) {
  const uint lane = lockstep::quad_lane();
  const uint group = lane & ~(modulo - 1u);
  const uint source = group + ((lane + delta) & (modulo - 1u));
  const T moved = lockstep::quad_exchange(LOCKSTEP_SITE(), data)[source];
  const T filled = lockstep::quad_exchange(LOCKSTEP_SITE(), filling)[source];
  return lane - group + delta < modulo ? moved : filled;
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T quad_broadcast(T data, ushort lane) {
  const T *values = lockstep::quad_exchange(LOCKSTEP_SITE(), data);
  return lane < 4 ? values[lane] : T(0);
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T quad_broadcast_first(T data) {
  const T *values = lockstep::quad_exchange(LOCKSTEP_SITE(), data);
  return values[__builtin_ctz(lockstep::quad_active())];
}

/** Vectors of 32 bytes (long3, long4 and their like) are exchanged component by component. */
#define LOCKSTEP_WIDE(name, parameters, arguments)                                                                     \
  template <lockstep::wide V> LOCKSTEP_INTERNAL V name(V data LOCKSTEP_LIST parameters) {                              \
    for (int i = 0; i < lockstep::width_v<V>; ++i) data[i] = name(lockstep::lane(data, i) LOCKSTEP_LIST arguments);    \
    return data;                                                                                                       \
  }
#define LOCKSTEP_LIST(...) __VA_OPT__(, ) __VA_ARGS__
LOCKSTEP_WIDE(quad_shuffle, (ushort argument), (argument))
LOCKSTEP_WIDE(quad_shuffle_xor, (ushort argument), (argument))
LOCKSTEP_WIDE(quad_shuffle_up, (ushort argument), (argument))
LOCKSTEP_WIDE(quad_shuffle_down, (ushort argument), (argument))
LOCKSTEP_WIDE(quad_shuffle_rotate_up, (ushort argument), (argument))
LOCKSTEP_WIDE(quad_shuffle_rotate_down, (ushort argument), (argument))
LOCKSTEP_WIDE(quad_broadcast, (ushort argument), (argument))
LOCKSTEP_WIDE(quad_broadcast_first, (), ())
#undef LOCKSTEP_WIDE
#undef LOCKSTEP_LIST

#define LOCKSTEP_WIDE_FILL(name)                                                                                       \
  template <lockstep::wide V> LOCKSTEP_INTERNAL V name(V data, V filling, ushort delta, ushort modulo = 4) {                     \
    for (int i = 0; i < lockstep::width_v<V>; ++i) {                                                                   \
      data[i] = name(lockstep::lane(data, i), lockstep::lane(filling, i), delta, modulo);                              \
    }                                                                                                                  \
    return data;                                                                                                       \
  }
LOCKSTEP_WIDE_FILL(quad_shuffle_and_fill_up)
LOCKSTEP_WIDE_FILL(quad_shuffle_and_fill_down)
#undef LOCKSTEP_WIDE_FILL

LOCKSTEP_COLLECTIVE quad_vote quad_ballot(bool vote) {
  return quad_vote(lockstep::ballot(LOCKSTEP_SITE(), vote) >> lockstep::quad_first() & 0xfu);
}
LOCKSTEP_COLLECTIVE quad_vote quad_active_threads_mask() {
  return quad_vote(lockstep::ballot(LOCKSTEP_SITE(), true) >> lockstep::quad_first() & 0xfu);
}
LOCKSTEP_COLLECTIVE bool quad_any(bool vote) {
  return (lockstep::ballot(LOCKSTEP_SITE(), vote) >> lockstep::quad_first() & 0xfu) != 0;
}
LOCKSTEP_COLLECTIVE bool quad_all(bool vote) {
  return (lockstep::ballot(LOCKSTEP_SITE(), !vote) >> lockstep::quad_first() & 0xfu) == 0;
}
/** A kernel has no helper threads: they belong to fragment functions. */
LOCKSTEP_INTERNAL constexpr bool quad_is_helper_thread() { return false; }
LOCKSTEP_COLLECTIVE bool quad_is_first() {
  const uint active = lockstep::ballot(LOCKSTEP_SITE(), true) >> lockstep::quad_first() & 0xfu;
  return static_cast<uint>(__builtin_ctz(active)) == lockstep::quad_lane();
}

} // namespace metal
