/**
 * `simdgroup_matrix<T, 8, 8>` (MSL specification sections 2.4 and 6.7).
 *
 * The elements live in the leader (lane 0), as one 8x8 tile in float: loads, stores and products are run once, by the
 * leader, and need no rendezvous. A lane's own two elements are scattered when it asks for them (`thread_elements`); the
 * next product that reads the matrix gathers them again.
 *
 * References that `thread_elements()` handed out before a product are stale after it. To keep that from going wrong
 * in silence, the two elements of a product's result read as NaN until `thread_elements()` is called again, and a write
 * through a stale reference ends the run with a message. With `LOCKSTEP_MATRIX_REFERENCES` (always on in the lockstep
 * flavour) every product writes its result back to all lanes at once, and such references stay good.
 *
 * A product accumulates sequentially: acc = C; for k 0-7: acc = RNE(acc + a_k b_k), fused, in float; one rounding to
 * the element type at the end.
 */
#pragma once

#include "element.h"
#include "hooks.h"
#include "rendezvous.h"

#ifndef LOCKSTEP_MATRIX_REFERENCES
#define LOCKSTEP_MATRIX_REFERENCES LOCKSTEP_INSTRUMENTED
#endif

namespace lockstep {

/** Row and first column of the two elements that a lane owns. */
LOCKSTEP_INTERNAL constexpr int fragment_row(uint32_t lane) { return static_cast<int>(((lane & 6u) >> 1) + ((lane & 16u) >> 2)); }
LOCKSTEP_INTERNAL constexpr int fragment_column(uint32_t lane) {
  return static_cast<int>(((lane & 1u) << 1) + ((lane & 8u) >> 1));
}

using tile_row = row_t<float, 8>;

/** `d = a b + c` on tiles of 64 floats, row-major; `d` may be any of the others. */
template <typename T> LOCKSTEP_INTERNAL void multiply_tiles(float *d, const float *a, const float *b, const float *c) {
  tile_row sum[8];
  for (int i = 0; i < 8; ++i) {
    sum[i] = c == nullptr ? tile_row(0.0f) : load_row<8>(c + 8 * i);
  }
  for (int k = 0; k < 8; ++k) {
    const tile_row right = load_row<8>(b + 8 * k);
    for (int i = 0; i < 8; ++i) {
      sum[i] = __builtin_elementwise_fma(tile_row(a[8 * i + k]), right, sum[i]);
    }
  }
  for (int i = 0; i < 8; ++i) {
    store_row<8>(d + 8 * i, rounded<T, 8>(sum[i]));
  }
}

LOCKSTEP_INTERNAL void fill_tile(float *tile, float value) {
  for (int i = 0; i < 8; ++i) {
    store_row<8>(tile + 8 * i, tile_row(value));
  }
}

LOCKSTEP_INTERNAL bool is_leader() { return lockstep_current->index == 0; }

enum class MatrixState : unsigned char {
  /** Nothing was stored yet: every element is NaN. */
  undefined,
  /** The leader's tile holds the elements. */
  tile,
  /** The lanes' fragments hold the elements. */
  fragments
};

/** The bits of a fragment, to see whether a lane wrote to it. */
template <typename V> LOCKSTEP_INTERNAL ulong fragment_bits(const V &fragment) {
  ulong bits = 0;
  __builtin_memcpy(&bits, &fragment, sizeof(V));
  return bits;
}

} // namespace lockstep

namespace metal {

template <typename T, int Columns, int Rows> struct simdgroup_matrix;

template <typename T> struct simdgroup_matrix<T, 8, 8> {
  using storage_type = vec<T, 2>;
  using State = lockstep::MatrixState;

  LOCKSTEP_INTERNAL simdgroup_matrix() { poison_fragment(); }

  /** A diagonal matrix. */
  LOCKSTEP_INTERNAL explicit simdgroup_matrix(T diagonal) : state(State::tile) {
    if (lockstep::is_leader()) {
      lockstep::fill_tile(tile, 0.0f);
      for (int i = 0; i < 8; ++i) tile[9 * i] = static_cast<float>(diagonal);
    }
  }

  LOCKSTEP_INTERNAL simdgroup_matrix(const simdgroup_matrix &other) { take(other); }
  LOCKSTEP_INTERNAL simdgroup_matrix &operator=(const simdgroup_matrix &other) {
    if (this != &other) {
#if LOCKSTEP_MATRIX_REFERENCES
      if (handed_out) {
        fragment = const_cast<simdgroup_matrix &>(other).thread_elements();
        state = State::fragments;
        return *this;
      }
#endif
      take(other);
    }
    return *this;
  }

  /** The two elements that the lane owns, to read and to write. Called by all lanes together. */
  LOCKSTEP_COLLECTIVE storage_type &thread_elements() {
    check_references();
    if (state == State::tile) scatter(LOCKSTEP_SITE());
    state = State::fragments;
    handed_out = true;
    return fragment;
  }
  LOCKSTEP_INTERNAL const storage_type &thread_elements() const {
    return const_cast<simdgroup_matrix *>(this)->thread_elements();
  }

  // ---- used by the functions below -----------------------------------------------------------------------------

  /** About to be overwritten as a whole: the leader's tile is what counts from here on. */
  LOCKSTEP_INTERNAL void become_tile() {
    check_references();
    if (handed_out) poison_fragment();
    state = State::tile;
  }

  /** About to be read by the leader; an undefined matrix reads as NaN. Not for matrices whose fragments count. */
  LOCKSTEP_INTERNAL const float *read_tile() {
    if (__builtin_expect(state == State::undefined, 0)) lockstep::fill_tile(tile, __builtin_nanf(""));
    return tile;
  }

  /** After a gather: the fragment still holds the right elements, but the tile is what counts. */
  LOCKSTEP_INTERNAL void settle() {
    if (state == State::fragments) {
      settled = lockstep::fragment_bits(fragment);
      state = State::tile;
    }
  }

  /** Copies the lanes' fragments of operand `k` into the leader's tile. Run inside a rendezvous. */
  static LOCKSTEP_INTERNAL void gather_operand(lockstep::Simdgroup &group, int k) {
    float *to = static_cast<simdgroup_matrix *>(group.operands[k][0])->tile;
    for (uint lane = 0; lane < LOCKSTEP_SIMD_WIDTH; ++lane) {
      if (!(group.active >> lane & 1u)) continue;
      const auto *from = static_cast<const simdgroup_matrix *>(group.operands[k][lane]);
      float *pair = to + 8 * lockstep::fragment_row(lane) + lockstep::fragment_column(lane);
      pair[0] = static_cast<float>(from->fragment[0]);
      pair[1] = static_cast<float>(from->fragment[1]);
    }
  }

  /** Copies the leader's tile of operand `k` into the lanes' fragments. Run inside a rendezvous. */
  static LOCKSTEP_INTERNAL void scatter_operand(lockstep::Simdgroup &group, int k) {
    const float *from = static_cast<const simdgroup_matrix *>(group.operands[k][0])->tile;
    for (uint lane = 0; lane < LOCKSTEP_SIMD_WIDTH; ++lane) {
      if (!(group.active >> lane & 1u)) continue;
      auto *to = static_cast<simdgroup_matrix *>(group.operands[k][lane]);
      const float *pair = from + 8 * lockstep::fragment_row(lane) + lockstep::fragment_column(lane);
      to->fragment = storage_type(static_cast<T>(pair[0]), static_cast<T>(pair[1]));
    }
  }

  alignas(8) storage_type fragment;
  /** What the fragment held when the tile took over, while `handed_out`. */
  ulong settled;
  State state = State::undefined;
  bool handed_out = false;
  alignas(32) float tile[64];

private:
  LOCKSTEP_INTERNAL void poison_fragment() {
    const uint poison[2] = {LOCKSTEP_POISON_WORD, LOCKSTEP_POISON_WORD};
    __builtin_memcpy(static_cast<void *>(&fragment), poison, sizeof(fragment));
    settled = lockstep::fragment_bits(fragment);
  }

  LOCKSTEP_INTERNAL void check_references() {
    if (handed_out && state != State::fragments && __builtin_expect(lockstep::fragment_bits(fragment) != settled, 0)) {
      lockstep::lockstep_fault("An element of a simdgroup_matrix was written through a reference that thread_elements() returned "
                     "before the matrix was used in an operation: call thread_elements() again after the operation.");
    }
  }

  LOCKSTEP_INTERNAL void take(const simdgroup_matrix &other) {
    check_references();
    state = other.state;
    if (state == State::fragments) {
      fragment = other.fragment;
    } else {
      poison_fragment();
      if (state == State::tile && lockstep::is_leader()) {
        for (int i = 0; i < 8; ++i) lockstep::store_row<8>(tile + 8 * i, lockstep::load_row<8>(other.tile + 8 * i));
      }
    }
  }

  __attribute__((noinline, no_sanitize("thread"))) void scatter(const void *site) {
    lockstep::current_simdgroup().operands[0][lockstep::current_lane()] = this;
    lockstep::rendezvous(site, [](lockstep::Simdgroup &group, uint32_t) __attribute__((no_sanitize("thread"))) {
      scatter_operand(group, 0);
    });
  }
};

using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <typename T, int Columns = 8, int Rows = 8>
LOCKSTEP_INTERNAL simdgroup_matrix<T, Columns, Rows> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, Columns, Rows> result;
  result.become_tile();
  if (lockstep::is_leader()) lockstep::fill_tile(result.tile, static_cast<float>(value));
  return result;
}

} // namespace metal

namespace lockstep {

template <typename T> using matrix = metal::simdgroup_matrix<T, 8, 8>;

#if LOCKSTEP_MATRIX_REFERENCES

/** The product inside a rendezvous: operands gathered, the result scattered to every lane. */
template <typename D, typename A, typename B, typename C>
__attribute__((noinline, no_sanitize("thread"))) void multiply_fragments(const void *site, matrix<D> &d, matrix<A> &a, matrix<B> &b,
                                                                         matrix<C> *c) {
  void *objects[4] = {&a, &b, c, &d};
  for (int k = 0; k < 4; ++k) current_simdgroup().operands[k][current_lane()] = objects[k];
  rendezvous(site, [](Simdgroup &group, uint32_t) __attribute__((no_sanitize("thread"))) {
    auto *left = static_cast<matrix<A> *>(group.operands[0][0]);
    auto *right = static_cast<matrix<B> *>(group.operands[1][0]);
    auto *addend = static_cast<matrix<C> *>(group.operands[2][0]);
    auto *result = static_cast<matrix<D> *>(group.operands[3][0]);
    if (left->state == MatrixState::fragments) matrix<A>::gather_operand(group, 0);
    if (right->state == MatrixState::fragments) matrix<B>::gather_operand(group, 1);
    if (addend != nullptr && addend->state == MatrixState::fragments) matrix<C>::gather_operand(group, 2);
    const float *added = addend == nullptr ? nullptr : addend->read_tile();
    multiply_tiles<D>(result->tile, left->read_tile(), right->read_tile(), added);
    matrix<D>::scatter_operand(group, 3);
  });
  d.state = d.handed_out ? MatrixState::fragments : MatrixState::tile;
}

template <typename D, typename A, typename B, typename C>
LOCKSTEP_INTERNAL void multiply(const void *site, matrix<D> &d, matrix<A> &a, matrix<B> &b, matrix<C> *c) {
  const bool fragments = a.state == MatrixState::fragments || b.state == MatrixState::fragments || d.handed_out ||
                         (c != nullptr && c->state == MatrixState::fragments);
  if (fragments) {
    multiply_fragments<D, A, B, C>(site, d, a, b, c);
  } else {
    if (is_leader()) multiply_tiles<D>(d.tile, a.read_tile(), b.read_tile(), c == nullptr ? nullptr : c->read_tile());
    d.state = MatrixState::tile;
  }
}

#else

/** Brings the operands whose fragments count back into the leader's tiles: one rendezvous for all of them. */
template <typename A, typename B, typename C>
__attribute__((noinline)) void gather(const void *site, matrix<A> &a, matrix<B> &b, matrix<C> *c) {
  void *objects[3] = {&a, &b, c};
  for (int k = 0; k < 3; ++k) current_simdgroup().operands[k][current_lane()] = objects[k];
  rendezvous(site, [](Simdgroup &group, uint32_t) {
    const auto *addend = static_cast<const matrix<C> *>(group.operands[2][0]);
    if (static_cast<const matrix<A> *>(group.operands[0][0])->state == MatrixState::fragments) matrix<A>::gather_operand(group, 0);
    if (static_cast<const matrix<B> *>(group.operands[1][0])->state == MatrixState::fragments) matrix<B>::gather_operand(group, 1);
    if (addend != nullptr && addend->state == MatrixState::fragments) matrix<C>::gather_operand(group, 2);
  });
  a.settle();
  b.settle();
  if (c != nullptr) c->settle();
}

template <typename D, typename A, typename B, typename C>
LOCKSTEP_INTERNAL void multiply(const void *site, matrix<D> &d, matrix<A> &a, matrix<B> &b, matrix<C> *c) {
  if (a.state == MatrixState::fragments || b.state == MatrixState::fragments ||
      (c != nullptr && c->state == MatrixState::fragments)) {
    gather<A, B, C>(site, a, b, c);
  }
  if (is_leader()) multiply_tiles<D>(d.tile, a.read_tile(), b.read_tile(), c == nullptr ? nullptr : c->read_tile());
  d.become_tile();
}

#endif

template <typename T, typename U>
LOCKSTEP_INTERNAL void load_tile(const void *site, matrix<T> &d, const U *source, ulong stride, bool transpose) {
  matrix_access(source, stride * sizeof(U), 8 * sizeof(U), false, site);
  if (is_leader()) {
    for (int i = 0; i < 8; ++i) {
      const auto values = load_row<8>(source + static_cast<ulong>(i) * stride);
      if (!transpose) {
        store_row<8>(d.tile + 8 * i, values);
      } else {
        for (int j = 0; j < 8; ++j) d.tile[8 * j + i] = values[j];
      }
    }
  }
#if LOCKSTEP_MATRIX_REFERENCES
  if (d.handed_out) {
    d.state = MatrixState::tile;
    d.thread_elements();
    return;
  }
#endif
  d.become_tile();
}

template <typename T> __attribute__((noinline, no_sanitize("thread"))) void gather_for_store(const void *site, matrix<T> &a) {
  current_simdgroup().operands[0][current_lane()] = &a;
  rendezvous(site, [](Simdgroup &group, uint32_t) __attribute__((no_sanitize("thread"))) { matrix<T>::gather_operand(group, 0); });
}

template <typename T, typename U>
LOCKSTEP_INTERNAL void store_tile(const void *site, matrix<T> &a, U *destination, ulong stride, bool transpose) {
  if (a.state == MatrixState::fragments) gather_for_store(site, a);
  matrix_access(destination, stride * sizeof(U), 8 * sizeof(U), true, site);
  if (is_leader()) {
    const float *tile = a.read_tile();
    for (int i = 0; i < 8; ++i) {
      U *to = destination + static_cast<ulong>(i) * stride;
      if (!transpose) {
        store_row<8>(to, load_row<8>(tile + 8 * i));
      } else {
        for (int j = 0; j < 8; ++j) to[j] = static_cast<U>(tile[8 * j + i]);
      }
    }
  }
}

} // namespace lockstep

namespace metal {

template <typename D, typename A, typename B, typename C>
LOCKSTEP_COLLECTIVE void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d, const simdgroup_matrix<A, 8, 8> &a,
                                                       const simdgroup_matrix<B, 8, 8> &b,
                                                       const simdgroup_matrix<C, 8, 8> &c) {
  lockstep::multiply<D, A, B, C>(LOCKSTEP_SITE(), d, const_cast<simdgroup_matrix<A, 8, 8> &>(a),
                                 const_cast<simdgroup_matrix<B, 8, 8> &>(b), const_cast<simdgroup_matrix<C, 8, 8> *>(&c));
}

template <typename D, typename A, typename B>
LOCKSTEP_COLLECTIVE void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d, const simdgroup_matrix<A, 8, 8> &a,
                                            const simdgroup_matrix<B, 8, 8> &b) {
  lockstep::multiply<D, A, B, D>(LOCKSTEP_SITE(), d, const_cast<simdgroup_matrix<A, 8, 8> &>(a),
                                 const_cast<simdgroup_matrix<B, 8, 8> &>(b), nullptr);
}

template <typename T>
LOCKSTEP_COLLECTIVE simdgroup_matrix<T, 8, 8> operator*(simdgroup_matrix<T, 8, 8> a, simdgroup_matrix<T, 8, 8> b) {
  simdgroup_matrix<T, 8, 8> d;
  lockstep::multiply<T, T, T, T>(LOCKSTEP_SITE(), d, a, b, nullptr);
  return d;
}

/**
 * The 8x8 block whose first element lies at column `origin.x`, row `origin.y` of a matrix with `elements_per_row`
 * elements a row; transposed on the way if asked.
 */
#define LOCKSTEP_LOAD(space)                                                                                           \
  template <typename T, typename U>                                                                                    \
  LOCKSTEP_COLLECTIVE void simdgroup_load(simdgroup_matrix<T, 8, 8> &d, const space U *source, ulong elements_per_row = 8, \
                                          vec<ulong, 2> origin = 0, bool transpose = false) {                          \
    lockstep::load_tile(LOCKSTEP_SITE(), d, (const U *)source + origin[0] + origin[1] * elements_per_row,              \
                        elements_per_row, transpose);                                                                  \
  }
LOCKSTEP_LOAD(LS_DEVICE)
LOCKSTEP_LOAD(LS_THREADGROUP)
LOCKSTEP_LOAD(LS_CONSTANT)
#undef LOCKSTEP_LOAD

#define LOCKSTEP_STORE(space)                                                                                          \
  template <typename T, typename U>                                                                                    \
  LOCKSTEP_COLLECTIVE void simdgroup_store(const simdgroup_matrix<T, 8, 8> &a, space U *destination,                   \
                                           ulong elements_per_row = 8, vec<ulong, 2> origin = 0, bool transpose = false) { \
    lockstep::store_tile(LOCKSTEP_SITE(), const_cast<simdgroup_matrix<T, 8, 8> &>(a),                                  \
                         (U *)destination + origin[0] + origin[1] * elements_per_row, elements_per_row, transpose);    \
  }
LOCKSTEP_STORE(LS_DEVICE)
LOCKSTEP_STORE(LS_THREADGROUP)
#undef LOCKSTEP_STORE

} // namespace metal
