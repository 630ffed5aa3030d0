/** Takes rights from the process before it runs code that somebody else wrote: network, files to write, other processes. */
#pragma once

#include <string>

namespace lockstep {

/**
 * Confines this process and every thread it will start, for good. To be called before the first thread and the first
 * module. Returns one sentence on what was applied, for people: what is refused, or that nothing is and why.
 *
 * On Linux: no new privileges and a seccomp filter. Buffers of the client are opened by a process that is forked before and
 * hands out nothing but anonymous shared memory.
 */
std::string confine();

} // namespace lockstep
