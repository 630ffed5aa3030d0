#include "mapped_buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lockstep {

namespace {

/**
 * Guards, the widest that address space allows: as much as a 32-bit index of 16 bytes reaches, or a 32-bit byte offset, so
 * that a wrong index is caught and named whichever buffer it ran out of.
 */
constexpr std::size_t kGuards[] = {std::size_t{64} << 30, std::size_t{4} << 30};
constexpr std::uint64_t kUnit = 16;

} // namespace

int (*open_shared_file)(const char *path) = nullptr;

MappedBuffer::MappedBuffer(std::string path, std::uint64_t file_offset, std::uint64_t bytes, std::string label)
    : path_(std::move(path)), file_offset_(file_offset), bytes_(bytes), label_(std::move(label)) {}

bool MappedBuffer::is_current() const {
  struct stat info{};
  return stat(path_.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

void MappedBuffer::unmap_if_released() {
  if (data_ == nullptr || is_current()) return;
  reservation_ = Reservation();
  data_ = nullptr;
}

std::string MappedBuffer::map() {
  if (data_ != nullptr && is_current()) return {};
  const std::string name = "Buffer \"" + label_ + "\" at " + path_;
  const int file = open_shared_file != nullptr ? open_shared_file(path_.c_str()) : open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return name + " cannot be opened (" + std::strerror(errno) + "): it may have been released.";
  struct stat info{};
  if (fstat(file, &info) != 0) {
    close(file);
    return name + " cannot be examined (" + std::strerror(errno) + ").";
  }
  const std::uint64_t end = file_offset_ + (bytes_ + kUnit - 1) / kUnit * kUnit;
  if (bytes_ == 0 || static_cast<std::uint64_t>(info.st_size) < end || end % page_bytes() != 0) {
    close(file);
    return name + " has " + std::to_string(bytes_) + " bytes at offset " + std::to_string(file_offset_) + " of a file of " +
           std::to_string(info.st_size) + " bytes: its last 16-byte unit must end a page of the file.";
  }
  Reservation reservation;
  std::size_t guard = 0;
  for (const std::size_t wanted : {kGuards[0], kGuards[1], page_bytes()}) {
    guard = wanted;
    reservation = Reservation(guard + end + guard);
    if (reservation.valid()) break;
  }
  void *mapped = MAP_FAILED;
  if (reservation.valid()) {
    mapped = mmap(reservation.base() + guard, end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  }
  const int error = errno;
  close(file);
  if (mapped == MAP_FAILED) {
    return name + " (" + std::to_string(bytes_) + " bytes) cannot be mapped (" + std::strerror(error) + ").";
  }
  reservation_ = std::move(reservation);
  data_ = static_cast<char *>(mapped) + file_offset_;
  device_ = info.st_dev;
  inode_ = info.st_ino;
  return {};
}

} // namespace lockstep
