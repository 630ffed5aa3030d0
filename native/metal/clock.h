#pragma once

#import <Metal/Metal.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>

namespace lockstep::metal {

/// The clocks of CPU and GPU, read at once by Metal between two readings of the steady clock.
struct ClockSample {
  std::uint64_t cpu = 0;
  std::uint64_t gpu = 0;
  std::chrono::steady_clock::time_point before;
  std::chrono::steady_clock::time_point after;
};

ClockSample sample_clocks(id<MTLDevice> device);

/// Nanoseconds of so many GPU ticks, by the rate between two samples. Metal's CPU timestamps are taken for nanoseconds
/// only if the steady clock bears them out; the reason where the rate is not to be trusted.
std::variant<double, std::string> ticks_to_ns(std::uint64_t ticks, const ClockSample& first, const ClockSample& last);

}  // namespace lockstep::metal
