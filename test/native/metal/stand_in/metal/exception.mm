// STAND-IN for native/metal/exception.mm, which needs Objective-C exceptions; same header, same promise.
#include "exception.h"

#include "../../../../../native/metal/exception.h"

namespace lockstep::metal {

std::optional<ErrorWords> refusal_of(const std::function<void()> &work) {
  try {
    work();
  } catch (const stand_in::Exception &exception) {
    return ErrorWords{exception.reason, exception.name, 0};
  }
  return std::nullopt;
}

}  // namespace lockstep::metal
