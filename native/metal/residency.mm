#include "residency.h"

#include "sdk.h"

namespace lockstep::metal {

Residency::Residency(id<MTLDevice> device, id<MTLCommandQueue> queue) : queue_(queue) {
#if LOCKSTEP_SDK_15
  if (@available(macOS 15.0, *)) {
    MTLResidencySetDescriptor* descriptor = [MTLResidencySetDescriptor new];
    descriptor.label = @"lockstep";
    NSError* error = nil;
    // Without a set Metal pages memory in by itself: slower at most.
    id<MTLResidencySet> set = [device newResidencySetWithDescriptor:descriptor error:&error];
    if (set != nil) [queue addResidencySet:set];
    set_ = set;
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
