#pragma once

#import <Metal/Metal.h>

#include <memory>
#include <mutex>

namespace lockstep::metal {

/// The residency set of a queue: heaps in it stay resident as long as they are there, instead of being paged in for each
/// command buffer. Does nothing before macOS 15.
class Residency {
 public:
  Residency(id<MTLDevice> device, id<MTLCommandQueue> queue);
  ~Residency();
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  /// On any thread: memory goes with its last holder.
  void add(id<MTLHeap> heap);
  void remove(id<MTLHeap> heap);

 private:
  /// An id<MTLResidencySet>, without a name that SDKs before 15 lack; nil where there is none.
  [[maybe_unused]] id set_ = nil;
  [[maybe_unused]] id<MTLCommandQueue> queue_ = nil;
  std::mutex mutex_;
};

}  // namespace lockstep::metal
