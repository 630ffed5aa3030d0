#pragma once

#import <Metal/Metal.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "library.h"
#include "words.h"

namespace lockstep::metal {

struct ConstantValue {
  std::uint64_t index = 0;
  /// Raw MTLDataType.
  std::uint64_t type = 0;
  std::vector<std::uint8_t> bytes;
};

/// `MetalPipelineRequest` of binding.ts.
struct PipelineRequest {
  std::string function;
  std::vector<ConstantValue> constants;
  std::optional<std::uint64_t> max_total_threads_per_threadgroup;
  std::optional<std::array<std::uint64_t, 3>> required_threads_per_threadgroup;
  std::optional<std::string> archive;
};

struct PipelineArgument {
  enum class Kind { buffer, threadgroup, other };
  std::string name;
  Kind kind = Kind::other;
  std::uint64_t index = 0;
  std::uint64_t access = 0;
  bool used = false;
  std::uint64_t data_bytes = 0;
  std::uint64_t alignment = 0;
};

/// What the binary archive gave; `problem` has the words where it could not be read or written.
struct ArchiveOutcome {
  enum class Kind { none, hit, added, problem };
  Kind kind = Kind::none;
  std::string problem;
};

struct Pipeline {
  id<MTLComputePipelineState> state = nil;
  /// `registryID` of its device: no other device can run it.
  std::uint64_t device = 0;
  std::optional<std::vector<PipelineArgument>> arguments;
  ArchiveOutcome archive;
  /// Making the pipeline; without writing the archive.
  double ms = 0;
};

/// Most bytes of a function constant: a vector of four 64-bit integers.
constexpr std::size_t kMaxConstantBytes = 32;

/// Builds a pipeline on the calling thread. A broken archive is a problem in the outcome and never a refusal.
std::variant<std::shared_ptr<Pipeline>, ErrorWords> build_pipeline(id<MTLDevice> device, const Library& library,
                                                                   const PipelineRequest& request);

}  // namespace lockstep::metal
