#include "residency.h"

#include <cstdlib>

#include "detection.h"
#include "exception.h"
#include "sdk.h"

namespace lockstep::metal {
namespace {

/// Not in a process that captures: documents of queues with residency sets were not replayed on macOS 26.
[[maybe_unused]] bool captures() {
  const char* enabled = std::getenv("MTL_CAPTURE_ENABLED");
  return enabled != nullptr && *enabled != '\0' && *enabled != '0';
}

}  // namespace

Residency::Residency(id<MTLDevice> device, id<MTLCommandQueue> queue) : queue_(queue) {
#if LOCKSTEP_SDK_15
  if (!is_chip(device) || captures()) return;
  if (@available(macOS 15.0, *)) {
    // Without a set Metal pages memory in by itself: slower at most.
    static_cast<void>(refusal_of([&] {
      MTLResidencySetDescriptor* descriptor = [MTLResidencySetDescriptor new];
      descriptor.label = @"lockstep";
      NSError* error = nil;
      id<MTLResidencySet> set = [device newResidencySetWithDescriptor:descriptor error:&error];
      if (set == nil) return;
      [queue addResidencySet:set];
      set_ = set;
    }));
  }
#else
  static_cast<void>(device);
#endif
}

Residency::~Residency() {
#if LOCKSTEP_SDK_15
  if (@available(macOS 15.0, *)) {
    @autoreleasepool {
      if (set_ != nil) [queue_ removeResidencySet:static_cast<id<MTLResidencySet>>(set_)];
    }
  }
#endif
}

void Residency::add(id<MTLHeap> heap) {
#if LOCKSTEP_SDK_15
  if (@available(macOS 15.0, *)) {
    const std::lock_guard<std::mutex> lock(mutex_);
    id<MTLResidencySet> set = static_cast<id<MTLResidencySet>>(set_);
    [set addAllocation:heap];
    [set commit];
    // Now, so that the first dispatch does not wait for it.
    [set requestResidency];
  }
#else
  static_cast<void>(heap);
#endif
}

void Residency::remove(id<MTLHeap> heap) {
#if LOCKSTEP_SDK_15
  if (@available(macOS 15.0, *)) {
    const std::lock_guard<std::mutex> lock(mutex_);
    id<MTLResidencySet> set = static_cast<id<MTLResidencySet>>(set_);
    [set removeAllocation:heap];
    [set commit];
  }
#else
  static_cast<void>(heap);
#endif
}

}  // namespace lockstep::metal
