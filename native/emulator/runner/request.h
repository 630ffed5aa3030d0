/** The runner's requests: lines of words, strings percent-encoded (`native/emulator/protocol.ts` has the table). */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator.h"

namespace lockstep {

/** The words of a line, decoded. */
std::vector<std::string> words_of(std::string_view line);

/** A whole number without sign, or nothing. */
std::optional<std::uint64_t> number_of(const std::string &word);

/** The bytes that a string of hexadecimal digits stands for, or nothing. */
std::optional<std::vector<char>> bytes_of(const std::string &word);

/** The dispatches of a run as they are built up line by line; owns all that they point to. */
class DispatchList {
public:
  /** Takes the words of a `dispatch`, `bind`, `bytes`, `tgmem`, `check` or `output` line. False if they make no sense. */
  bool add(const std::vector<std::string> &words);
  /** The dispatches, valid while this lives and is not added to. */
  std::vector<lockstep_dispatch> view() const;
  /** What the check flavours are asked, valid as long; null if they are not. */
  const lockstep_check_request *check();

private:
  struct Entry {
    std::string label;
    lockstep_dispatch dispatch{};
    std::vector<lockstep_binding> bindings;
    std::vector<lockstep_threadgroup_memory> memory;
    std::vector<std::unique_ptr<std::vector<char>>> bytes;
  };
  std::vector<std::unique_ptr<Entry>> entries_;
  bool checks_ = false;
  std::vector<std::uint64_t> outputs_;
  lockstep_check_request request_{};
};

} // namespace lockstep
