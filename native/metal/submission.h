#pragma once

#import <Metal/Metal.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "clock.h"
#include "log.h"
#include "memory.h"
#include "pipeline.h"
#include "words.h"

namespace lockstep::metal {

class Connection;

struct BoundMemory {
  std::uint64_t index = 0;
  std::shared_ptr<Memory> memory;
  std::uint64_t offset = 0;
};

struct BoundBytes {
  std::uint64_t index = 0;
  std::vector<std::uint8_t> bytes;
};

struct ThreadgroupMemory {
  std::uint64_t index = 0;
  std::uint64_t bytes = 0;
};

/// `MetalDispatch` of binding.ts.
struct DispatchRequest {
  std::string label;
  std::shared_ptr<Pipeline> pipeline;
  MTLSize threadgroups{};
  MTLSize threads_per_threadgroup{};
  std::vector<BoundMemory> memories;
  std::vector<BoundBytes> bytes;
  std::vector<ThreadgroupMemory> threadgroup_memory;
};

/// `MetalTiming` of binding.ts.
struct Timing {
  double gpu_start = 0;
  double gpu_end = 0;
  /// Nanoseconds, or why they were not sampled.
  std::variant<double, std::string> counter;
};

struct Completed {
  std::vector<Timing> timings;
};
struct Cancelled {
  std::size_t before = 0;
};
struct Failed {
  std::size_t dispatch = 0;
  ErrorWords error;
  std::vector<std::string> encoders;
};
using Outcome = std::variant<Completed, Cancelled, Failed>;

/// Told of a submission on Metal's threads, or on the thread that starts or cancels it.
class SubmissionListener {
 public:
  virtual ~SubmissionListener() = default;
  /// False if nobody is left to hear it: then no further dispatch is committed.
  virtual bool dispatched(std::size_t index) = 0;
  virtual void logged(const LogLine& line) = 0;
  /// Called once, as the last.
  virtual void finished(Outcome outcome) = 0;
};

/// Dispatches in order, each in a command buffer and an encoder of its own: the next one is committed by the completion
/// handler of the one before. What is in flight holds the submission, and with it memory, pipelines and connection.
class Submission : public std::enable_shared_from_this<Submission> {
 public:
  Submission(std::shared_ptr<Connection> connection, std::vector<DispatchRequest> dispatches, bool counters,
             std::shared_ptr<SubmissionListener> listener);

  /// Runs it when the submissions before it on the connection have finished. Does not block.
  void start();
  /// No further dispatch is committed; the one at hand runs to its end.
  void cancel();

 private:
  friend class SubmissionLine;

  void begin();
  /// Commits the dispatch with this index, or finishes.
  void run(std::size_t index);
  std::optional<ErrorWords> commit(std::size_t index);
  /// nil with the problem where Metal gives no encoder. `open` is the encoder until it has been ended.
  id<MTLCommandBuffer> encode(const DispatchRequest& dispatch, __strong id<MTLComputeCommandEncoder>& open,
                              std::string& problem);
  void completed(std::size_t index, id<MTLCommandBuffer> buffer);
  void finish(Outcome outcome);

  std::shared_ptr<Connection> connection_;
  std::vector<DispatchRequest> dispatches_;
  bool counters_;
  std::shared_ptr<SubmissionListener> listener_;
  std::atomic<bool> cancelled_{false};
  ClockSample clocks_;
  std::vector<Timing> timings_;
};

/// Runs the submissions of a connection one after another: times of one would tell nothing beside another at work, and a
/// queue with too many command buffers would block the thread that asks for the next.
class SubmissionLine {
 public:
  void enter(const std::shared_ptr<Submission>& submission);
  /// The one at hand has finished.
  void leave();
  /// True if it was waiting: then it will not begin.
  bool withdraw(const Submission* submission);

 private:
  /// Begins what waits, one after another. Not from within `begin`: many that end at once would nest without end.
  void advance();

  std::mutex mutex_;
  /// A thread is in `advance`.
  bool advancing_ = false;
  std::shared_ptr<Submission> active_;
  std::deque<std::shared_ptr<Submission>> waiting_;
};

}  // namespace lockstep::metal
