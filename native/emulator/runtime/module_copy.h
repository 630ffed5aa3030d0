/** A kernel module's image and the copies of it that workers load. */
#pragma once

#include <string>
#include <vector>

#include "module.h"

namespace lockstep {

/**
 * One worker's copy: its own globals, its own static threadgroup memory. Loaded from an anonymous file, because the
 * loader gives the same copy to everyone who opens the same file.
 */
class ModuleCopy {
public:
  /** Loads `image` as a library; `error()` says what is wrong. */
  ModuleCopy(const std::vector<char> &image, const std::string &entry);
  ~ModuleCopy();
  ModuleCopy(const ModuleCopy &) = delete;
  ModuleCopy &operator=(const ModuleCopy &) = delete;

  const std::string &error() const { return error_; }
  void (*entry() const)(void) { return entry_; }

  lockstep_module_describe_function describe = nullptr;
  lockstep_module_run_function run = nullptr;
  lockstep_module_message_function message = nullptr;
  lockstep_module_locate_function locate = nullptr;
  /** Null in flavours that do not check. */
  lockstep_module_trap_function trap = nullptr;

private:
  void *symbol(const char *name);

  int file_ = -1;
  void *library_ = nullptr;
  void (*entry_)(void) = nullptr;
  std::string error_;
};

/** A module file, read once. */
class ModuleImage {
public:
  ModuleImage(std::string path, std::string entry);

  /** Reads the file if that has not been done. Returns an empty string, or what is wrong. */
  std::string read();
  const std::vector<char> &bytes() const { return bytes_; }
  const std::string &path() const { return path_; }
  const std::string &entry() const { return entry_; }

private:
  std::string path_;
  std::string entry_;
  std::vector<char> bytes_;
};

} // namespace lockstep
