#pragma once

#import <Metal/Metal.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "../addon/host_memory.h"
#include "residency.h"

namespace lockstep::metal {

/// Memory that CPU and GPU share, laid out as
///
///     [ sentinel: 256 bytes ][ buffer: `bytes` ][ sentinel: 16 bytes or more, up to a multiple of 256 ]
///
/// in one MTLBuffer, which kernels are bound to at `offset()`: 256 bytes keep every alignment that Metal asks for.
class Memory final : public HostMemory {
 public:
  /// Throws std::runtime_error with both sizes where Metal gives none.
  static std::shared_ptr<Memory> allocate(id<MTLDevice> device, std::shared_ptr<Residency> residency,
                                          std::size_t bytes, const std::string& label);
  ~Memory() override;

  std::uint8_t* data() const override { return data_; }
  std::size_t bytes() const override { return bytes_; }
  bool sentinel_intact() const override;

  id<MTLBuffer> buffer() const { return buffer_; }
  std::size_t offset() const;

 private:
  Memory() = default;

  id<MTLBuffer> buffer_ = nil;
  /// nil for a small buffer.
  id<MTLHeap> heap_ = nil;
  std::shared_ptr<Residency> residency_;
  std::uint8_t* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t back_ = 0;
};

}  // namespace lockstep::metal
