#include "memory.h"

#include <optional>
#include <stdexcept>

#include "detection.h"
#include "exception.h"
#include "words.h"

namespace lockstep::metal {
namespace {

constexpr std::size_t kFront = 256;
constexpr std::size_t kLeastBack = 16;
constexpr std::size_t kHeapFrom = std::size_t{16} << 20;

/// Tracked, because memory of heaps is not by default: the next encoder could start before this one has written.
constexpr MTLResourceOptions kOptions = MTLResourceStorageModeShared | MTLResourceHazardTrackingModeTracked;

id<MTLHeap> make_heap(id<MTLDevice> device, std::size_t length, const std::string& label) {
  MTLHeapDescriptor* descriptor = [MTLHeapDescriptor new];
  descriptor.storageMode = MTLStorageModeShared;
  descriptor.hazardTrackingMode = MTLHazardTrackingModeTracked;
  descriptor.size = [device heapBufferSizeAndAlignWithLength:length options:kOptions].size;
  id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
  heap.label = to_ns_string(label);
  return heap;
}

[[noreturn]] void fail(std::size_t bytes, const std::string& label, const std::string& why) {
  throw std::runtime_error("GPU memory \"" + label + "\" of " + std::to_string(bytes) + " bytes: " + why);
}

}  // namespace

std::shared_ptr<Memory> Memory::allocate(id<MTLDevice> device, std::shared_ptr<Residency> residency,
                                         std::size_t bytes, const std::string& label) {
  const std::size_t most = device.maxBufferLength;
  if (most < 2 * kFront || bytes > most - 2 * kFront) {
    fail(bytes, label, "the device allows " + std::to_string(most) + " bytes a buffer, " +
                           std::to_string(2 * kFront) + " of them for sentinels; use a shorter case");
  }
  const std::size_t length = (kFront + bytes + kLeastBack + kFront - 1) / kFront * kFront;
  std::shared_ptr<Memory> memory(new Memory());
  memory->bytes_ = bytes;
  memory->back_ = length - kFront - bytes;
  @autoreleasepool {
    const std::optional<ErrorWords> refused = refusal_of([&] {
      if (bytes >= kHeapFrom && is_chip(device)) {
        memory->heap_ = make_heap(device, length, label);
        memory->buffer_ = [memory->heap_ newBufferWithLength:length options:kOptions];
        // A buffer of its own serves as well.
        if (memory->buffer_ == nil) memory->heap_ = nil;
      }
      if (memory->buffer_ == nil) memory->buffer_ = [device newBufferWithLength:length options:kOptions];
      memory->buffer_.label = to_ns_string(label);
    });
    if (refused) fail(bytes, label, refused->words);
  }
  if (memory->buffer_ == nil) {
    fail(bytes, label, "Metal gave none, with " + std::to_string(device.currentAllocatedSize) +
                           " bytes allocated before and a working set of " +
                           std::to_string(device.recommendedMaxWorkingSetSize) +
                           " bytes recommended; release buffers or use a shorter case");
  }
  auto* start = static_cast<std::uint8_t*>(memory->buffer_.contents);
  if (start == nullptr) fail(bytes, label, "Metal gave memory that the CPU cannot reach");
  memory->data_ = start + kFront;
  mark_sentinel(start, kFront);
  mark_sentinel(memory->data_ + bytes, memory->back_);
  if (memory->heap_ != nil) {
    residency->add(memory->heap_);
    memory->residency_ = std::move(residency);
  }
  return memory;
}

Memory::~Memory() {
  @autoreleasepool {
    if (residency_) residency_->remove(heap_);
    buffer_ = nil;
    heap_ = nil;
  }
}

bool Memory::sentinel_intact() const {
  return is_sentinel(data_ - kFront, kFront) && is_sentinel(data_ + bytes_, back_);
}

std::size_t Memory::offset() const { return kFront; }

}  // namespace lockstep::metal
