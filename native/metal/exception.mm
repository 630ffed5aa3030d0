// The only @try of these sources, so that a runtime without Objective-C exceptions replaces this file alone.
#include "exception.h"

namespace lockstep::metal {

std::optional<ErrorWords> refusal_of(const std::function<void()>& work) {
  @try {
    work();
  } @catch (NSException* exception) {
    return ErrorWords{to_string(exception.reason), to_string(exception.name), 0};
  }
  return std::nullopt;
}

}  // namespace lockstep::metal
