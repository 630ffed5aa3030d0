#include "shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#if !defined(__linux__)
#include <dirent.h>
#endif

namespace lockstep {
namespace {

constexpr std::size_t kUnit = 16;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

[[noreturn]] void fail(const std::string& what, std::size_t bytes) {
  throw std::runtime_error("shared memory of " + std::to_string(bytes) + " bytes: " + what + " failed (" +
                           std::strerror(errno) + "); free memory or use a shorter case");
}

#if defined(__linux__)

int open_file(std::size_t bytes, std::string& path, bool& unlink_later) {
  const int fd = memfd_create("lockstep", MFD_CLOEXEC);
  if (fd < 0) fail("memfd_create", bytes);
  path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd);
  unlink_later = false;
  return fd;
}

#else

constexpr const char* kPrefix = "lockstep-memory-";

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

/// A process that was killed cannot unlink its files, so the next one does.
void remove_files_of_dead_processes(const std::string& folder) {
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    if (std::strncmp(entry->d_name, kPrefix, std::strlen(kPrefix)) != 0) continue;
    const pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name + std::strlen(kPrefix), nullptr, 10));
    if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) unlink((folder + "/" + entry->d_name).c_str());
  }
  closedir(entries);
}

int open_file(std::size_t bytes, std::string& path, bool& unlink_later) {
  const std::string folder = temporary_folder();
  static const bool cleaned = (remove_files_of_dead_processes(folder), true);
  static_cast<void>(cleaned);
  path = folder + "/" + kPrefix + std::to_string(getpid()) + "-XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0) fail("mkstemp in " + folder, bytes);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  unlink_later = true;
  return fd;
}

#endif

}  // namespace

std::shared_ptr<SharedMemory> SharedMemory::allocate(std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (bytes == 0 || bytes > SIZE_MAX / 2) {
    throw std::runtime_error("shared memory of " + std::to_string(bytes) + " bytes cannot be made");
  }
  std::shared_ptr<SharedMemory> memory(new SharedMemory());
  const std::size_t used = round_up(bytes, kUnit);
  memory->bytes_ = bytes;
  memory->file_bytes_ = round_up(used, page);
  memory->file_offset_ = memory->file_bytes_ - used;
  memory->fd_ = open_file(bytes, memory->path_, memory->unlink_);
  if (ftruncate(memory->fd_, static_cast<off_t>(memory->file_bytes_)) != 0) fail("ftruncate", bytes);

  // Reserve file and guard in one piece, so that nothing else can be mapped behind the buffer.
  void* reserved =
      mmap(nullptr, memory->file_bytes_ + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) fail("mmap", bytes);
  memory->mapping_ = static_cast<std::uint8_t*>(reserved);
  memory->mapping_bytes_ = memory->file_bytes_ + page;
  if (mmap(reserved, memory->file_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->fd_, 0) ==
      MAP_FAILED) {
    fail("mmap", bytes);
  }
  memory->data_ = memory->mapping_ + memory->file_offset_;
  mark_sentinel(memory->mapping_, memory->file_offset_);
  mark_sentinel(memory->data_ + bytes, used - bytes);
  return memory;
}

SharedMemory::~SharedMemory() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
  if (fd_ >= 0) close(fd_);
  if (unlink_) unlink(path_.c_str());
}

bool SharedMemory::sentinel_intact() const {
  const std::uint8_t* end = data_ + bytes_;
  const auto gap = static_cast<std::size_t>(mapping_ + file_bytes_ - end);
  return is_sentinel(mapping_, file_offset_) && is_sentinel(end, gap);
}

}  // namespace lockstep
