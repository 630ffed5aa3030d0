#pragma once

#import <Metal/Metal.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "words.h"

namespace lockstep::metal {

enum class MathMode { safe, relaxed, fast };

/// `MetalCompileRequest` of binding.ts.
struct CompileRequest {
  std::string text;
  std::uint64_t language_version = 0;
  MathMode math_mode = MathMode::safe;
  std::vector<std::pair<std::string, std::string>> macros;
  bool logging = false;
};

struct LibraryConstant {
  std::string name;
  std::uint64_t index = 0;
  std::uint64_t type = 0;
  bool required = false;
};

struct LibraryFunction {
  std::string name;
  std::vector<LibraryConstant> constants;
};

/// A compiled source and what Metal said of it.
struct Library {
  id<MTLLibrary> library = nil;
  /// `registryID` of the device that compiled it: no other device can use it.
  std::uint64_t device = 0;
  std::vector<LibraryFunction> functions;
  /// Metal gives warnings as an error beside a library; empty if there are none.
  std::string warnings;
  /// Whether `mathMode` was set (macOS 15) or `fastMathEnabled`.
  bool by_math_mode = false;
  double ms = 0;
};

/// Compiles a source on the calling thread. Metal's words where it refuses.
std::variant<std::shared_ptr<Library>, ErrorWords> compile(id<MTLDevice> device, const CompileRequest& request);

}  // namespace lockstep::metal
