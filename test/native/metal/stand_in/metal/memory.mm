// STAND-IN for tests: buffers, heaps and residency sets. A buffer is a file that the emulator maps too.
#include <algorithm>
#include <cstring>

#import "objects.h"

/** What fresh memory holds: nothing may rely on zeros. */
constexpr unsigned char kRubbish = 0xC3;

@implementation StandInBuffer
@synthesize label = _label;

+ (instancetype)make:(unsigned long)length options:(MTLResourceOptions)options device:(StandInDevice *)device heap:(StandInHeap *)heap {
  if (length == 0) stand_in::violation("a buffer of 0 bytes");
  if (length > device.maxBufferLength) stand_in::violation("a buffer of %lu bytes; the device allows %lu", length, device.maxBufferLength);
  if ((options & 0xf0) != MTLResourceStorageModeShared) stand_in::violation("a buffer that the CPU cannot reach");
  if (stand_in::has("fail.buffer")) return nil;
  StandInBuffer *made = [StandInBuffer new];
  made->memory = lockstep::SharedMemory::allocate(length);
  std::memset(made->memory->data(), kRubbish, length);
  made->device = device;
  made->heap = heap;
  made->options = options;
  if (heap == nil) [device allocated:static_cast<long>(length)];
  stand_in::count(heap == nil ? "buffers" : "heap buffers");
  return made;
}
- (id<MTLDevice>)device {
  return device;
}
- (NSUInteger)length {
  return memory->bytes();
}
- (void *)contents {
  return stand_in::has("fail.contents") ? nullptr : memory->data();
}
- (void)dealloc {
  if (memory == nullptr) return;
  if (id != 0) stand_in::forget_buffer(id);
  if (heap != nil) heap->used -= memory->bytes();
  if (heap == nil) [device allocated:-static_cast<long>(memory->bytes())];
}
@end

@implementation MTLHeapDescriptor
@end

@implementation StandInHeap
@synthesize label = _label;
- (NSUInteger)size {
  return size;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  if (used + length > size) return nil;
  StandInBuffer *made = [StandInBuffer make:length options:options device:device heap:self];
  if (made != nil) used += length;
  return made;
}
- (void)dealloc {
  [device allocated:-static_cast<long>(size)];
}
@end

@implementation MTLResidencySetDescriptor
@end

@implementation StandInResidencySet
- (void)addAllocation:(id<MTLAllocation>)allocation {
  allocations.push_back(allocation);
  changed = true;
}
- (void)removeAllocation:(id<MTLAllocation>)allocation {
  const auto found = std::find(allocations.begin(), allocations.end(), (id)allocation);
  if (found == allocations.end()) return stand_in::violation("a residency set lost what it never had");
  allocations.erase(found);
  changed = true;
}
- (void)commit {
  changed = false;
}
- (void)requestResidency {
  if (changed) stand_in::violation("residency was requested before the set was committed");
  resident = true;
  stand_in::count("residency requests");
}
- (void)dealloc {
  if (!allocations.empty()) stand_in::violation("a residency set went with %zu allocations in it", allocations.size());
}
@end
