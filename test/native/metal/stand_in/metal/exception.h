#pragma once
#include <string>

namespace stand_in {

/**
 * STAND-IN for tests, in place of NSException: the runtime here has no Objective-C exceptions. native/metal/exception.mm,
 * the only file with @try, is replaced by exception.mm of this folder.
 */
struct Exception {
  std::string name;
  std::string reason;
};

}  // namespace stand_in
