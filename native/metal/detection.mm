#include "detection.h"

#import <CoreFoundation/CoreFoundation.h>
#import <IOKit/IOKitLib.h>

#include "sdk.h"
#include "system.h"
#include "words.h"

namespace lockstep::metal {
namespace {

/// Raw values of MTLGPUFamily: Apple5 to Apple11, Metal3, Metal4. `FAMILY_VALUES` of binding.ts; a macOS that does not
/// know a value says no.
constexpr int kFamilies[] = {1005, 1006, 1007, 1008, 1009, 1010, 1011, 5001, 5002};

constexpr const char* kCoreCount = "gpu-core-count";

/// `gpu-core-count` of the IO registry, on the entry of the device or on one around it.
std::variant<std::uint64_t, std::string> gpu_cores(std::uint64_t registry_id) {
  // The matching dictionary is consumed by the call.
  const io_service_t service =
      IOServiceGetMatchingService(kIOMainPortDefault, IORegistryEntryIDMatching(registry_id));
  if (service == 0) return "the IO registry has no entry " + std::to_string(registry_id);
  const CFTypeRef value =
      IORegistryEntrySearchCFProperty(service, kIOServicePlane, CFSTR("gpu-core-count"), kCFAllocatorDefault,
                                      kIORegistryIterateRecursively | kIORegistryIterateParents);
  IOObjectRelease(service);
  if (value == nullptr) return std::string("the IO registry tells no ") + kCoreCount + " for the device";
  std::int64_t count = 0;
  const bool number = CFGetTypeID(value) == CFNumberGetTypeID() &&
                      CFNumberGetValue(static_cast<CFNumberRef>(value), kCFNumberSInt64Type, &count) != 0;
  CFRelease(value);
  if (!number || count <= 0) return std::string(kCoreCount) + " of the IO registry is no positive number";
  return static_cast<std::uint64_t>(count);
}

std::optional<std::vector<std::string>> counter_sets(id<MTLDevice> device) {
  NSArray<id<MTLCounterSet>>* sets = device.counterSets;
  if (sets == nil) return std::nullopt;
  std::vector<std::string> names;
  for (id<MTLCounterSet> set in sets) names.push_back(to_string(set.name));
  return names;
}

DeviceFacts facts_of(id<MTLDevice> device, id<MTLDevice> preferred) {
  DeviceFacts facts;
  facts.registry_id = device.registryID;
  facts.name = to_string(device.name);
  facts.is_default = preferred != nil && preferred.registryID == device.registryID;
  if (@available(macOS 14.0, *)) facts.architecture = to_string(device.architecture.name);
  // Nil, whatever the header says, on some virtual GPUs.
  if (facts.architecture == "") facts.architecture = std::nullopt;
  for (const int family : kFamilies) {
    if ([device supportsFamily:static_cast<MTLGPUFamily>(family)]) facts.families.push_back(family);
  }
  facts.unified_memory = device.hasUnifiedMemory;
  facts.recommended_max_working_set_bytes = device.recommendedMaxWorkingSetSize;
  facts.max_buffer_bytes = device.maxBufferLength;
  facts.max_threadgroup_memory_bytes = device.maxThreadgroupMemoryLength;
  const MTLSize threads = device.maxThreadsPerThreadgroup;
  facts.max_threads_per_threadgroup = {threads.width, threads.height, threads.depth};
  facts.counter_sets = counter_sets(device);
  facts.samples_at_stage_boundary = [device supportsCounterSampling:MTLCounterSamplingPointAtStageBoundary];
  facts.samples_at_dispatch_boundary = [device supportsCounterSampling:MTLCounterSamplingPointAtDispatchBoundary];
#if LOCKSTEP_SDK_26
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunguarded-availability"
  if (is_macos_26()) facts.timestamp_frequency_hz = [device queryTimestampFrequency];
#pragma clang diagnostic pop
#endif
  facts.gpu_cores = gpu_cores(device.registryID);
  return facts;
}

/// Every device. The list was seen empty in sandboxed processes where there was a default device all the same.
std::vector<id<MTLDevice>> all_devices(id<MTLDevice> preferred) {
  std::vector<id<MTLDevice>> all;
  bool listed = preferred == nil;
  NSArray<id<MTLDevice>>* devices = MTLCopyAllDevices();
  for (id<MTLDevice> device in devices) {
    all.push_back(device);
    listed = listed || device.registryID == preferred.registryID;
  }
  if (!listed) all.push_back(preferred);
  return all;
}

}  // namespace

std::vector<DeviceFacts> device_facts() {
  std::vector<DeviceFacts> facts;
  @autoreleasepool {
    id<MTLDevice> preferred = MTLCreateSystemDefaultDevice();
    for (id<MTLDevice> device : all_devices(preferred)) facts.push_back(facts_of(device, preferred));
  }
  return facts;
}

bool is_chip(id<MTLDevice> device) { return [device supportsFamily:MTLGPUFamilyApple7]; }

id<MTLDevice> device_with(std::uint64_t registry_id) {
  for (id<MTLDevice> device : all_devices(MTLCreateSystemDefaultDevice())) {
    if (device.registryID == registry_id) return device;
  }
  return nil;
}

}  // namespace lockstep::metal
