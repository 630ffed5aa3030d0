#pragma once

#include <functional>
#include <optional>

#include "words.h"

namespace lockstep::metal {

/// Runs `work`. Metal reports some misuse as an NSException, which must not leave through C++ frames: it comes back as
/// words, with its name as the domain. C++ exceptions pass through.
std::optional<ErrorWords> refusal_of(const std::function<void()>& work);

}  // namespace lockstep::metal
