#include "system.h"

#import <Foundation/Foundation.h>

#include <sys/sysctl.h>

#include <cstddef>
#include <cstdlib>

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

/// The version of macOS itself. A program that was built with an SDK before 26, as node and Electron may be, is told 16
/// for 26; there is no macOS 16 to 25. The build number begins with the version of Darwin, one less from macOS 26 on.
long major_version(long told, const std::optional<std::string>& build) {
  if (told < 16 || told > 25) return told;
  const long darwin = build ? std::strtol(build->c_str(), nullptr, 10) : 0;
  return darwin >= 25 ? darwin + 1 : told + 10;
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
    const long major = major_version(version.majorVersion, facts.os_build);
    facts.os_version = std::to_string(major) + "." + std::to_string(version.minorVersion) + "." +
                       std::to_string(version.patchVersion);
  }
  return facts;
}

bool is_macos_26() {
  if (@available(macOS 26.0, *)) return true;
  @autoreleasepool {
    return [NSProcessInfo processInfo].operatingSystemVersion.majorVersion >= 16;
  }
}

}  // namespace lockstep::metal
