#include "log.h"

#include <stdexcept>

#include "sdk.h"
#include "words.h"

namespace lockstep::metal {
namespace {

/// Of the ring that kernels write to, for one command buffer; Metal's own default is far less.
[[maybe_unused]] constexpr NSInteger kBufferBytes = 4 << 20;

}  // namespace

std::shared_ptr<KernelLog> KernelLog::open(id<MTLDevice> device) {
#if LOCKSTEP_SDK_15
  if (@available(macOS 15.0, *)) {
    std::shared_ptr<KernelLog> log(new KernelLog());
    MTLLogStateDescriptor* descriptor = [MTLLogStateDescriptor new];
    descriptor.level = MTLLogLevelDebug;
    descriptor.bufferSize = kBufferBytes;
    NSError* error = nil;
    id<MTLLogState> state = [device newLogStateWithDescriptor:descriptor error:&error];
    if (state == nil) {
      throw std::runtime_error("Metal logs no kernels: " + words_of(error, "it gave no reason").words);
    }
    // The state keeps its handlers, so a handler must not keep the log that keeps the state.
    const std::weak_ptr<KernelLog> weak = log;
    [state addLogHandler:^(NSString* subsystem, NSString* category, MTLLogLevel level, NSString* message) {
      @autoreleasepool {
        const std::shared_ptr<KernelLog> held = weak.lock();
        if (!held) return;
        held->take({static_cast<std::int64_t>(level), to_string(subsystem), to_string(category), to_string(message)});
      }
    }];
    log->state_ = state;
    return log;
  }
#endif
  static_cast<void>(device);
  throw std::runtime_error(
      "logging of kernels needs macOS 15 and an addon built with its SDK: open the device without it");
}

void KernelLog::attach(MTLCommandBufferDescriptor* descriptor) const {
#if LOCKSTEP_SDK_15
  if (@available(macOS 15.0, *)) descriptor.logState = static_cast<id<MTLLogState>>(state_);
#else
  static_cast<void>(descriptor);
#endif
}

void KernelLog::listen(Listener listener) {
  const std::lock_guard<std::mutex> lock(mutex_);
  listener_ = std::move(listener);
}

void KernelLog::take(const LogLine& line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (listener_) listener_(line);
}

}  // namespace lockstep::metal
