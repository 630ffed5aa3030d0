#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

/// A stream of the counter-based generator; `oracle/generator.ts` holds the definition. All arithmetic is modulo 2^32.
struct Stream {
  std::uint32_t k1;
  std::uint32_t k2;
};

Stream make_stream(std::uint32_t seed, std::uint32_t tensor);

/// Writes elements [start, start + count) of the stream, times `multiplier` (a power of two keeps them exact), to
/// `out`. `bits` is 24 (exact in f32) or 8 (exact in f32, f16 and bf16). Element indices wrap at 2^32.
void generate(float* out, Stream stream, int bits, float multiplier, std::uint64_t start, std::size_t count);

}  // namespace lockstep
