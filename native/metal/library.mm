#include "library.h"

#include <chrono>
#include <optional>

#include "exception.h"
#include "sdk.h"

namespace lockstep::metal {
namespace {

/// `safe` means what `fastMathEnabled = NO` meant on every macOS: no reassociation, NaN and infinity kept, and the
/// precise variants of exp, log and their like, which `mathMode` alone does not choose.
std::optional<ErrorWords> set_math_mode(MTLCompileOptions* options, MathMode mode, bool& by_math_mode) {
  by_math_mode = false;
#if LOCKSTEP_SDK_15
  if (@available(macOS 15.0, *)) {
    by_math_mode = true;
    options.mathMode = mode == MathMode::safe      ? MTLMathModeSafe
                       : mode == MathMode::relaxed ? MTLMathModeRelaxed
                                                   : MTLMathModeFast;
    options.mathFloatingPointFunctions =
        mode == MathMode::safe ? MTLMathFloatingPointFunctionsPrecise : MTLMathFloatingPointFunctionsFast;
    return std::nullopt;
  }
#endif
  if (mode == MathMode::relaxed) {
    return own_words("relaxed math needs macOS 15 and an addon built with its SDK: use safe or fast");
  }
  options.fastMathEnabled = mode == MathMode::fast;
  return std::nullopt;
}

std::optional<ErrorWords> set_logging(MTLCompileOptions* options, bool logging) {
  if (!logging) return std::nullopt;
#if LOCKSTEP_SDK_15
  if (@available(macOS 15.0, *)) {
    options.enableLogging = YES;
    return std::nullopt;
  }
#endif
  static_cast<void>(options);
  return own_words("logging of kernels needs macOS 15 and an addon built with its SDK: compile without it");
}

NSDictionary<NSString*, NSObject*>* macros_of(const CompileRequest& request) {
  NSMutableDictionary<NSString*, NSObject*>* macros = [NSMutableDictionary new];
  for (const auto& [name, value] : request.macros) macros[to_ns_string(name)] = to_ns_string(value);
  return macros;
}

LibraryFunction function_of(id<MTLLibrary> library, NSString* name) {
  LibraryFunction described{to_string(name), {}};
  // Not specialised: good for reading its constants, which is all that is done with it.
  id<MTLFunction> function = [library newFunctionWithName:name];
  NSDictionary<NSString*, MTLFunctionConstant*>* constants = function.functionConstantsDictionary;
  for (NSString* key in constants) {
    MTLFunctionConstant* constant = constants[key];
    described.constants.push_back({to_string(constant.name), constant.index,
                                   static_cast<std::uint64_t>(constant.type), constant.required == YES});
  }
  return described;
}

}  // namespace

std::variant<std::shared_ptr<Library>, ErrorWords> compile(id<MTLDevice> device, const CompileRequest& request) {
  auto made = std::make_shared<Library>();
  made->device = device.registryID;
  std::optional<ErrorWords> refused;
  const auto work = [&] {
    MTLCompileOptions* options = [MTLCompileOptions new];
    options.languageVersion = static_cast<MTLLanguageVersion>(request.language_version);
    options.preprocessorMacros = macros_of(request);
    refused = set_math_mode(options, request.math_mode, made->by_math_mode);
    if (!refused) refused = set_logging(options, request.logging);
    if (refused) return;
    NSError* error = nil;
    const auto start = std::chrono::steady_clock::now();
    made->library = [device newLibraryWithSource:to_ns_string(request.text) options:options error:&error];
    made->ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (made->library == nil) {
      refused = words_of(error, "Metal made no library and gave no reason");
      return;
    }
    made->warnings = error == nil ? std::string() : to_string(error.localizedDescription);
    for (NSString* name in made->library.functionNames) made->functions.push_back(function_of(made->library, name));
  };
  @autoreleasepool {
    if (const auto exception = refusal_of(work)) return *exception;
  }
  if (refused) return *refused;
  return made;
}

}  // namespace lockstep::metal
