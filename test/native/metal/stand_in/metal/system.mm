// STAND-IN for tests: the system around Metal. @available, the kernel's names, the IO registry, and exceptions.
#import <IOKit/IOKitLib.h>
#include <sys/sysctl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#import "../foundation/foundation.h"
#include "scenario.h"

/** The layout that the compiler gives to CFSTR("..."). */
struct ConstantCFString {
  const void *isa;
  int flags;
  const char *text;
  long length;
};

@implementation NSProcessInfo (StandIn)
- (NSOperatingSystemVersion)operatingSystemVersion {
  NSOperatingSystemVersion version{};
  std::sscanf(stand_in::setting("os", "26.1.0").c_str(), "%ld.%ld.%ld", &version.majorVersion, &version.minorVersion,
              &version.patchVersion);
  return version;
}
@end

extern "C" {

int __CFConstantStringClassReference[32];
const CFAllocatorRef kCFAllocatorDefault = nullptr;
const mach_port_t kIOMainPortDefault = 0;

bool stand_in_macos_is_at_least(const char *platforms) {
  int major = 0;
  if (std::sscanf(platforms, "macOS %d", &major) != 1) stand_in::die("@available(%s) does not begin with macOS", platforms);
  return stand_in::told_macos_major() >= major;
}

/** `sysctl.NAME`: a number for kern.hv_vmm_present, else a string; absent names are not known to the kernel. */
int sysctlbyname(const char *name, void *value, size_t *bytes, void *, size_t) {
  const std::string key = std::string("sysctl.") + name;
  if (!stand_in::has(key.c_str())) {
    errno = ENOENT;
    return -1;
  }
  const std::string text = stand_in::setting(key.c_str());
  const bool isNumber = std::strcmp(name, "kern.hv_vmm_present") == 0;
  const int number = std::atoi(text.c_str());
  const size_t size = isNumber ? sizeof number : text.size() + 1;
  if (value != nullptr) {
    if (*bytes < size) {
      errno = ENOMEM;
      return -1;
    }
    std::memcpy(value, isNumber ? static_cast<const void *>(&number) : text.c_str(), size);
  }
  *bytes = size;
  return 0;
}

CFMutableDictionaryRef IORegistryEntryIDMatching(uint64_t entryID) {
  NSMutableDictionary *matching = [NSMutableDictionary new];
  matching[@"IORegistryEntryID"] = [NSNumber numberWithLongLong:static_cast<long long>(entryID)];
  return (__bridge_retained CFMutableDictionaryRef)matching;
}

io_service_t IOServiceGetMatchingService(mach_port_t, CFDictionaryRef matching) {
  // Consumed, as the header says.
  NSDictionary *given = (__bridge_transfer NSDictionary *)matching;
  if (given[@"IORegistryEntryID"] == nil || stand_in::has("fail.registry")) return 0;
  stand_in::count("io objects taken");
  return 17;
}

kern_return_t IOObjectRelease(io_object_t object) {
  if (object != 17) stand_in::violation("IOObjectRelease of %u, which was never given", object);
  stand_in::count("io objects released");
  return 0;
}

CFTypeRef IORegistryEntrySearchCFProperty(io_registry_entry_t, const io_name_t plane, CFStringRef key, CFAllocatorRef,
                                          IOOptionBits options) {
  const auto *name = reinterpret_cast<const ConstantCFString *>(key);
  if (std::strcmp(plane, kIOServicePlane) != 0 || options == 0) stand_in::violation("the IO registry was asked in an unknown way");
  if (std::strcmp(name->text, "gpu-core-count") != 0 || !stand_in::has("cores")) return nullptr;
  if (stand_in::setting("cores") == "words") return (__bridge_retained CFTypeRef)stand_in::string("many");
  return (__bridge_retained CFTypeRef)[NSNumber numberWithLongLong:stand_in::number("cores", 0)];
}

CFTypeID CFNumberGetTypeID(void) { return 22; }
CFTypeID CFGetTypeID(CFTypeRef value) {
  return [(__bridge NSObject *)value respondsToSelector:@selector(longLongValue)] ? CFNumberGetTypeID() : 7;
}
Boolean CFNumberGetValue(CFNumberRef number, CFNumberType type, void *value) {
  if (type != kCFNumberSInt64Type) stand_in::die("CFNumberGetValue of type %ld", type);
  const int64_t whole = [(__bridge NSNumber *)number longLongValue];
  std::memcpy(value, &whole, sizeof whole);
  return 1;
}
void CFRelease(CFTypeRef value) { objc_release(const_cast<void *>(value)); }
}
