#pragma once
/*
 * STAND-IN for tests. What tests choose (settings), what they read (violations, counts), and the gate that holds back
 * command buffers. README.md has the table of settings.
 */
#include <string>
#include <vector>

namespace stand_in {

/** Replaces all settings: `key=value`, one a line; `%0A` in a value is a line break. */
void set_scenario(const std::string &text);
std::string setting(const char *key, const char *fallback = "");
bool has(const char *key);
long number(const char *key, long fallback);

/** Notes a misuse that Metal's validation would report; tests assert that there are none. */
void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
std::vector<std::string> take_violations();

/** Counts what happened, for tests. */
void count(const std::string &what);
/** `name count`, one a line. */
std::string counts();

/** Remembers the thread that must not wait: the one of JavaScript. */
void this_is_the_main_thread();
/** A violation where the main thread calls what may take long. */
void may_block(const char *what);
/** A violation where the macOS of the scenario is older than what is called. */
void needs_macos(int major, const char *what);
int macos_major();
/** What this program is told: 16 where it counts as built with an SDK before 26. */
int told_macos_major();

/** With setting `hold`, returns only after `let` was called once more. */
void wait_at_gate();
void let(long command_buffers);

}  // namespace stand_in
