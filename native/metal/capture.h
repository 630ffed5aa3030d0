#pragma once

#import <Metal/Metal.h>

#include <optional>
#include <string>

#include "words.h"

namespace lockstep::metal {

/// Captures what is committed to the queue until `stop_capture` to a `.gputrace` at `path`, which must not be there yet.
std::optional<ErrorWords> start_capture(id<MTLCommandQueue> queue, const std::string& path);

/// Writes the trace; nothing where none is being captured.
void stop_capture();

}  // namespace lockstep::metal
