/**
 * Simdgroup functions (MSL specification section 6.9.2): reductions, scans, shuffles, votes. A vector is exchanged as a
 * whole and reduced component by component.
 *
 * Where the specification leaves a result open it is defined here: an inactive lane reads as 0 in every shuffle and
 * broadcast, an index or xor mask of 32 or more gives 0, and the lanes that a shuffle up or down would fetch from outside
 * keep their own value.
 */
#pragma once

#include "reduce.h"

namespace lockstep {

/** What a lane brings to an exchange as a whole, and what is exchanged by component. */
template <typename T> concept exchanged = numeric<T> && sizeof(T) <= 16;
template <typename T> concept wide = vector<T> && (sizeof(T) > 16);

} // namespace lockstep

namespace metal {

/** Which lanes said yes. */
class simd_vote {
public:
  using vote_t = ulong;
  LOCKSTEP_INTERNAL explicit constexpr simd_vote(vote_t votes = 0) : votes_(votes) {}
  LOCKSTEP_INTERNAL explicit constexpr operator vote_t() const { return votes_; }
  /** True if every bit of the simdgroup's 32 is set. */
  LOCKSTEP_INTERNAL constexpr bool all() const { return votes_ == 0xffffffffu; }
  LOCKSTEP_INTERNAL constexpr bool any() const { return votes_ != 0; }

private:
  vote_t votes_;
};

/** Defines a reduction for scalars and, by component, for vectors. */
#define LOCKSTEP_REDUCTION(name, Operation)                                                                            \
  template <lockstep::scalar T> LOCKSTEP_COLLECTIVE T name(T value) {                                                  \
    return lockstep::reduce<T, lockstep::Operation>(LOCKSTEP_SITE(), value);                                           \
  }                                                                                                                    \
  template <typename T, int N> LOCKSTEP_COLLECTIVE vec<T, N> name(vec<T, N> value) {                                   \
    if constexpr (sizeof(value) <= 16) {                                                                               \
      return lockstep::reduce_vector<vec<T, N>, T, N, lockstep::Operation>(LOCKSTEP_SITE(), value);                    \
    } else {                                                                                                           \
      for (int i = 0; i < N; ++i) value[i] = name(static_cast<T>(value[i]));                                           \
      return value;                                                                                                    \
    }                                                                                                                  \
  }

LOCKSTEP_REDUCTION(simd_sum, Sum)
LOCKSTEP_REDUCTION(simd_product, Product)
LOCKSTEP_REDUCTION(simd_max, Maximum)
LOCKSTEP_REDUCTION(simd_min, Minimum)
LOCKSTEP_REDUCTION(simd_and, And)
LOCKSTEP_REDUCTION(simd_or, Or)
LOCKSTEP_REDUCTION(simd_xor, Xor)
#undef LOCKSTEP_REDUCTION

/** Defines a scan for scalars and, by component, for vectors. */
#define LOCKSTEP_SCAN(name, ...)                                                                                       \
  template <lockstep::scalar T> LOCKSTEP_COLLECTIVE T name(T value) {                                                  \
    const T *results = lockstep::collective<T, lockstep::__VA_ARGS__>(LOCKSTEP_SITE(), value);                         \
    return results[lockstep::current_lane()];                                                                          \
  }                                                                                                                    \
  template <typename T, int N> LOCKSTEP_INTERNAL vec<T, N> name(vec<T, N> value) {                                     \
    for (int i = 0; i < N; ++i) value[i] = name(static_cast<T>(value[i]));                                             \
    return value;                                                                                                      \
  }

LOCKSTEP_SCAN(simd_prefix_inclusive_sum, CompleteInclusiveScan<T, lockstep::Sum>)
LOCKSTEP_SCAN(simd_prefix_inclusive_product, CompleteInclusiveScan<T, lockstep::Product>)
LOCKSTEP_SCAN(simd_prefix_exclusive_sum, CompleteExclusiveScan<T, lockstep::Sum, 0>)
LOCKSTEP_SCAN(simd_prefix_exclusive_product, CompleteExclusiveScan<T, lockstep::Product, 1>)
#undef LOCKSTEP_SCAN

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T simd_shuffle(T data, ushort lane) {
  const T *results = lockstep::exchange(LOCKSTEP_SITE(), data);
  return lane < LOCKSTEP_SIMD_WIDTH ? results[lane] : T(0);
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T simd_shuffle_xor(T data, ushort mask) {
  const T *results = lockstep::exchange(LOCKSTEP_SITE(), data);
  const uint source = lockstep::current_lane() ^ mask;
  return source < LOCKSTEP_SIMD_WIDTH ? results[source] : T(0);
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T simd_shuffle_up(T data, ushort delta) {
  const T *results = lockstep::exchange(LOCKSTEP_SITE(), data);
  const uint lane = lockstep::current_lane();
  return results[lane >= delta ? lane - delta : lane];
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T simd_shuffle_down(T data, ushort delta) {
  const T *results = lockstep::exchange(LOCKSTEP_SITE(), data);
  const uint lane = lockstep::current_lane();
  return results[lane + delta < LOCKSTEP_SIMD_WIDTH ? lane + delta : lane];
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T simd_shuffle_rotate_up(T data, ushort delta) {
  const T *results = lockstep::exchange(LOCKSTEP_SITE(), data);
  return results[(lockstep::current_lane() - delta) % LOCKSTEP_SIMD_WIDTH];
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T simd_shuffle_rotate_down(T data, ushort delta) {
  const T *results = lockstep::exchange(LOCKSTEP_SITE(), data);
  return results[(lockstep::current_lane() + delta) % LOCKSTEP_SIMD_WIDTH];
}

/** Within groups of `modulo` lanes; the lowest `delta` of each take the highest `delta` of `filling`. */
template <lockstep::exchanged T>
LOCKSTEP_COLLECTIVE T simd_shuffle_and_fill_up(T data, T filling, ushort delta, ushort modulo = LOCKSTEP_SIMD_WIDTH) {
  const uint lane = lockstep::current_lane();
  const uint group = lane & ~(modulo - 1u);
  const uint source = group + ((lane - delta) & (modulo - 1u));
  const T moved = lockstep::exchange(LOCKSTEP_SITE(), data)[source];
  const T filled = lockstep::exchange(LOCKSTEP_SITE(), filling)[source];
  return lane - group >= delta ? moved : filled;
}

/** Within groups of `modulo` lanes; the highest `delta` of each take the lowest `delta` of `filling`. */
template <lockstep::exchanged T>
LOCKSTEP_COLLECTIVE T simd_shuffle_and_fill_down(T data, T filling, ushort delta, ushort modulo = LOCKSTEP_SIMD_WIDTH) {
  const uint lane = lockstep::current_lane();
  const uint group = lane & ~(modulo - 1u);
  const uint source = group + ((lane + delta) & (modulo - 1u));
  const T moved = lockstep::exchange(LOCKSTEP_SITE(), data)[source];
  const T filled = lockstep::exchange(LOCKSTEP_SITE(), filling)[source];
  return lane - group + delta < modulo ? moved : filled;
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T simd_broadcast(T data, ushort lane) {
  const T *results = lockstep::exchange(LOCKSTEP_SITE(), data);
  return lane < LOCKSTEP_SIMD_WIDTH ? results[lane] : T(0);
}

template <lockstep::exchanged T> LOCKSTEP_COLLECTIVE T simd_broadcast_first(T data) {
  const T *results = lockstep::exchange(LOCKSTEP_SITE(), data);
  return results[__builtin_ctz(lockstep::current_simdgroup().active)];
}

/** Vectors of 32 bytes (long3, long4 and their like) are exchanged component by component. */
#define LOCKSTEP_WIDE(name, parameters, arguments)                                                                     \
  template <lockstep::wide V> LOCKSTEP_INTERNAL V name(V data LOCKSTEP_LIST parameters) {                              \
    for (int i = 0; i < lockstep::width_v<V>; ++i) data[i] = name(lockstep::lane(data, i) LOCKSTEP_LIST arguments);    \
    return data;                                                                                                       \
  }
#define LOCKSTEP_LIST(...) __VA_OPT__(, ) __VA_ARGS__
LOCKSTEP_WIDE(simd_shuffle, (ushort argument), (argument))
LOCKSTEP_WIDE(simd_shuffle_xor, (ushort argument), (argument))
LOCKSTEP_WIDE(simd_shuffle_up, (ushort argument), (argument))
LOCKSTEP_WIDE(simd_shuffle_down, (ushort argument), (argument))
LOCKSTEP_WIDE(simd_shuffle_rotate_up, (ushort argument), (argument))
LOCKSTEP_WIDE(simd_shuffle_rotate_down, (ushort argument), (argument))
LOCKSTEP_WIDE(simd_broadcast, (ushort argument), (argument))
LOCKSTEP_WIDE(simd_broadcast_first, (), ())
#undef LOCKSTEP_WIDE
#undef LOCKSTEP_LIST

#define LOCKSTEP_WIDE_FILL(name)                                                                                       \
  template <lockstep::wide V> LOCKSTEP_INTERNAL V name(V data, V filling, ushort delta, ushort modulo = LOCKSTEP_SIMD_WIDTH) {   \
    for (int i = 0; i < lockstep::width_v<V>; ++i) {                                                                   \
      data[i] = name(lockstep::lane(data, i), lockstep::lane(filling, i), delta, modulo);                              \
    }                                                                                                                  \
    return data;                                                                                                       \
  }
LOCKSTEP_WIDE_FILL(simd_shuffle_and_fill_up)
LOCKSTEP_WIDE_FILL(simd_shuffle_and_fill_down)
#undef LOCKSTEP_WIDE_FILL

} // namespace metal

namespace lockstep {

/** The lanes that said yes among those that are active. */
LOCKSTEP_INTERNAL uint32_t ballot(const void *site, bool vote) {
  Simdgroup &group = current_simdgroup();
  const uint32_t bit = lockstep_current->bit;
  group.votes = vote ? group.votes | bit : group.votes & ~bit;
  rendezvous(site, [](Simdgroup &met, uint32_t active) __attribute__((always_inline, LOCKSTEP_UNSEEN)) {
    lane_results<uint32_t>(met)[0] = met.votes & active;
  });
  return lane_results<uint32_t>(current_simdgroup())[0];
}

} // namespace lockstep

namespace metal {

LOCKSTEP_COLLECTIVE simd_vote simd_ballot(bool vote) { return simd_vote(lockstep::ballot(LOCKSTEP_SITE(), vote)); }
LOCKSTEP_COLLECTIVE simd_vote simd_active_threads_mask() { return simd_vote(lockstep::ballot(LOCKSTEP_SITE(), true)); }
LOCKSTEP_COLLECTIVE bool simd_any(bool vote) { return lockstep::ballot(LOCKSTEP_SITE(), vote) != 0; }
LOCKSTEP_COLLECTIVE bool simd_all(bool vote) { return lockstep::ballot(LOCKSTEP_SITE(), !vote) == 0; }
/** A kernel has no helper threads: they belong to fragment functions. */
LOCKSTEP_INTERNAL constexpr bool simd_is_helper_thread() { return false; }
LOCKSTEP_COLLECTIVE bool simd_is_first() {
  return static_cast<uint>(__builtin_ctz(lockstep::ballot(LOCKSTEP_SITE(), true))) == lockstep::current_lane();
}

} // namespace metal
