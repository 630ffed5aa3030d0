#pragma once

#include <optional>
#include <string>

namespace lockstep::metal {

/// `MetalSystemFacts` of binding.ts.
struct SystemFacts {
  std::optional<std::string> cpu_brand;
  std::optional<std::string> model;
  std::optional<bool> virtual_machine;
  std::string os_version;
  std::optional<std::string> os_build;
  int sdk_version = 0;
};

SystemFacts system_facts();

/// Whether macOS 26 or later runs. `@available` alone answers for the 16 that a program built with an older SDK is told, so
/// that calls behind this one do without it.
bool is_macos_26();

}  // namespace lockstep::metal
