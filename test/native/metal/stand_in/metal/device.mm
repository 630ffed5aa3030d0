// STAND-IN for tests: devices. Nothing of it is a GPU, and its name says so.
#include <ctime>
#include <sstream>

#import "objects.h"

MTLCommonCounterSet const MTLCommonCounterSetTimestamp = @"timestamp";

@implementation MTLArchitecture
- (NSString *)name {
  const std::string told = stand_in::setting("architecture", "stand-in");
  // Nil in spite of the header, as some virtual GPUs have it.
  return told == "nil" ? nil : stand_in::string(told);
}
@end

@implementation StandInCounterSet {
  NSString *name;
}
- (instancetype)initWithName:(NSString *)given {
  name = given;
  return self;
}
- (NSString *)name {
  return name;
}
@end

@implementation StandInDevice {
  std::atomic<long> bytes;
  unsigned index;
}

+ (NSMutableArray *)all {
  static NSMutableArray *devices = nil;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (devices == nil) devices = [NSMutableArray new];
  while (devices.count < 2) {
    StandInDevice *device = [StandInDevice new];
    device->index = static_cast<unsigned>(devices.count);
    [devices addObject:device];
  }
  return devices;
}

- (void)allocated:(long)change {
  bytes += change;
}
- (NSString *)name {
  return index == 0 ? stand_in::string(stand_in::setting("name", "Stand-in for Metal (no GPU)")) : @"Second stand-in for Metal (no GPU)";
}
- (uint64_t)registryID {
  // Beyond what a JavaScript number holds exactly.
  return 0x20000000000001ull + index;
}
- (MTLArchitecture *)architecture {
  stand_in::needs_macos(14, "architecture");
  return [MTLArchitecture new];
}
- (BOOL)hasUnifiedMemory {
  return stand_in::number("unified", 1) != 0;
}
- (uint64_t)recommendedMaxWorkingSetSize {
  return static_cast<uint64_t>(stand_in::number("working_set", 1l << 32));
}
- (NSUInteger)maxBufferLength {
  return static_cast<NSUInteger>(stand_in::number("max_buffer", 1l << 31));
}
- (NSUInteger)maxThreadgroupMemoryLength {
  return static_cast<NSUInteger>(stand_in::number("threadgroup_memory", 32768));
}
- (MTLSize)maxThreadsPerThreadgroup {
  return MTLSizeMake(1024, 1024, 1024);
}
- (NSUInteger)currentAllocatedSize {
  return static_cast<NSUInteger>(bytes.load());
}
- (NSArray<id<MTLCounterSet>> *)counterSets {
  const std::string names = stand_in::setting("counter_sets", "timestamp");
  if (names == "nil") return nil;
  NSMutableArray *sets = [NSMutableArray new];
  std::istringstream words(names);
  for (std::string word; words >> word;) [sets addObject:[[StandInCounterSet alloc] initWithName:stand_in::string(word)]];
  return sets;
}
- (BOOL)supportsFamily:(MTLGPUFamily)family {
  std::istringstream words(stand_in::setting("families", "1005 1006 1007 1008 1009 5001"));
  for (long value; words >> value;) {
    if (value == family) return YES;
  }
  return NO;
}
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)point {
  if (point == MTLCounterSamplingPointAtStageBoundary) return stand_in::number("stage_boundary", 1) != 0;
  return stand_in::number("dispatch_boundary", 0) != 0;
}
- (uint64_t)queryTimestampFrequency {
  stand_in::needs_macos(26, "queryTimestampFrequency");
  return static_cast<uint64_t>(stand_in::number("gpu_hz", 1000000000));
}
- (void)sampleTimestamps:(MTLTimestamp *)cpu gpuTimestamp:(MTLTimestamp *)gpu {
  const uint64_t ns = stand_in::now_ns();
  // `cpu_divisor`: a machine whose CPU timestamps are no nanoseconds.
  *cpu = ns / static_cast<uint64_t>(stand_in::number("cpu_divisor", 1));
  *gpu = stand_in::has("fail.clock") ? 1 : stand_in::gpu_ticks(ns);
}

- (id<MTLCommandQueue>)newCommandQueue {
  if (stand_in::has("fail.queue")) return nil;
  return [StandInQueue new];
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source options:(MTLCompileOptions *)options error:(NSError **)error {
  stand_in::may_block("newLibraryWithSource");
  return [StandInLibrary compile:source options:options error:error];
}
- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor *)descriptor error:(NSError **)error {
  stand_in::may_block("newBinaryArchiveWithDescriptor");
  // Real drivers end the process: "Target device architecture is nil".
  if (![self supportsFamily:MTLGPUFamilyApple7]) stand_in::violation("a binary archive on a GPU that is no chip");
  return [StandInArchive open:descriptor error:error];
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return [StandInBuffer make:length options:options device:self heap:nil];
}
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return {(length + 16383) / 16384 * 16384, 16384};
}
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor *)descriptor {
  if (descriptor.size == 0) stand_in::violation("a heap of 0 bytes");
  // Real drivers end the process: "MTLStorageModePrivate is required for heaps".
  if (![self supportsFamily:MTLGPUFamilyApple7]) stand_in::violation("a heap of shared memory on a GPU that is no chip");
  if (stand_in::has("fail.heap")) return nil;
  StandInHeap *heap = [StandInHeap new];
  heap->device = self;
  heap->size = descriptor.size;
  [self allocated:static_cast<long>(heap->size)];
  stand_in::count("heaps");
  return heap;
}
- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:(MTLCounterSampleBufferDescriptor *)descriptor error:(NSError **)error {
  if (stand_in::has("fail.samples")) return stand_in::fail(error, @"MTLCounterErrorDomain", 1, stand_in::setting("fail.samples"));
  if (descriptor.counterSet == nil) stand_in::violation("a sample buffer without a counter set");
  StandInSamples *made = [StandInSamples new];
  made->samples.assign(descriptor.sampleCount, 0);
  return made;
}
- (id<MTLLogState>)newLogStateWithDescriptor:(MTLLogStateDescriptor *)descriptor error:(NSError **)error {
  stand_in::needs_macos(15, "newLogStateWithDescriptor");
  if (stand_in::has("fail.log")) return stand_in::fail(error, @"MTLLogStateErrorDomain", 2, stand_in::setting("fail.log"));
  if (descriptor.bufferSize < 1024) stand_in::violation("a log buffer of %ld bytes", descriptor.bufferSize);
  if (![self supportsFamily:MTLGPUFamilyApple7]) return stand_in::fail(error, @"MTLLogStateErrorDomain", 2, "(null)");
  return [StandInLogState new];
}
- (id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor *)descriptor error:(NSError **)error {
  stand_in::needs_macos(15, "newResidencySetWithDescriptor");
  if (![self supportsFamily:MTLGPUFamilyApple7]) stand_in::violation("a residency set on a GPU that is no chip");
  if (stand_in::has("fail.residency")) return stand_in::fail(error, @"MTLResidencySetErrorDomain", 1, stand_in::setting("fail.residency"));
  return [StandInResidencySet new];
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                                             options:(MTLPipelineOption)options
                                                          reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
                                                               error:(NSError **)error {
  stand_in::may_block("newComputePipelineStateWithDescriptor");
  return [StandInPipeline make:descriptor options:options reflection:reflection error:error device:self];
}
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  if (stand_in::number("devices", 1) == 0) return nil;
  return [StandInDevice all][0];
}

NSArray<id<MTLDevice>> *MTLCopyAllDevices(void) {
  NSMutableArray *given = [NSMutableArray new];
  if (stand_in::has("unlisted")) return given;
  for (StandInDevice *device in [StandInDevice all]) {
    if (static_cast<long>(given.count) < stand_in::number("devices", 1)) [given addObject:device];
  }
  return given;
}

namespace stand_in {

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t gpu_ticks(uint64_t ns) {
  return static_cast<uint64_t>(static_cast<double>(ns) * static_cast<double>(number("gpu_hz", 1000000000)) / 1e9);
}

}  // namespace stand_in
