#pragma once

#import <Metal/Metal.h>

#include <cstdint>
#include <memory>

#include "counters.h"
#include "log.h"
#include "residency.h"
#include "submission.h"

namespace lockstep::metal {

/// A device, a command queue of it and what belongs to the queue. Everything in flight holds it, so that it goes with the
/// last command buffer, whoever has let go of it before.
class Connection {
 public:
  /// Throws std::runtime_error where no device has this id or Metal gives no queue.
  static std::shared_ptr<Connection> open(std::uint64_t registry_id, bool logging);

  id<MTLDevice> device() const { return device_; }
  id<MTLCommandQueue> queue() const { return queue_; }
  const std::shared_ptr<Residency>& residency() const { return residency_; }
  /// Null where the connection was opened without logging.
  KernelLog* log() const { return log_.get(); }
  Counters& counters() { return *counters_; }
  SubmissionLine& line() { return line_; }

 private:
  Connection() = default;

  id<MTLDevice> device_ = nil;
  id<MTLCommandQueue> queue_ = nil;
  std::shared_ptr<Residency> residency_;
  std::shared_ptr<KernelLog> log_;
  std::unique_ptr<Counters> counters_;
  SubmissionLine line_;
};

}  // namespace lockstep::metal
