#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "host_memory.h"

namespace lockstep {

/// Memory that another process of the same user can map by its path. It is laid out as
///
///     [ front gap ][ buffer: `bytes` ][ back gap: 0 to 15 bytes ] | guard page
///
/// so that the last 16-byte unit of the buffer ends where the unmapped guard page begins. Both gaps hold sentinel
/// bytes. On Linux the memory is a memfd, which the kernel frees with the last process that has it open or mapped, also
/// after kill -9; elsewhere it is a file in the temporary folder, and files left behind by dead processes are removed.
class SharedMemory final : public HostMemory {
 public:
  /// Zero-filled. Throws std::runtime_error with the operating system's reason.
  static std::shared_ptr<SharedMemory> allocate(std::size_t bytes);

  ~SharedMemory() override;

  std::uint8_t* data() const override { return data_; }
  std::size_t bytes() const override { return bytes_; }
  /// Bytes of the file at `path()`, a whole number of pages. The guard page is no part of it.
  std::size_t file_bytes() const { return file_bytes_; }
  std::size_t file_offset() const { return file_offset_; }
  const std::string& path() const { return path_; }

  bool sentinel_intact() const override;

 private:
  SharedMemory() = default;

  int fd_ = -1;
  bool unlink_ = false;
  std::uint8_t* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::uint8_t* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t file_bytes_ = 0;
  std::size_t file_offset_ = 0;
  std::string path_;
};

}  // namespace lockstep
