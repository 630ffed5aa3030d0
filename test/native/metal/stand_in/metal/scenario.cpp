// STAND-IN for tests: settings, violations, counts, the gate. See scenario.h.
#include "scenario.h"

#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <mutex>
#include <sstream>
#include <thread>

namespace stand_in {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> settings;
  std::vector<std::string> violations;
  std::map<std::string, long> counts;
  std::thread::id main;
  long let = 0;
};

State &state() {
  static auto *instance = new State;
  return *instance;
}

/** `%0A` and the like. */
std::string unescaped(const std::string &text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

void set_scenario(const std::string &text) {
  std::map<std::string, std::string> settings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) settings[line.substr(0, equals)] = unescaped(line.substr(equals + 1));
  }
  const std::lock_guard lock(state().mutex);
  state().settings = settings;
  state().let = 0;
  state().changed.notify_all();
}

std::string setting(const char *key, const char *fallback) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().settings.find(key);
  return found == state().settings.end() ? fallback : found->second;
}

bool has(const char *key) {
  const std::lock_guard lock(state().mutex);
  return state().settings.contains(key);
}

long number(const char *key, long fallback) {
  const std::string text = setting(key);
  return text.empty() ? fallback : std::strtol(text.c_str(), nullptr, 10);
}

void violation(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const std::lock_guard lock(state().mutex);
  state().violations.emplace_back(text);
}

std::vector<std::string> take_violations() {
  const std::lock_guard lock(state().mutex);
  return std::exchange(state().violations, {});
}

void count(const std::string &what) {
  const std::lock_guard lock(state().mutex);
  ++state().counts[what];
}

std::string counts() {
  const std::lock_guard lock(state().mutex);
  std::string text;
  for (const auto &[name, value] : state().counts) text += name + " " + std::to_string(value) + "\n";
  return text;
}

void this_is_the_main_thread() { state().main = std::this_thread::get_id(); }

void may_block(const char *what) {
  if (std::this_thread::get_id() == state().main) violation("%s on the thread of JavaScript: it may take long", what);
}

int told_macos_major() { return std::atoi(setting("os", "26.1.0").c_str()); }
int macos_major() { return told_macos_major() == 16 ? 26 : told_macos_major(); }

void needs_macos(int major, const char *what) {
  if (macos_major() < major) violation("%s needs macOS %d; this is %d", what, major, macos_major());
}

void wait_at_gate() {
  std::unique_lock lock(state().mutex);
  state().changed.wait(lock, [] { return !state().settings.contains("hold") || state().let > 0; });
  if (state().let > 0) --state().let;
}

void let(long command_buffers) {
  const std::lock_guard lock(state().mutex);
  state().let += command_buffers;
  state().changed.notify_all();
}

}  // namespace stand_in
