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
#define LOCKSTEP_MATRIX_REFERENCES LOCKSTEP_MEETS
#endif

namespace lockstep {

/** Row and first column of the two elements that a lane owns. */
LOCKSTEP_INTERNAL constexpr int fragment_row(uint32_t lane) { return static_cast<int>(((lane & 6u) >> 1) + ((lane & 16u) >> 2)); }
LOCKSTEP_INTERNAL constexpr int fragment_column(uint32_t lane) {
  return static_cast<int>(((lane & 1u) << 1) + ((lane & 8u) >> 1));
}

using tile_row = row_t<float, 8>;

/** Work on tiles is the leader's alone: real calls, so that the other lanes' code stays small. */
#define LOCKSTEP_TILE_WORK inline __attribute__((noinline, LOCKSTEP_UNSEEN))

/** `d = a b + c` on tiles of 64 floats, row-major; `d` may be any of the others, `c` null for zero. */
template <typename T> LOCKSTEP_TILE_WORK void multiply_tiles(float *d, const float *a, const float *b, const float *c) {
  tile_row sum[8];
  for (int i = 0; i < 8; ++i) {
    sum[i] = c == nullptr ? tile_row(0.0f) : load_row<8>(c + 8 * i);
  }
#pragma clang loop unroll(full)
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

LOCKSTEP_TILE_WORK void fill_tile(float *tile, float value) {
  for (int i = 0; i < 8; ++i) {
    store_row<8>(tile + 8 * i, tile_row(value));
  }
}

LOCKSTEP_TILE_WORK void copy_tile(float *to, const float *from) {
  for (int i = 0; i < 8; ++i) {
    store_row<8>(to + 8 * i, load_row<8>(from + 8 * i));
  }
}

/** Transposes eight rows in three steps: 1, 2 and 4 columns change places with rows. */
LOCKSTEP_INTERNAL void transpose_rows(tile_row (&rows)[8]) {
  tile_row step[8];
  for (int i = 0; i < 8; i += 2) {
    step[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    step[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = i; j < i + 2; ++j) {
      rows[j] = __builtin_shufflevector(step[j], step[j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      rows[j + 2] = __builtin_shufflevector(step[j], step[j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int j = 0; j < 4; ++j) {
    step[j] = __builtin_shufflevector(rows[j], rows[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    step[j + 4] = __builtin_shufflevector(rows[j], rows[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; ++i) rows[i] = step[i];
}

/** Reads a tile from memory whose rows lie `stride` elements apart. */
template <typename T, typename U> LOCKSTEP_TILE_WORK void read_tile_from(float *tile, const U *source, ulong stride, bool transpose) {
  tile_row rows[8];
  for (int i = 0; i < 8; ++i) rows[i] = load_row<8>(source + static_cast<ulong>(i) * stride);
  if (transpose) transpose_rows(rows);
  for (int i = 0; i < 8; ++i) store_row<8>(tile + 8 * i, rounded<T, 8>(rows[i]));
}

/** Writes a tile to memory whose rows lie `stride` elements apart. */
template <typename U> LOCKSTEP_TILE_WORK void write_tile_to(U *destination, const float *tile, ulong stride, bool transpose) {
  tile_row rows[8];
  for (int i = 0; i < 8; ++i) rows[i] = load_row<8>(tile + 8 * i);
  if (transpose) transpose_rows(rows);
  for (int i = 0; i < 8; ++i) store_row<8>(destination + static_cast<ulong>(i) * stride, rows[i]);
}

LOCKSTEP_INTERNAL bool is_leader() { return lockstep_current->index == 0; }

/** Where the elements of a matrix are. No flag: nothing was stored yet, and every element is NaN. */
enum MatrixFlags : unsigned char {
  /** In the leader's tile. */
  in_tile = 1,
  /** In the lanes' fragments. */
  in_fragments = 2,
  /** `thread_elements()` has returned a reference to the fragment at some time. */
  handed_out = 4
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

  LOCKSTEP_INTERNAL simdgroup_matrix() {}

  /** A diagonal matrix. */
  LOCKSTEP_INTERNAL explicit simdgroup_matrix(T diagonal) : flags(lockstep::in_tile) {
    if (lockstep::is_leader()) {
      lockstep::fill_tile(tile, 0.0f);
      for (int i = 0; i < 8; ++i) tile[9 * i] = static_cast<float>(diagonal);
    }
  }

  LOCKSTEP_INTERNAL simdgroup_matrix(const simdgroup_matrix &other) { take(other); }
  LOCKSTEP_INTERNAL simdgroup_matrix &operator=(const simdgroup_matrix &other) {
    if (this == &other) return *this;
#if LOCKSTEP_MATRIX_REFERENCES
    if (flags & lockstep::handed_out) {
      fragment = const_cast<simdgroup_matrix &>(other).thread_elements();
      set_place(lockstep::in_fragments);
      return *this;
    }
#endif
    take(other);
    return *this;
  }

  /** The two elements that the lane owns, to read and to write. Called by all lanes together. */
  LOCKSTEP_COLLECTIVE storage_type &thread_elements() {
    if (!(flags & lockstep::in_fragments)) expose(LOCKSTEP_SITE());
    return fragment;
  }
  LOCKSTEP_INTERNAL const storage_type &thread_elements() const {
    return const_cast<simdgroup_matrix *>(this)->thread_elements();
  }

  // ---- used by the functions below -----------------------------------------------------------------------------

  /** About to be overwritten as a whole: the leader's tile is what counts from here on. */
  LOCKSTEP_INTERNAL void become_tile() {
    if (__builtin_expect(flags & lockstep::handed_out, 0)) retire_fragment();
    set_place(lockstep::in_tile);
  }

  /** For the leader: the tile to read; an undefined matrix reads as NaN. Not while the fragments count. */
  LOCKSTEP_INTERNAL const float *read_tile() {
    if (__builtin_expect(!(flags & (lockstep::in_tile | lockstep::in_fragments)), 0)) {
      lockstep::fill_tile(tile, __builtin_nanf(""));
    }
    return tile;
  }

  /** After a gather: the fragment still holds the right elements, but the tile is what counts. */
  LOCKSTEP_INTERNAL void settle() {
    if (flags & lockstep::in_fragments) {
      settled = lockstep::fragment_bits(fragment);
      set_place(lockstep::in_tile);
    }
  }

  /** Copies the lanes' fragments of operand `k` into the leader's tile, if they count. Run inside a rendezvous. */
  static LOCKSTEP_INTERNAL void gather_operand(lockstep::Simdgroup &group, int k) {
    auto *leader = static_cast<simdgroup_matrix *>(group.operands[k][0]);
    if (leader == nullptr || !(leader->flags & lockstep::in_fragments)) return;
    for (uint lane = 0; lane < LOCKSTEP_SIMD_WIDTH; ++lane) {
      if (!(group.active >> lane & 1u)) continue;
      const auto *from = static_cast<const simdgroup_matrix *>(group.operands[k][lane]);
      float *pair = leader->tile + 8 * lockstep::fragment_row(lane) + lockstep::fragment_column(lane);
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

  LOCKSTEP_INTERNAL void set_place(unsigned char place) {
    flags = static_cast<unsigned char>((flags & lockstep::handed_out) | place);
  }

  alignas(8) storage_type fragment;
  /** What the fragment held when the tile took over; meaningful while `handed_out` and not `in_fragments`. */
  ulong settled;
  unsigned char flags = 0;
  alignas(32) float tile[64];

private:
  LOCKSTEP_INTERNAL void poison_fragment() {
    const uint poison[2] = {LOCKSTEP_POISON_WORD, LOCKSTEP_POISON_WORD};
    __builtin_memcpy(static_cast<void *>(&fragment), poison, sizeof(fragment));
    settled = lockstep::fragment_bits(fragment);
  }

  LOCKSTEP_INTERNAL void check_references() {
    const bool stale = (flags & lockstep::handed_out) && !(flags & lockstep::in_fragments);
    if (stale && __builtin_expect(lockstep::fragment_bits(fragment) != settled, 0)) {
      lockstep::lockstep_fault("An element of a simdgroup_matrix was written through a reference that thread_elements() "
                               "returned before the matrix was used in an operation: call thread_elements() again "
                               "after the operation.");
    }
  }

  /** References to the fragment become stale. */
  LOCKSTEP_INTERNAL void retire_fragment() {
    check_references();
    poison_fragment();
  }

  LOCKSTEP_INTERNAL void take(const simdgroup_matrix &other) {
    if (flags & lockstep::handed_out) retire_fragment();
    set_place(other.flags & (lockstep::in_tile | lockstep::in_fragments));
    if (flags & lockstep::in_fragments) {
      fragment = other.fragment;
    } else if ((flags & lockstep::in_tile) && lockstep::is_leader()) {
      lockstep::copy_tile(tile, other.tile);
    }
  }

  /** Hands the elements out to the lanes. */
  __attribute__((noinline, LOCKSTEP_UNSEEN)) void expose(const void *site) {
    check_references();
    if (flags & lockstep::in_tile) {
      lockstep::current_simdgroup().operands[0][lockstep::current_lane()] = this;
      lockstep::rendezvous(site, [](lockstep::Simdgroup &group, uint32_t) __attribute__((LOCKSTEP_UNSEEN)) {
        scatter_operand(group, 0);
      });
    } else {
      poison_fragment();
    }
    flags = lockstep::in_fragments | lockstep::handed_out;
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

/** The lane's objects of an operation, for whoever completes its rendezvous. */
LOCKSTEP_INTERNAL void bring_operand(int k, void *object) {
  current_simdgroup().operands[k][current_lane()] = object;
}

/** Brings the operands whose fragments count back into the leader's tiles: one rendezvous for all of them. */
template <typename A, typename B, typename C>
__attribute__((noinline, LOCKSTEP_UNSEEN)) void gather(const void *site, matrix<A> &a, matrix<B> &b, matrix<C> *c) {
  bring_operand(0, &a);
  bring_operand(1, &b);
  bring_operand(2, c);
  rendezvous(site, [](Simdgroup &group, uint32_t) __attribute__((LOCKSTEP_UNSEEN)) {
    matrix<A>::gather_operand(group, 0);
    matrix<B>::gather_operand(group, 1);
    matrix<C>::gather_operand(group, 2);
  });
  a.settle();
  b.settle();
  if (c != nullptr) c->settle();
}

/**
 * Gathered, multiplied and scattered in one rendezvous: for operands or results that are held through references, and for
 * products of fragments alone, whose result is asked for as fragments next.
 */
template <typename D, typename A, typename B, typename C>
__attribute__((noinline, LOCKSTEP_UNSEEN)) void multiply_fragments(const void *site, matrix<D> &d, matrix<A> &a, matrix<B> &b,
                                                                          matrix<C> *c) {
  bring_operand(0, &a);
  bring_operand(1, &b);
  bring_operand(2, c);
  bring_operand(3, &d);
  rendezvous(site, [](Simdgroup &group, uint32_t) __attribute__((LOCKSTEP_UNSEEN)) {
    matrix<A>::gather_operand(group, 0);
    matrix<B>::gather_operand(group, 1);
    matrix<C>::gather_operand(group, 2);
    auto *addend = static_cast<matrix<C> *>(group.operands[2][0]);
    auto *result = static_cast<matrix<D> *>(group.operands[3][0]);
    multiply_tiles<D>(result->tile, static_cast<matrix<A> *>(group.operands[0][0])->read_tile(),
                      static_cast<matrix<B> *>(group.operands[1][0])->read_tile(),
                      addend == nullptr ? nullptr : addend->read_tile());
    matrix<D>::scatter_operand(group, 3);
  });
  d.set_place(in_fragments);
}

template <typename D, typename A, typename B, typename C>
LOCKSTEP_INTERNAL void multiply(const void *site, matrix<D> &d, matrix<A> &a, matrix<B> &b, matrix<C> *c) {
  const int operands = a.flags | b.flags | (c == nullptr ? 0 : c->flags);
#if LOCKSTEP_MATRIX_REFERENCES
  if ((operands & in_fragments) || (d.flags & handed_out)) {
    multiply_fragments<D, A, B, C>(site, d, a, b, c);
    return;
  }
#else
  const int common = a.flags & b.flags & (c == nullptr ? in_fragments : c->flags);
  if ((common & in_fragments) && !(d.flags & handed_out)) {
    multiply_fragments<D, A, B, C>(site, d, a, b, c);
    return;
  }
  if (operands & in_fragments) gather<A, B, C>(site, a, b, c);
#endif
  if (is_leader()) multiply_tiles<D>(d.tile, a.read_tile(), b.read_tile(), c == nullptr ? nullptr : c->read_tile());
  d.become_tile();
}

template <typename T, typename U>
LOCKSTEP_INTERNAL void load_tile(const void *site, matrix<T> &d, const U *source, ulong stride, bool transpose) {
  matrix_access(source, stride * sizeof(U), sizeof(U), transpose, false, site);
  if (is_leader()) read_tile_from<T>(d.tile, source, stride, transpose);
#if LOCKSTEP_MATRIX_REFERENCES
  if (d.flags & handed_out) {
    d.set_place(in_tile);
    d.thread_elements();
    return;
  }
#endif
  d.become_tile();
}

template <typename T> __attribute__((noinline, LOCKSTEP_UNSEEN)) void gather_for_store(const void *site, matrix<T> &a) {
  current_simdgroup().operands[0][current_lane()] = &a;
  rendezvous(site, [](Simdgroup &group, uint32_t) __attribute__((LOCKSTEP_UNSEEN)) { matrix<T>::gather_operand(group, 0); });
}

#if LOCKSTEP_CHECKS

/** Gives the lanes what the leader is about to write, as elements of the destination. */
template <typename T, typename U> struct TileToStore {
  static constexpr Meeting meeting = Meeting::access;
  __attribute__((LOCKSTEP_UNSEEN)) void operator()(Simdgroup &group, uint32_t) const {
    static_assert(64 * sizeof(U) <= sizeof group.results);
    write_tile_to(reinterpret_cast<U *>(group.results), static_cast<matrix<T> *>(group.operands[0][0])->read_tile(), 8, false);
  }
};

/** Nothing is written before every lane has compared its elements with what is there. */
template <typename T, typename U>
__attribute__((noinline, LOCKSTEP_UNSEEN)) void look_at_store(const void *site, matrix<T> &a, U *destination, ulong stride,
                                                              bool transpose) {
  bring_operand(0, &a);
  rendezvous(site, TileToStore<T, U>{});
  matrix_access(destination, stride * sizeof(U), sizeof(U), transpose, true, site, current_simdgroup().results);
  rendezvous(site, AccessToComplete{});
}

#endif

template <typename T, typename U>
LOCKSTEP_INTERNAL void store_tile(const void *site, matrix<T> &a, U *destination, ulong stride, bool transpose) {
  if (a.flags & in_fragments) gather_for_store(site, a);
#if LOCKSTEP_CHECKS
  look_at_store(site, a, destination, stride, transpose);
#else
  matrix_access(destination, stride * sizeof(U), sizeof(U), transpose, true, site);
#endif
  if (is_leader()) write_tile_to(destination, a.read_tile(), stride, transpose);
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
