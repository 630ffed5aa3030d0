#include "host_memory.h"

#include <algorithm>
#include <cstring>

namespace lockstep {
namespace {

constexpr std::uint8_t kSentinel = 0xA5;

}  // namespace

void HostMemory::fill(std::uint32_t word) {
  const std::size_t words = bytes() / sizeof(word);
  // The buffer starts at a multiple of 16 bytes, so words are aligned.
  auto* out = reinterpret_cast<std::uint32_t*>(data());
  for (std::size_t i = 0; i < words; ++i) out[i] = word;
  std::memcpy(data() + words * sizeof(word), &word, bytes() - words * sizeof(word));
}

void mark_sentinel(std::uint8_t* start, std::size_t count) { std::memset(start, kSentinel, count); }

bool is_sentinel(const std::uint8_t* start, std::size_t count) {
  return std::all_of(start, start + count, [](std::uint8_t byte) { return byte == kSentinel; });
}

}  // namespace lockstep
