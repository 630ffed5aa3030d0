#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

/// Memory of an exact byte size between sentinels, whoever gave it: what the oracle, the generator and JavaScript work on.
class HostMemory {
 public:
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  virtual ~HostMemory() = default;

  /// A multiple of 16.
  virtual std::uint8_t* data() const = 0;
  virtual std::size_t bytes() const = 0;
  /// True while nothing has written around the buffer.
  virtual bool sentinel_intact() const = 0;

  /// Sets every 32-bit word to `word`, and a last partial word byte by byte.
  void fill(std::uint32_t word);

 protected:
  HostMemory() = default;
};

/// Marks `count` bytes from `start`, and tells whether they are still marked.
void mark_sentinel(std::uint8_t* start, std::size_t count);
bool is_sentinel(const std::uint8_t* start, std::size_t count);

}  // namespace lockstep
