#pragma once

#import <Metal/Metal.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace lockstep::metal {

/// `MetalLogLine` of binding.ts; the level is the raw MTLLogLevel.
struct LogLine {
  std::int64_t level = 0;
  std::string subsystem;
  std::string category;
  std::string message;
};

/// Where kernels log to with `os_log` (macOS 15). Metal does not tell which command buffer logged, so lines go to whoever
/// listens when they come.
class KernelLog {
 public:
  using Listener = std::function<void(const LogLine&)>;

  /// Throws std::runtime_error where the system is too old or Metal refuses.
  static std::shared_ptr<KernelLog> open(id<MTLDevice> device);

  void attach(MTLCommandBufferDescriptor* descriptor) const;
  void listen(Listener listener);

 private:
  KernelLog() = default;
  void take(const LogLine& line);

  /// An id<MTLLogState>, without a name that SDKs before 15 lack.
  [[maybe_unused]] id state_ = nil;
  std::mutex mutex_;
  Listener listener_;
};

}  // namespace lockstep::metal
