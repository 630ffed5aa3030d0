#include "module_copy.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

namespace lockstep {

namespace {

/** An anonymous file and a path under which the loader opens it. */
struct LibraryFile {
  int file = -1;
  std::string path;
  bool unlink_after_load = false;
};

LibraryFile create_library_file() {
  LibraryFile result;
#if defined(__linux__)
  result.file = memfd_create("lockstep-module", MFD_CLOEXEC);
  result.path = "/proc/self/fd/" + std::to_string(result.file);
#else
  const char *folder = std::getenv("TMPDIR");
  std::string name = std::string(folder == nullptr ? "/tmp" : folder) + "/lockstep-module-XXXXXX";
  result.file = mkstemp(name.data());
  result.path = name;
  result.unlink_after_load = true;
#endif
  return result;
}

bool write_all(int file, const std::vector<char> &bytes) {
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t n = write(file, bytes.data() + written, bytes.size() - written);
    if (n < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    written += static_cast<std::size_t>(n);
  }
  return true;
}

} // namespace

ModuleCopy::ModuleCopy(const std::vector<char> &image, const std::string &entry) {
  LibraryFile target = create_library_file();
  // Held open as long as the copy lives: the loader knows libraries by name, and a descriptor's number in the name must
  // not come to mean another copy.
  file_ = target.file;
  if (file_ < 0 || !write_all(file_, image)) {
    error_ = std::string("A copy of the module cannot be written (") + std::strerror(errno) + ").";
    return;
  }
  library_ = dlopen(target.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    const char *reason = dlerror();
    error_ = std::string("The module cannot be loaded (") + (reason == nullptr ? "unknown reason" : reason) + ").";
  }
  if (target.unlink_after_load) unlink(target.path.c_str());
  if (library_ == nullptr) return;
  describe = reinterpret_cast<lockstep_module_describe_function>(symbol("lockstep_module_describe"));
  run = reinterpret_cast<lockstep_module_run_function>(symbol("lockstep_module_run"));
  message = reinterpret_cast<lockstep_module_message_function>(symbol("lockstep_module_message"));
  locate = reinterpret_cast<lockstep_module_locate_function>(symbol("lockstep_module_locate"));
  trap = reinterpret_cast<lockstep_module_trap_function>(dlsym(library_, "lockstep_module_trap"));
  if (!entry.empty()) entry_ = reinterpret_cast<void (*)(void)>(symbol(entry.c_str()));
  if (!error_.empty()) return;
  lockstep_module_info info{};
  describe(&info);
  if (info.version != LOCKSTEP_MODULE_VERSION) {
    error_ = "The module has interface version " + std::to_string(info.version) + ", the runner " +
             std::to_string(LOCKSTEP_MODULE_VERSION) + ": build it again.";
  }
}

ModuleCopy::~ModuleCopy() {
  if (library_ != nullptr) dlclose(library_);
  if (file_ >= 0) close(file_);
}

void *ModuleCopy::symbol(const char *name) {
  void *address = dlsym(library_, name);
  if (address == nullptr && error_.empty()) error_ = std::string("The module has no symbol ") + name + ".";
  return address;
}

ModuleImage::ModuleImage(std::string path, std::string entry) : path_(std::move(path)), entry_(std::move(entry)) {}

std::string ModuleImage::read() {
  if (!bytes_.empty()) return {};
  std::ifstream file(path_, std::ios::binary);
  if (!file) return "Module " + path_ + " cannot be opened (" + std::strerror(errno) + ").";
  bytes_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (bytes_.empty()) return "Module " + path_ + " is empty.";
  return {};
}

} // namespace lockstep
