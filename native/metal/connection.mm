#include "connection.h"

#include <stdexcept>
#include <string>

#include "detection.h"

namespace lockstep::metal {

std::shared_ptr<Connection> Connection::open(std::uint64_t registry_id, bool logging) {
  @autoreleasepool {
    std::shared_ptr<Connection> connection(new Connection());
    connection->device_ = device_with(registry_id);
    if (connection->device_ == nil) {
      throw std::runtime_error("no Metal device has the registry id " + std::to_string(registry_id) +
                               ": list the devices again");
    }
    connection->queue_ = [connection->device_ newCommandQueue];
    if (connection->queue_ == nil) {
      throw std::runtime_error("Metal gave no command queue: close other programs that use the GPU");
    }
    connection->queue_.label = @"lockstep";
    connection->residency_ = std::make_shared<Residency>(connection->device_, connection->queue_);
    if (logging) connection->log_ = KernelLog::open(connection->device_);
    connection->counters_ = std::make_unique<Counters>(connection->device_);
    return connection;
  }
}

}  // namespace lockstep::metal
