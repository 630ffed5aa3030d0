#include "request.h"

#include <charconv>
#include <utility>

namespace lockstep {

namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool escaped = word[i] == '%' && i + 2 < word.size() && digit(word[i + 1]) >= 0 && digit(word[i + 2]) >= 0;
    if (escaped) {
      text.push_back(static_cast<char>(digit(word[i + 1]) * 16 + digit(word[i + 2])));
      i += 2;
    } else {
      text.push_back(word[i]);
    }
  }
  return text;
}

/** A number that fits 32 bits. */
bool read32(const std::string &word, std::uint32_t &value) {
  const auto number = number_of(word);
  if (!number || *number > UINT32_MAX) return false;
  value = static_cast<std::uint32_t>(*number);
  return true;
}

/** `ro` or `rw`: what the kernel's parameter allows. */
bool read_access(const std::string &word, lockstep_binding &binding) {
  binding.read_only = word == "ro" ? 1 : 0;
  return word == "ro" || word == "rw";
}

} // namespace

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t end = line.find(' ');
    words.push_back(decoded(line.substr(0, end)));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> number_of(const std::string &word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || word.empty()) return std::nullopt;
  return value;
}

std::optional<std::vector<char>> bytes_of(const std::string &word) {
  if (word.size() % 2 != 0) return std::nullopt;
  std::vector<char> bytes;
  bytes.reserve(word.size() / 2);
  for (std::size_t i = 0; i < word.size(); i += 2) {
    const int high = digit(word[i]);
    const int low = digit(word[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

bool DispatchList::add(const std::vector<std::string> &words) {
  const std::string &command = words[0];
  if (command == "dispatch") {
    if (words.size() != 10 || (words[9] != "fast" && words[9] != "safe")) return false;
    auto entry = std::make_unique<Entry>();
    entry->label = words[1];
    entry->dispatch.fast_math = words[9] == "fast" ? 1 : 0;
    const auto module = number_of(words[2]);
    if (!module) return false;
    entry->dispatch.module = *module;
    for (std::size_t i = 0; i < 3; ++i) {
      if (!read32(words[3 + i], entry->dispatch.threadgroups[i]) || !read32(words[6 + i], entry->dispatch.threads[i])) return false;
    }
    entries_.push_back(std::move(entry));
    return true;
  }
  if (command == "check" && words.size() == 2) {
    if (words[1] != "serial" && words[1] != "concurrent") return false;
    checks_ = true;
    request_.concurrent = words[1] == "concurrent" ? 1 : 0;
    return true;
  }
  if (command == "output" && words.size() == 2) {
    const auto buffer = number_of(words[1]);
    if (buffer) outputs_.push_back(*buffer);
    return buffer.has_value();
  }
  if (entries_.empty()) return false;
  Entry &entry = *entries_.back();
  if (command == "bind" && words.size() == 5) {
    lockstep_binding binding{};
    if (!read_access(words[4], binding)) return false;
    const auto buffer = number_of(words[2]);
    const auto offset = number_of(words[3]);
    if (!read32(words[1], binding.index) || !buffer || *buffer == 0 || !offset) return false;
    binding.buffer = *buffer;
    binding.offset = *offset;
    entry.bindings.push_back(binding);
    return true;
  }
  if (command == "bytes" && words.size() == 4) {
    lockstep_binding binding{};
    if (!read_access(words[3], binding)) return false;
    auto bytes = bytes_of(words[2]);
    if (!read32(words[1], binding.index) || !bytes) return false;
    entry.bytes.push_back(std::make_unique<std::vector<char>>(std::move(*bytes)));
    binding.bytes = entry.bytes.back()->data();
    binding.byte_count = entry.bytes.back()->size();
    entry.bindings.push_back(binding);
    return true;
  }
  if (command == "tgmem" && words.size() == 3) {
    lockstep_threadgroup_memory memory{};
    if (!read32(words[1], memory.index) || !read32(words[2], memory.bytes)) return false;
    entry.memory.push_back(memory);
    return true;
  }
  return false;
}

const lockstep_check_request *DispatchList::check() {
  if (!checks_) return nullptr;
  request_.outputs = outputs_.data();
  request_.output_count = outputs_.size();
  return &request_;
}

std::vector<lockstep_dispatch> DispatchList::view() const {
  std::vector<lockstep_dispatch> dispatches;
  for (const auto &entry : entries_) {
    lockstep_dispatch dispatch = entry->dispatch;
    dispatch.label = entry->label.c_str();
    dispatch.bindings = entry->bindings.data();
    dispatch.binding_count = entry->bindings.size();
    dispatch.threadgroup_memory = entry->memory.data();
    dispatch.threadgroup_memory_count = entry->memory.size();
    dispatches.push_back(dispatch);
  }
  return dispatches;
}

} // namespace lockstep
