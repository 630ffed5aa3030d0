#include "generator.h"

#include "clones.h"

namespace lockstep {
namespace {

[[gnu::always_inline]] inline std::uint32_t fmix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return x;
}

template <int Bits>
[[gnu::always_inline]] inline void fill_stream(float* out, Stream stream, float multiplier, std::uint32_t start,
                                               std::size_t count) {
  const float unit = multiplier * (Bits == 24 ? 0x1p-23f : 0x1p-7f);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t raw = fmix(fmix(start + static_cast<std::uint32_t>(i) + stream.k1) ^ stream.k2);
    const auto whole = static_cast<std::int32_t>(raw >> (32 - Bits)) - (1 << (Bits - 1));
    out[i] = static_cast<float>(whole) * unit;
  }
}

LOCKSTEP_CLONES("arch=x86-64-v4", "avx2", "default")
void fill24(float* out, Stream stream, float multiplier, std::uint32_t start, std::size_t count) {
  fill_stream<24>(out, stream, multiplier, start, count);
}

LOCKSTEP_CLONES("arch=x86-64-v4", "avx2", "default")
void fill8(float* out, Stream stream, float multiplier, std::uint32_t start, std::size_t count) {
  fill_stream<8>(out, stream, multiplier, start, count);
}

}  // namespace

Stream make_stream(std::uint32_t seed, std::uint32_t tensor) {
  const std::uint32_t k1 = fmix(seed + 0x9E3779B9u * (2 * tensor + 1));
  return {k1, fmix(k1 ^ 0x85EBCA6Bu)};
}

void generate(float* out, Stream stream, int bits, float multiplier, std::uint64_t start, std::size_t count) {
  const auto first = static_cast<std::uint32_t>(start);
  if (bits == 24) {
    fill24(out, stream, multiplier, first, count);
  } else {
    fill8(out, stream, multiplier, first, count);
  }
}

}  // namespace lockstep
