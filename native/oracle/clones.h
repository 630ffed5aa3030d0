#pragma once

// Compiles a function once for each instruction set and picks one when the program is loaded. Without it the compiler may
// only use what every x86-64 has. ThreadSanitizer cannot run the code that picks.
#if defined(__linux__) && defined(__x86_64__) && !__has_feature(thread_sanitizer)
#define LOCKSTEP_CLONES(...) __attribute__((target_clones(__VA_ARGS__)))
#else
#define LOCKSTEP_CLONES(...)
#endif
