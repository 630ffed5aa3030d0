#pragma once
/*
 * STAND-IN for tests, included before everything else: outside Apple's systems clang takes `@available(macOS 14.0, *)` for
 * true. Here it asks the macOS of the scenario, so that tests run both sides. `@encode(char)[0]` is 'c', which is true.
 */
#ifdef __cplusplus
extern "C" bool stand_in_macos_is_at_least(const char *platforms);
#define available(...) encode(char)[0] && stand_in_macos_is_at_least(#__VA_ARGS__)
#endif
