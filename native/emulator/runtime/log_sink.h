/** Where kernels log to: one listener for the process, and a bound on the lines of a run. */
#pragma once

#include "emulator.h"

namespace lockstep {

/** For `lockstep_launch`: passes a line on to the listener, or counts it as dropped. Any worker's thread. */
void deliver_log(const lockstep_log_line *line);

} // namespace lockstep
