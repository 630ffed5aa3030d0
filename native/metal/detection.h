#pragma once

#import <Metal/Metal.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lockstep::metal {

/// `MetalDeviceFacts` of binding.ts.
struct DeviceFacts {
  std::uint64_t registry_id = 0;
  std::string name;
  bool is_default = false;
  std::optional<std::string> architecture;
  std::vector<int> families;
  bool unified_memory = false;
  std::uint64_t recommended_max_working_set_bytes = 0;
  std::uint64_t max_buffer_bytes = 0;
  std::uint64_t max_threadgroup_memory_bytes = 0;
  std::array<std::uint64_t, 3> max_threads_per_threadgroup{};
  std::optional<std::vector<std::string>> counter_sets;
  bool samples_at_stage_boundary = false;
  bool samples_at_dispatch_boundary = false;
  std::optional<std::uint64_t> timestamp_frequency_hz;
  /// The count, or why it is not known.
  std::variant<std::uint64_t, std::string> gpu_cores;
};

std::vector<DeviceFacts> device_facts();

/// Whether it is the GPU of an M-series chip (family Apple7). Those that a virtual machine lends are of fewer families,
/// and their drivers lack what Metal declares: residency sets, and heaps of shared memory, for which others end the
/// process.
bool is_chip(id<MTLDevice> device);

/// nil where no device has this id.
id<MTLDevice> device_with(std::uint64_t registry_id);

}  // namespace lockstep::metal
