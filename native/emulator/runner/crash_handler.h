/** What happens when a kernel faults: one `crash` reply, then the end of the process. */
#pragma once

#include <cstdint>

struct lockstep_emulator;

namespace lockstep {

/** The exit code of a runner that a kernel brought down. */
inline constexpr int kCrashExitCode = 70;

/** Handles SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT on the alternate stacks that workers set up. */
void install_crash_handler();

/** What a crash also writes: the reports of the run that `emulator` is in. Null for none. */
void report_in_crash(const lockstep_emulator *emulator, std::uint64_t run);

} // namespace lockstep
