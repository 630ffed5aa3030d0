// The vector kernels of the oracle, compiled once for each instruction set: the including file defines
// LOCKSTEP_LANES (doubles to a vector), LOCKSTEP_TILE (columns of a register tile, at most 8) and LOCKSTEP_KERNELS (name
// of the table), and wraps this file in a namespace and in the target attribute of its instruction set. No include guard
// and no includes, so that nothing outside is compiled for an instruction set that the CPU may lack.

constexpr std::size_t kLanes = LOCKSTEP_LANES;
constexpr std::size_t kTile = LOCKSTEP_TILE;
/// Depth of a converted slab of keys: kTile x kDepth doubles stay in the first-level cache.
constexpr std::size_t kDepth = 64;
/// Panels of value columns that are converted together: a cache line of f32 values.
constexpr std::size_t kPanels = 16 / kTile;
/// Keys between two updates of the running maximum.
constexpr std::size_t kBlock = 64;

typedef double Vec __attribute__((vector_size(LOCKSTEP_LANES * 8)));
typedef std::int64_t IntVec __attribute__((vector_size(LOCKSTEP_LANES * 8)));

[[gnu::always_inline]] inline Vec load(const double* p) { return *reinterpret_cast<const Vec*>(p); }
[[gnu::always_inline]] inline void store(double* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }
[[gnu::always_inline]] inline Vec splat(double x) { return x - Vec{}; }
[[gnu::always_inline]] inline Vec magnitude(Vec v) {
  return reinterpret_cast<Vec>(reinterpret_cast<IntVec>(v) & 0x7fffffffffffffff);
}
[[gnu::always_inline]] inline Vec select(IntVec condition, Vec a, Vec b) {
  return reinterpret_cast<Vec>((condition & reinterpret_cast<IntVec>(a)) | (~condition & reinterpret_cast<IntVec>(b)));
}
[[gnu::always_inline]] inline bool any(IntVec condition) {
  std::int64_t bits = 0;
  for (std::size_t i = 0; i < kLanes; ++i) bits |= condition[i];
  return bits != 0;
}

/// exp(x) for x <= 0 and -inf, within about one unit of the last place. x = k ln 2 + r, |r| <= ln 2 / 2, Taylor to r^13.
[[gnu::always_inline]] inline Vec exp_nonpositive(Vec x) {
  const Vec clamped = select(x < -708.0, splat(-708.0), x);
  // Adding 1.5 * 2^52 rounds to a whole number and leaves it in the low bits.
  const Vec shifted = clamped * 1.4426950408889634 + 0x1.8p52;
  const Vec k = shifted - 0x1.8p52;
  Vec r = clamped - k * 0.6931471803691238;
  r = r - k * 1.9082149292705877e-10;
  Vec p = r * 1.6059043836821613e-10 + 2.08767569878681e-9;
  p = p * r + 2.505210838544172e-8;
  p = p * r + 2.755731922398589e-7;
  p = p * r + 2.7557319223985893e-6;
  p = p * r + 2.48015873015873e-5;
  p = p * r + 1.984126984126984e-4;
  p = p * r + 1.3888888888888889e-3;
  p = p * r + 8.333333333333333e-3;
  p = p * r + 4.1666666666666664e-2;
  p = p * r + 0.16666666666666666;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const Vec power = reinterpret_cast<Vec>((reinterpret_cast<IntVec>(shifted) + 1023) << 52);
  return select(x < -708.0, Vec{}, p * power);
}

[[gnu::always_inline]] inline float f16_to_f32(std::uint16_t bits) {
  // Scaling by 2^112 moves the exponent's bias and makes subnormals normal.
  const std::uint32_t shifted = static_cast<std::uint32_t>(bits & 0x7fff) << 13;
  const std::uint32_t finite = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, shifted) * 0x1p112f);
  const std::uint32_t value = shifted >= 0x0f800000u ? shifted | 0x7f800000u : finite;
  return __builtin_bit_cast(float, value | static_cast<std::uint32_t>(bits & 0x8000) << 16);
}

[[gnu::always_inline]] inline float bf16_to_f32(std::uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
}

/// `count` elements at `from` as doubles. `from` may be unaligned for its type only if the tensor is.
[[gnu::always_inline]] inline void convert(double* out, const std::uint8_t* base, std::size_t from, Dtype dtype,
                                           std::size_t count) {
  switch (dtype) {
    case Dtype::f32: {
      const float* in = reinterpret_cast<const float*>(base) + from;
      for (std::size_t i = 0; i < count; ++i) out[i] = in[i];
      break;
    }
    case Dtype::f16: {
      const std::uint16_t* in = reinterpret_cast<const std::uint16_t*>(base) + from;
      for (std::size_t i = 0; i < count; ++i) out[i] = f16_to_f32(in[i]);
      break;
    }
    case Dtype::bf16: {
      const std::uint16_t* in = reinterpret_cast<const std::uint16_t*>(base) + from;
      for (std::size_t i = 0; i < count; ++i) out[i] = bf16_to_f32(in[i]);
      break;
    }
  }
}

/// c[n] += sum_k a[k] * b[n * BN + k * BK] and size[n] += sum_k |a[k]| * |b[...]|, for kTile columns n, a vector of
/// query lanes each.
template <std::size_t BN, std::size_t BK>
[[gnu::always_inline]] inline void multiply(double* c, double* size, const double* a, const double* b,
                                            std::size_t depth) {
  Vec sum[kTile];
  Vec sizes[kTile];
  for (std::size_t n = 0; n < kTile; ++n) {
    sum[n] = load(c + n * kLanes);
    sizes[n] = load(size + n * kLanes);
  }
  for (std::size_t k = 0; k < depth; ++k) {
    const Vec left = load(a + k * kLanes);
    const Vec left_size = magnitude(left);
#pragma clang loop unroll(full)
    for (std::size_t n = 0; n < kTile; ++n) {
      const Vec right = splat(b[n * BN + k * BK]);
      sum[n] += left * right;
      sizes[n] += left_size * magnitude(right);
    }
  }
  for (std::size_t n = 0; n < kTile; ++n) {
    store(c + n * kLanes, sum[n]);
    store(size + n * kLanes, sizes[n]);
  }
}

/// Working memory of one call.
struct Scratch {
  explicit Scratch(std::size_t groups)
      : slab(kTile * kDepth), panels(kPanels * kBlock * kTile), scores(groups * kBlock * kLanes),
        sizes(groups * kBlock * kLanes) {}
  AlignedArray<double> slab;    // [kTile keys][kDepth]
  AlignedArray<double> panels;  // [kPanels][kBlock keys][kTile columns] of values
  AlignedArray<double> scores;  // [group][key][lane]
  AlignedArray<double> sizes;
};

/// Scores and their sizes for keys [begin, begin + count), unscaled.
inline void score_block(const Tile& tile, const Keys& keys, std::size_t begin, std::size_t count, Scratch& scratch) {
  const std::size_t groups = tile.groups;
  for (std::size_t i = 0; i < groups * kBlock * kLanes; ++i) scratch.scores[i] = scratch.sizes[i] = 0;
  for (std::size_t n0 = 0; n0 < count; n0 += kTile) {
    const std::size_t rows = count - n0 < kTile ? count - n0 : kTile;
    // The values of these keys are wanted right after their scores.
    for (std::size_t n = 0; n < rows; ++n) {
      const std::uint8_t* row =
          keys.value.base + (begin + n0 + n) * keys.value.stride * dtype_bytes(keys.value.dtype);
      for (std::size_t byte = 0; byte < keys.value.width * dtype_bytes(keys.value.dtype); byte += 64) {
        __builtin_prefetch(row + byte, 0, 2);
      }
    }
    std::size_t depth_done = 0;
    for (std::size_t part = 0; part < keys.part_count; ++part) {
      const Rows& source = keys.parts[part];
      for (std::size_t d0 = 0; d0 < source.width; d0 += kDepth) {
        const std::size_t depth = source.width - d0 < kDepth ? source.width - d0 : kDepth;
        for (std::size_t n = 0; n < kTile; ++n) {
          double* slab = scratch.slab.data() + n * kDepth;
          if (n < rows) {
            convert(slab, source.base, (begin + n0 + n) * source.stride + d0, source.dtype, depth);
          } else {
            for (std::size_t d = 0; d < depth; ++d) slab[d] = 0;
          }
        }
        for (std::size_t g = 0; g < groups; ++g) {
          const std::size_t at = (g * kBlock + n0) * kLanes;
          multiply<kDepth, 1>(scratch.scores.data() + at, scratch.sizes.data() + at,
                              tile.query.data() + (g * tile.depth + depth_done) * kLanes, scratch.slab.data(), depth);
        }
        depth_done += depth;
      }
    }
  }
}

/// Turns the scores of one group into weights relative to the new running maximum, and rescales the group's state.
inline void weigh_block(Tile& tile, std::size_t group, double scale, std::size_t begin, std::size_t count,
                        Scratch& scratch, BadScore& bad) {
  const double infinity = __builtin_inf();
  double* scores = scratch.scores.data() + group * kBlock * kLanes;
  const double* sizes = scratch.sizes.data() + group * kBlock * kLanes;
  const Vec visible = load(&tile.visible[group * kLanes]);
  Vec conditioning = load(&tile.conditioning[group * kLanes]);
  const Vec old_m = load(&tile.m[group * kLanes]);
  Vec m = old_m;
  for (std::size_t j = 0; j < count; ++j) {
    const IntVec seen = splat(static_cast<double>(begin + j)) < visible;
    const Vec score = select(seen, load(scores + j * kLanes) * scale, splat(-infinity));
    store(scores + j * kLanes, score);
    const IntVec wrong = ~(score < splat(infinity));
    if (__builtin_expect(any(wrong), 0) && !bad.found) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if (wrong[lane] != 0) {
          bad = {true, group * kLanes + lane, begin + j};
          break;
        }
      }
    }
    m = select(score > m, score, m);
    const Vec size = load(sizes + j * kLanes);
    conditioning = select(seen & (size > conditioning) & (size < splat(infinity)), size, conditioning);
  }
  store(&tile.conditioning[group * kLanes], conditioning);

  // A lane without a live key keeps m = -inf; subtracting 0 instead keeps its weights exp(-inf) = 0.
  const Vec reference = select(m == splat(-infinity), Vec{}, m);
  Vec s = load(&tile.s[group * kLanes]);
  if (any(m != old_m)) {
    const Vec factor = exp_nonpositive(old_m - reference);
    s *= factor;
    double* out = tile.out.data() + group * tile.padded * kLanes;
    double* absolute = tile.absolute.data() + group * tile.padded * kLanes;
    for (std::size_t d = 0; d < tile.padded; ++d) {
      store(out + d * kLanes, load(out + d * kLanes) * factor);
      store(absolute + d * kLanes, load(absolute + d * kLanes) * factor);
    }
    store(&tile.m[group * kLanes], m);
  }
  for (std::size_t j = 0; j < count; ++j) {
    const Vec weight = exp_nonpositive(load(scores + j * kLanes) - reference);
    store(scores + j * kLanes, weight);
    s += weight;
  }
  store(&tile.s[group * kLanes], s);
}

/// Columns [d0, d0 + kTile) of a value row as doubles, zeros behind the last column.
[[gnu::always_inline]] inline void convert_columns(double* to, const Rows& value, std::size_t row, std::size_t d0) {
  const std::size_t from = row * value.stride + d0;
  if (value.width - d0 >= kTile) {
    convert(to, value.base, from, value.dtype, kTile);
    return;
  }
  for (std::size_t n = 0; n < kTile; ++n) to[n] = 0;
  convert(to, value.base, from, value.dtype, value.width - d0);
}

/// Adds weight times value to the outputs.
inline void value_block(Tile& tile, const Rows& value, std::size_t begin, std::size_t count, Scratch& scratch) {
  for (std::size_t d0 = 0; d0 < tile.width; d0 += kPanels * kTile) {
    const std::size_t left = (tile.width - d0 + kTile - 1) / kTile;
    const std::size_t panels = left < kPanels ? left : kPanels;
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t panel = 0; panel < panels; ++panel) {
        convert_columns(scratch.panels.data() + (panel * kBlock + j) * kTile, value, begin + j, d0 + panel * kTile);
      }
    }
    for (std::size_t g = 0; g < tile.groups; ++g) {
      const double* weights = scratch.scores.data() + g * kBlock * kLanes;
      for (std::size_t panel = 0; panel < panels; ++panel) {
        const std::size_t at = (g * tile.padded + d0 + panel * kTile) * kLanes;
        multiply<1, kTile>(tile.out.data() + at, tile.absolute.data() + at, weights,
                           scratch.panels.data() + panel * kBlock * kTile, count);
      }
    }
  }
}

BadScore attend(Tile& tile, const Keys& keys, double scale, std::size_t begin, std::size_t end) {
  Scratch scratch(tile.groups);
  BadScore bad;
  for (std::size_t at = begin; at < end; at += kBlock) {
    const std::size_t count = end - at < kBlock ? end - at : kBlock;
    score_block(tile, keys, at, count, scratch);
    for (std::size_t g = 0; g < tile.groups; ++g) weigh_block(tile, g, scale, at, count, scratch, bad);
    if (bad.found) return bad;
    value_block(tile, keys.value, at, count, scratch);
  }
  return bad;
}

void widen(double* out, const TensorView& view, std::size_t from, std::size_t count) {
  convert(out, static_cast<const std::uint8_t*>(view.data), from, view.dtype, count);
}
