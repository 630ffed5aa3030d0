#include "reply.h"

#include <unistd.h>

#include <cstddef>
#include <mutex>

namespace lockstep {

namespace {

std::mutex output_mutex;

void write_all(const char *data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = write(STDOUT_FILENO, data, bytes);
    if (n <= 0) return;
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

/** The characters of `c` inside a JSON string, written to `out` (at least 7 bytes). Returns how many. */
std::size_t escape(char c, char *out) {
  const auto code = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') {
    out[0] = '\\';
    out[1] = c;
    return 2;
  }
  if (code < 0x20) {
    const char *digits = "0123456789abcdef";
    const char escaped[] = {'\\', 'u', '0', '0', digits[code >> 4], digits[code & 15]};
    for (std::size_t i = 0; i < sizeof escaped; ++i) out[i] = escaped[i];
    return sizeof escaped;
  }
  out[0] = c;
  return 1;
}

void append_string(std::string &line, std::string_view text) {
  line += '"';
  char escaped[8];
  for (const char c : text) line.append(escaped, escape(c, escaped));
  line += '"';
}

} // namespace

Reply::Reply(std::string_view type) {
  line_ = "{\"type\":";
  append_string(line_, type);
}

Reply &Reply::field(std::string_view name, std::uint64_t value) {
  line_ += ',';
  append_string(line_, name);
  line_ += ':' + std::to_string(value);
  return *this;
}

Reply &Reply::field(std::string_view name, std::string_view text) {
  line_ += ',';
  append_string(line_, name);
  line_ += ':';
  append_string(line_, text);
  return *this;
}

void Reply::send() {
  line_ += "}\n";
  const std::lock_guard lock(output_mutex);
  write_all(line_.data(), line_.size());
}

void send_line(const char *text) {
  const std::string line = std::string(text) + "\n";
  const std::lock_guard lock(output_mutex);
  write_all(line.data(), line.size());
}

void send_line_in_crash(const char *text) {
  char line[4096];
  std::size_t length = 0;
  // The newline before it ends whatever another thread had begun.
  line[length++] = '\n';
  for (; *text != 0 && length + 2 < sizeof line; ++text) line[length++] = *text;
  line[length++] = '\n';
  write_all(line, length);
}

void send_crash(const char *message) {
  // One write, so that the line stays whole; the newline before it ends whatever another thread had begun.
  char line[4096];
  std::size_t length = 0;
  for (const char *at = "\n{\"type\":\"crash\",\"message\":\""; *at != 0; ++at) line[length++] = *at;
  for (; *message != 0 && length + 16 < sizeof line; ++message) length += escape(*message, line + length);
  for (const char *at = "\"}\n"; *at != 0; ++at) line[length++] = *at;
  write_all(line, length);
}

} // namespace lockstep
