#include "guarded_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace lockstep {

std::size_t page_bytes() {
  static const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return page;
}

std::size_t round_to_pages(std::size_t bytes) { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

Reservation::Reservation(std::size_t bytes) {
  void *base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base != MAP_FAILED) {
    base_ = static_cast<char *>(base);
    bytes_ = bytes;
  }
}

Reservation::~Reservation() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

Reservation::Reservation(Reservation &&other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Reservation &Reservation::operator=(Reservation &&other) noexcept {
  if (this != &other) {
    if (base_ != nullptr) munmap(base_, bytes_);
    base_ = std::exchange(other.base_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

bool Reservation::open(std::size_t offset, std::size_t bytes) const {
  return mprotect(base_ + offset, bytes, PROT_READ | PROT_WRITE) == 0;
}

} // namespace lockstep
