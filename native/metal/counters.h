#pragma once

#import <Metal/Metal.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "clock.h"

namespace lockstep::metal {

/// Timestamps at the boundaries of one encoder: the only place where Apple GPUs sample. Used for one encoder at a time.
class Counters {
 public:
  explicit Counters(id<MTLDevice> device);

  /// Before the encoder is made. Leaves the descriptor alone where nothing can be sampled.
  void attach(MTLComputePassDescriptor* pass) const;
  /// Nanoseconds between both boundaries of the encoder that has completed, or why they are not known.
  std::variant<double, std::string> read(const ClockSample& first, const ClockSample& last);

 private:
  id<MTLCounterSampleBuffer> samples_ = nil;
  /// Why there is no sample buffer.
  std::string problem_;
  /// What the encoder before left: the same again means that nothing was written.
  std::uint64_t last_start_ = 0;
  std::uint64_t last_end_ = 0;
};

}  // namespace lockstep::metal
