#include "clock.h"

namespace lockstep::metal {
namespace {

/// How far Metal's CPU timestamps may be from nanoseconds: ticks of another unit are off by far more.
constexpr double kTolerance = 0.05;
constexpr double kGranularityNs = 1000;

double ns_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

}  // namespace

ClockSample sample_clocks(id<MTLDevice> device) {
  ClockSample sample;
  MTLTimestamp cpu = 0;
  MTLTimestamp gpu = 0;
  sample.before = std::chrono::steady_clock::now();
  [device sampleTimestamps:&cpu gpuTimestamp:&gpu];
  sample.after = std::chrono::steady_clock::now();
  sample.cpu = cpu;
  sample.gpu = gpu;
  return sample;
}

std::variant<double, std::string> ticks_to_ns(std::uint64_t ticks, const ClockSample& first, const ClockSample& last) {
  if (last.cpu <= first.cpu || last.gpu <= first.gpu) {
    return std::string("the timestamps of CPU and GPU did not advance between two samples");
  }
  const double cpu = static_cast<double>(last.cpu - first.cpu);
  const double least = ns_between(first.after, last.before) * (1 - kTolerance) - kGranularityNs;
  const double most = ns_between(first.before, last.after) * (1 + kTolerance) + kGranularityNs;
  if (cpu < least || cpu > most) {
    return "Metal's CPU timestamps advanced by " + std::to_string(last.cpu - first.cpu) + " in " +
           std::to_string(static_cast<std::uint64_t>(ns_between(first.before, last.after))) +
           " ns of the steady clock: they do not count nanoseconds here";
  }
  return static_cast<double>(ticks) * cpu / static_cast<double>(last.gpu - first.gpu);
}

}  // namespace lockstep::metal
