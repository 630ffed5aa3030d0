/**
 * Reductions over the lanes of a simdgroup.
 *
 * `simd_sum` is an xor butterfly in mask order 1, 2, 4, 8, 16, rounded to the element type at every step (2048 + 31 x 1
 * in half is 2078). Addition commutes, so with all lanes active the butterfly gives every lane the same value and one
 * tree serves all. Lanes that are not active are left out of the tree: a step whose partner half is empty keeps its value.
 */
#pragma once

#include "element.h"
#include "rendezvous.h"

namespace lockstep {

struct Sum {
  template <typename V> LOCKSTEP_INTERNAL V operator()(V a, V b) const { return a + b; }
};
struct Product {
  template <typename V> LOCKSTEP_INTERNAL V operator()(V a, V b) const { return a * b; }
};
/** A NaN loses against a number, as in `fmax`. */
struct Maximum {
  template <typename V> LOCKSTEP_INTERNAL V operator()(V a, V b) const { return ((a < b) | (a != a)) ? b : a; }
};
struct Minimum {
  template <typename V> LOCKSTEP_INTERNAL V operator()(V a, V b) const { return ((b < a) | (a != a)) ? b : a; }
};
/**
 * Bitwise operations are defined for integers. Kernels also instantiate them for floating-point types (MLX defines
 * `simd_xor` of every type); then they work on the bits of the float.
 */
template <typename Operation, typename V> LOCKSTEP_INTERNAL V on_bits(V a, V b) {
  using Bits = typename bits_of<V>::type;
  return __builtin_bit_cast(V, Operation{}(__builtin_bit_cast(Bits, a), __builtin_bit_cast(Bits, b)));
}
struct And {
  template <typename V> LOCKSTEP_INTERNAL V operator()(V a, V b) const {
    if constexpr (requires { a & b; }) return a & b;
    else return on_bits<And>(a, b);
  }
};
struct Or {
  template <typename V> LOCKSTEP_INTERNAL V operator()(V a, V b) const {
    if constexpr (requires { a | b; }) return a | b;
    else return on_bits<Or>(a, b);
  }
};
struct Xor {
  template <typename V> LOCKSTEP_INTERNAL V operator()(V a, V b) const {
    if constexpr (requires { a ^ b; }) return a ^ b;
    else return on_bits<Xor>(a, b);
  }
};

/** One step of the butterfly on 2N values: neighbours combined and rounded to `T`. */
template <typename T, int N, typename Operation>
LOCKSTEP_INTERNAL row_t<compute_t<T>, N> butterfly_step(row_t<compute_t<T>, N> even, row_t<compute_t<T>, N> odd) {
  return rounded<T, N>(Operation{}(even, odd));
}

/** Two values of `T`, combined and rounded. */
template <typename T, typename Operation> LOCKSTEP_INTERNAL T combined(T a, T b) {
  using C = compute_t<T>;
  return static_cast<T>(Operation{}(static_cast<C>(a), static_cast<C>(b)));
}

/** The tree over all 32 values. */
template <typename T, typename Operation> LOCKSTEP_INTERNAL T reduce_all(const T *values) {
  const auto v32 = load_row<32>(values);
  const auto v16 = butterfly_step<T, 16, Operation>(
      __builtin_shufflevector(v32, v32, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
      __builtin_shufflevector(v32, v32, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31));
  const auto v8 = butterfly_step<T, 8, Operation>(__builtin_shufflevector(v16, v16, 0, 2, 4, 6, 8, 10, 12, 14),
                                                  __builtin_shufflevector(v16, v16, 1, 3, 5, 7, 9, 11, 13, 15));
  const auto v4 = butterfly_step<T, 4, Operation>(__builtin_shufflevector(v8, v8, 0, 2, 4, 6),
                                                  __builtin_shufflevector(v8, v8, 1, 3, 5, 7));
  const auto v2 = butterfly_step<T, 2, Operation>(__builtin_shufflevector(v4, v4, 0, 2), __builtin_shufflevector(v4, v4, 1, 3));
  using C = compute_t<T>;
  return static_cast<T>(Operation{}(static_cast<C>(v2[0]), static_cast<C>(v2[1])));
}

/** The tree over the values of the active lanes of `COUNT` lanes from `first` on. `active` is not empty. */
template <typename T, typename Operation>
inline __attribute__((LOCKSTEP_UNSEEN)) T reduce_active(const T *values, uint32_t active, int count) {
  T partial[LOCKSTEP_SIMD_WIDTH];
  bool present[LOCKSTEP_SIMD_WIDTH];
  for (int i = 0; i < count; ++i) {
    partial[i] = values[i];
    present[i] = (active >> i & 1u) != 0;
  }
  for (int mask = 1; mask < count; mask *= 2) {
    for (int i = 0; i < count; i += 2 * mask) {
      const int partner = i + mask;
      if (present[i] && present[partner]) {
        partial[i] = combined<T, Operation>(partial[i], partial[partner]);
      } else if (present[partner]) {
        partial[i] = partial[partner];
        present[i] = true;
      }
    }
  }
  return partial[0];
}

/** Completes a reduction: one result for all active lanes, in `results[0]`. */
template <typename T, typename Operation> struct CompleteReduction {
  LOCKSTEP_INTERNAL void operator()(Simdgroup &group, uint32_t active) const {
    const T *values = lane_values<T>(group);
    lane_results<T>(group)[0] =
        __builtin_expect(active == ~0u, 1) ? reduce_all<T, Operation>(values) : reduce_active<T, Operation>(values, active, 32);
  }
};

/** Completes an inclusive scan over the active lanes in lane order. */
template <typename T, typename Operation> struct CompleteInclusiveScan {
  LOCKSTEP_INTERNAL void operator()(Simdgroup &group, uint32_t active) const {
    const T *values = lane_values<T>(group);
    T *results = lane_results<T>(group);
    bool first = true;
    T running{};
    for (uint32_t lane = 0; lane < LOCKSTEP_SIMD_WIDTH; ++lane) {
      if (active >> lane & 1u) {
        running = first ? values[lane] : combined<T, Operation>(running, values[lane]);
        first = false;
        results[lane] = running;
      }
    }
  }
};

/** Completes an exclusive scan: a lane gets what the active lanes before it combine to, the first one the identity. */
template <typename T, typename Operation, int Identity> struct CompleteExclusiveScan {
  LOCKSTEP_INTERNAL void operator()(Simdgroup &group, uint32_t active) const {
    const T *values = lane_values<T>(group);
    T *results = lane_results<T>(group);
    T running = static_cast<T>(Identity);
    for (uint32_t lane = 0; lane < LOCKSTEP_SIMD_WIDTH; ++lane) {
      if (active >> lane & 1u) {
        const T value = values[lane];
        results[lane] = running;
        running = combined<T, Operation>(running, value);
      }
    }
  }
};

/** Completes an exchange: every lane may read what any active lane brought; an inactive lane reads as zero. */
template <typename T> struct CompleteExchange {
  LOCKSTEP_INTERNAL void operator()(Simdgroup &group, uint32_t active) const {
    const T *values = lane_values<T>(group);
    T *results = lane_results<T>(group);
    if (__builtin_expect(active == ~0u, 1)) {
      __builtin_memcpy(results, values, LOCKSTEP_SIMD_WIDTH * sizeof(T));
      return;
    }
    for (uint32_t lane = 0; lane < LOCKSTEP_SIMD_WIDTH; ++lane) {
      if (active >> lane & 1u) {
        results[lane] = values[lane];
      } else {
        __builtin_memset(static_cast<void *>(results + lane), 0, sizeof(T));
      }
    }
  }
};

#if LOCKSTEP_CHECKS
/** Shows a value that is brought to a collective to the flavours that look at it. */
template <typename T> LOCKSTEP_INTERNAL void look_at_value(const void *site, T value) {
  if constexpr (width_v<T> != 0) {
    for (int i = 0; i < width_v<T>; ++i) look_at_value<element_t<T>>(site, value[i]);
  } else if constexpr (__is_same(T, float)) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    if (__builtin_expect((bits & 0x7f800000u) == 0x7f800000u, 0)) lockstep_check_exchanged(bits, 0, site);
  } else if constexpr (__is_same(T, _Float16) || __is_same(T, __bf16)) {
    const uint32_t bits = __builtin_bit_cast(uint16_t, value);
    if (__builtin_expect((bits & 0x7c00u) == 0x7c00u, 0)) lockstep_check_exchanged(bits, 1, site);
  }
}
#endif

/** The lane's result of a reduction, scan or exchange after it has brought `value` and met the others. */
template <typename T, typename Completion> LOCKSTEP_INTERNAL const T *collective(const void *site, T value) {
#if LOCKSTEP_CHECKS
  look_at_value(site, value);
#endif
  Simdgroup &group = current_simdgroup();
  lane_values<T>(group)[current_lane()] = value;
  rendezvous(site, Completion{});
  return lane_results<T>(current_simdgroup());
}

template <typename T, typename Operation> LOCKSTEP_INTERNAL T reduce(const void *site, T value) {
  return *collective<T, CompleteReduction<T, Operation>>(site, value);
}

/** Completes a reduction of vectors: the same tree, with all components of a lane side by side. */
template <typename V, typename T, int N, typename Operation> struct CompleteVectorReduction {
  LOCKSTEP_INTERNAL void operator()(Simdgroup &group, uint32_t active) const {
    // A vector of three elements has the size of one of four; the fourth is computed along and not used.
    constexpr int width = sizeof(V) / sizeof(T);
    const T *values = reinterpret_cast<const T *>(lane_values<V>(group));
    T *results = reinterpret_cast<T *>(lane_results<V>(group));
    if (__builtin_expect(active == ~0u, 1)) {
      row_t<compute_t<T>, width> tree[LOCKSTEP_SIMD_WIDTH];
      for (int lane = 0; lane < LOCKSTEP_SIMD_WIDTH; ++lane) tree[lane] = load_row<width>(values + lane * width);
#pragma clang loop unroll(full)
      for (int left = LOCKSTEP_SIMD_WIDTH / 2; left != 0; left /= 2) {
        for (int i = 0; i < left; ++i) tree[i] = butterfly_step<T, width, Operation>(tree[2 * i], tree[2 * i + 1]);
      }
      store_row<width>(results, tree[0]);
      return;
    }
    for (int i = 0; i < N; ++i) {
      T column[LOCKSTEP_SIMD_WIDTH];
      for (uint32_t lane = 0; lane < LOCKSTEP_SIMD_WIDTH; ++lane) column[lane] = values[lane * width + i];
      results[i] = reduce_active<T, Operation>(column, active, 32);
    }
  }
};

/** The same numbers as N reductions, with one rendezvous; for vectors of up to 16 bytes. */
template <typename V, typename T, int N, typename Operation> LOCKSTEP_INTERNAL V reduce_vector(const void *site, V value) {
  return *collective<V, CompleteVectorReduction<V, T, N, Operation>>(site, value);
}

template <typename T> LOCKSTEP_INTERNAL const T *exchange(const void *site, T value) {
  return collective<T, CompleteExchange<T>>(site, value);
}

} // namespace lockstep
