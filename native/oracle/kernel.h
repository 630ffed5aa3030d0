#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "attention.h"

namespace lockstep::oracle {

/// An array of T on a cache-line boundary, zero-filled.
template <class T>
class AlignedArray {
 public:
  explicit AlignedArray(std::size_t count = 0) : data_(allocate(count)), count_(count) {
    for (std::size_t i = 0; i < count; ++i) data_.get()[i] = T{};
  }
  T* data() const { return data_.get(); }
  T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::size_t size() const { return count_; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  static T* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + 63) / 64 * 64;
    void* p = std::aligned_alloc(64, bytes == 0 ? 64 : bytes);
    if (p == nullptr) throw std::bad_alloc();
    return static_cast<T*>(p);
  }
  std::unique_ptr<T, Free> data_;
  std::size_t count_;
};

/// Rows of a tensor as one key or value sees them: row t starts at element t * stride of `base`.
struct Rows {
  const std::uint8_t* base = nullptr;
  std::size_t stride = 0;
  std::size_t width = 0;
  Dtype dtype = Dtype::f32;
};

/// Keys of one KV head. MLA's keys come in two parts: the head's own and the shared rope part.
struct Keys {
  Rows parts[2];
  std::size_t part_count = 0;
  Rows value;
};

/// Widest tile of value columns; row widths in `Tile` are rounded up to it.
constexpr std::size_t kColumnTile = 8;

/// Query rows that walk the same keys together, `lanes` to a vector, in `groups` vectors, with their online softmax
/// state. Unused lanes see no key.
struct Tile {
  Tile(std::size_t group_count, std::size_t lane_count, std::size_t query_width, std::size_t value_width)
      : groups(group_count),
        lanes(lane_count),
        depth(query_width),
        width(value_width),
        padded((value_width + kColumnTile - 1) / kColumnTile * kColumnTile),
        query(group_count * query_width * lane_count),
        visible(group_count * lane_count),
        m(group_count * lane_count),
        s(group_count * lane_count),
        conditioning(group_count * lane_count),
        out(group_count * padded * lane_count),
        absolute(group_count * padded * lane_count) {
    for (std::size_t i = 0; i < m.size(); ++i) m[i] = -std::numeric_limits<double>::infinity();
  }

  std::size_t groups, lanes, depth, width, padded;
  AlignedArray<double> query;         // [group][depth][lane]
  AlignedArray<double> visible;       // [group][lane]: keys that the lane sees, counted from key 0
  AlignedArray<double> m, s;          // [group][lane]
  AlignedArray<double> conditioning;  // [group][lane]: largest finite sum |q k|, without the scale
  AlignedArray<double> out;           // [group][padded][lane], not yet divided by s
  AlignedArray<double> absolute;      // likewise
};

/// Where a score was NaN or +inf.
struct BadScore {
  bool found = false;
  std::size_t lane = 0;
  std::size_t key = 0;
};

/// The kernels compiled for one instruction set.
struct Kernels {
  const char* name;
  std::size_t lanes;
  /// Continues the online softmax of `tile` over keys [begin, end).
  BadScore (*attend)(Tile& tile, const Keys& keys, double scale, std::size_t begin, std::size_t end);
  /// Writes `count` elements from element `from` as doubles.
  void (*widen)(double* out, const TensorView& view, std::size_t from, std::size_t count);
};

extern const Kernels kPortableKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

/// The kernels that this CPU runs, the best first.
std::vector<const Kernels*> usable_kernels();

/// The kernels of that name, or the best for an empty one. Throws std::runtime_error where this CPU has none.
const Kernels& kernels_named(const std::string& name);

}  // namespace lockstep::oracle
