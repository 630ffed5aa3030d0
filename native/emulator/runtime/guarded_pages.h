/** Address ranges that fault, and memory between them. */
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

std::size_t page_bytes();
std::size_t round_to_pages(std::size_t bytes);

/** A reservation of address space, inaccessible until parts of it are opened. Released by the destructor. */
class Reservation {
public:
  Reservation() = default;
  /** Reserves `bytes`; `valid()` says whether that worked. */
  explicit Reservation(std::size_t bytes);
  ~Reservation();
  Reservation(Reservation &&other) noexcept;
  Reservation &operator=(Reservation &&other) noexcept;

  bool valid() const { return base_ != nullptr; }
  char *base() const { return base_; }
  std::size_t bytes() const { return bytes_; }
  bool contains(const void *address) const {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_) < bytes_;
  }
  /** Makes a range readable and writable. False where the system has no more mappings to give. */
  bool open(std::size_t offset, std::size_t bytes) const;

private:
  char *base_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace lockstep
