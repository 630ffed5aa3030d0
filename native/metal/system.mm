#include "system.h"

#import <Foundation/Foundation.h>

#include <sys/sysctl.h>

#include <cstddef>

#include "sdk.h"

namespace lockstep::metal {
namespace {

/// A string of the kernel; nothing where it does not know the name.
std::optional<std::string> kernel_string(const char* name) {
  std::size_t bytes = 0;
  if (sysctlbyname(name, nullptr, &bytes, nullptr, 0) != 0 || bytes == 0) return std::nullopt;
  std::string value(bytes, '\0');
  if (sysctlbyname(name, value.data(), &bytes, nullptr, 0) != 0) return std::nullopt;
  // The length counts the terminating zero.
  value.resize(bytes);
  while (!value.empty() && value.back() == '\0') value.pop_back();
  return value;
}

std::optional<int> kernel_int(const char* name) {
  int value = 0;
  std::size_t bytes = sizeof(value);
  if (sysctlbyname(name, &value, &bytes, nullptr, 0) != 0 || bytes != sizeof(value)) return std::nullopt;
  return value;
}

}  // namespace

SystemFacts system_facts() {
  SystemFacts facts;
  facts.cpu_brand = kernel_string("machdep.cpu.brand_string");
  facts.model = kernel_string("hw.model");
  if (const std::optional<int> present = kernel_int("kern.hv_vmm_present")) facts.virtual_machine = *present != 0;
  facts.os_build = kernel_string("kern.osversion");
  facts.sdk_version = __MAC_OS_X_VERSION_MAX_ALLOWED;
  @autoreleasepool {
    const NSOperatingSystemVersion version = [NSProcessInfo processInfo].operatingSystemVersion;
    facts.os_version = std::to_string(version.majorVersion) + "." + std::to_string(version.minorVersion) + "." +
                       std::to_string(version.patchVersion);
  }
  return facts;
}

}  // namespace lockstep::metal
