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

}  // namespace lockstep::metal
