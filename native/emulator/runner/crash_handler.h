/** What happens when a kernel faults: one `crash` reply, then the end of the process. */
#pragma once

namespace lockstep {

/** The exit code of a runner that a kernel brought down. */
inline constexpr int kCrashExitCode = 70;

/** Handles SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT on the alternate stacks that workers set up. */
void install_crash_handler();

} // namespace lockstep
