/** A buffer in a file shared with the client, mapped between two guards. */
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "guarded_pages.h"

namespace lockstep {

/**
 * Opens a file shared with the client for reading and writing; null for a plain `open`. A process that may open nothing for
 * writing itself sets it. Returns a descriptor, or -1 and errno.
 */
extern int (*open_shared_file)(const char *path);

class MappedBuffer {
public:
  MappedBuffer(std::string path, std::uint64_t file_offset, std::uint64_t bytes, std::string label);

  /**
   * Maps the file if it is not mapped yet, or again if another file has taken its place. Returns an empty string, or what
   * is wrong.
   */
  std::string map();

  /** Unmaps it if the file it was mapped from is gone: the client released it. */
  void unmap_if_released();

  char *data() const { return data_; }
  /** First mapped byte; what lies before `data()` belongs to the file's layout. */
  char *mapped() const { return data_ - file_offset_; }
  /** The buffer with its guards. */
  const Reservation &reservation() const { return reservation_; }
  std::uint64_t bytes() const { return bytes_; }
  const std::string &label() const { return label_; }
  /** True if `address` lies in the buffer or in one of its guards. */
  bool covers(const void *address) const { return reservation_.valid() && reservation_.contains(address); }

private:
  /** True if the file at the path is the one that is mapped. */
  bool is_current() const;

  std::string path_;
  std::uint64_t file_offset_;
  std::uint64_t bytes_;
  std::string label_;
  Reservation reservation_;
  char *data_ = nullptr;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

} // namespace lockstep
