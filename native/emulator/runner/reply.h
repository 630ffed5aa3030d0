/** The runner's replies: JSON objects, one a line, on standard output. */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

/** One reply under construction: `Reply("done").field("run", id).send()`. */
class Reply {
public:
  explicit Reply(std::string_view type);
  Reply &field(std::string_view name, std::uint64_t value);
  Reply &field(std::string_view name, std::string_view text);
  /** Writes the line at once; lines of different threads do not mix. */
  void send();

private:
  std::string line_;
};

/** Sends a line that is whole already. */
void send_line(const char *text);
/** The same from a signal handler: no lock. */
void send_line_in_crash(const char *text);

/** Sends a `crash` reply from a signal handler: no allocation, no lock. */
void send_crash(const char *message);

} // namespace lockstep
